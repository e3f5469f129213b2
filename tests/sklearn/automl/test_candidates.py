"""Which families a search uses, and in which order."""

import numpy as np
import pytest

from manyarms.sklearn.automl.candidates import make_candidates
from manyarms.sklearn.automl.plan import Columns, Plan
from manyarms.sklearn.automl.scoring import scorer_of
from manyarms.sklearn.automl.targets import class_target


@pytest.mark.parametrize(("plan", "first"), [(Plan(1, 20_000), "lightgbm"), (Plan(1, 400), "linear"), (Plan(5, 400), "linear")])
def test_boosting_comes_first_if_there_are_many_rows(plan, first):
    pytest.importorskip("lightgbm")
    target = class_target(np.array(["a", "b"] * 50))
    found = make_candidates(None, Columns(["number"] * 5, 5), target, plan, scorer_of("accuracy", target), weighted=False)
    assert next(iter(found)) == first
