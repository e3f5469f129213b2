"""The target, checked and encoded as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from .task import CLASSIFICATION, REGRESSION, are_classes


@dataclass(frozen=True, slots=True)
class Target:
    """A target that can be learned.

    Args:
        values: A number for each row; for a classification, the index of the class.
        classes: The sorted classes; None for regression.
    """

    values: NDArray[Any]
    classes: NDArray[Any] | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for regression."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def task(self) -> str:
        """ "classification" or "regression"."""
        return CLASSIFICATION if self.n_classes else REGRESSION

    @property
    def target_type(self) -> str:
        """The type of the target in scikit-learn."""
        return target_type(self.n_classes)


def target_type(classes: int) -> str:
    """The type of a target in scikit-learn, by its number of classes; 0 means a regression.

    >>> [target_type(classes) for classes in (0, 2, 3)]
    ['continuous', 'binary', 'multiclass']
    """
    return "continuous" if classes == 0 else "binary" if classes == 2 else "multiclass"


def class_target(y: Any) -> Target:
    """Classes as indices; an error if they cannot be learned.

    >>> class_target(["no", "yes", "no"]).values
    array([0, 1, 0])
    """
    values = _column(y)
    classes, places, counts = _numbered(_comparable(values))
    if len(classes) == 1:
        raise ValueError(f"y must have at least two classes, got only {classes[0]!r} in {len(values)} rows")
    if np.issubdtype(values.dtype, np.floating) and (values % 1 != 0).any() and not are_classes(len(classes), len(values)):
        raise ValueError(f"Unknown label type: continuous numbers, such as {values[values % 1 != 0][0]}. Is this regression?")
    if counts.max() == 1:
        raise ValueError(f"y has {len(classes)} classes with one row each, so nothing can be learned. Is this regression?")
    return Target(places.astype(np.int64), classes)


def number_target(y: Any) -> Target:
    """Finite numbers; an error if they cannot be learned.

    >>> number_target([1, 2.5]).values
    array([1. , 2.5])
    """
    column = _column(y)
    try:
        values = np.asarray(column, dtype=float)
    except (TypeError, ValueError):
        wrong = next(value for value in column if not _is_number(value))
        raise ValueError(f"y must be numbers for a regression, got {wrong!r}. Is this classification?") from None
    if not np.isfinite(values).all():
        raise ValueError(f"y must be finite, got {(~np.isfinite(values)).sum()} infinite values in {len(values)} rows")
    if len(np.unique(values)) == 1:
        raise ValueError(f"y must not be constant, got {values[0]} in all {len(values)} rows")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        variance = float(np.var(values))
    if not 0 < variance < np.inf:
        size = "large" if variance else "small"
        raise ValueError(f"The values of y are too {size}: their variance is {variance} in floating point. Scale them first.")
    return Target(values)


def _column(y: Any) -> NDArray[Any]:
    """One value per row, without missing values."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    values = column_or_1d(y, warn=True)
    if missing := int(pd.isna(values).sum()):
        raise ValueError(f"y is missing in {missing} of {len(values)} rows (NaN or None). Drop these rows first.")
    if len(values) < 2:
        raise ValueError(f"X and y must have at least 2 rows, got n_samples={len(values)}")
    if np.iscomplexobj(values):
        raise ValueError("Complex data not supported")
    return np.asarray(values)


def _comparable(values: NDArray[Any]) -> NDArray[Any]:
    """Labels that can be sorted; mixed types are converted to text."""
    try:
        np.unique(pd.unique(values))
    except TypeError:
        return values.astype(str)
    return values


def _numbered(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """The sorted classes, the index of each value, and the number of rows per class, without sorting all values."""
    places, found = pd.factorize(values)
    order = np.argsort(found, kind="stable")
    ranks = np.empty(len(found), dtype=np.int64)
    ranks[order] = np.arange(len(found))
    return np.asarray(found)[order], ranks[places], np.bincount(places, minlength=len(found))[order]


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
