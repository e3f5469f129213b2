"""What can be foretold, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from manyarms.sklearn.automl.targets import class_target, number_target


@pytest.mark.parametrize("y", [["b", "a", "b"], [True, False, True], pd.Series([2, 1, 2]), np.array([2.0, 1.0, 2.0])])
def test_classes_of_any_kind_are_numbered_in_order(y):
    assert class_target(y).values.tolist() == [1, 0, 1]


def test_labels_that_cannot_be_sorted_are_treated_as_text():
    target = class_target(np.array([1, "x", "x", 1], dtype=object))
    assert target.classes.tolist() == ["1", "x"]


@pytest.mark.parametrize(
    ("target", "y", "message"),
    [
        (class_target, ["a", "a"], "y must have at least two classes, got only .*'a'.* in 2 rows"),
        (class_target, ["a", "b", "c"], "3 classes with one row each, so nothing can be learned. Is this regression"),
        (class_target, ["a", None, "b"], "y is missing in 1 of 3 rows .*. Drop these rows first"),
        (class_target, ["a"], "at least 2 rows, got n_samples=1"),
        (class_target, [["a", "b"], ["a", "b"]], "y should be a 1d array, got an array of shape"),
        (number_target, [1.0, np.nan], "y is missing in 1 of 2 rows"),
        (number_target, [1.0, np.inf], "y must be finite, got 1 infinite values in 2 rows"),
        (number_target, [2.0, 2.0], "y must not be constant, got 2.0 in all 2 rows"),
        (number_target, [1e300, -1e300], "values of y are too large: their variance is inf"),
        (number_target, [1e-300, -1e-300], "values of y are too small: their variance is 0.0"),
        (number_target, ["1", "two"], "y must be numbers for a regression, got .*'two'.*. Is this classification"),
    ],
)
def test_what_cannot_be_learned_is_refused(target, y, message):
    with pytest.raises(ValueError, match=message):
        target(y)
