"""Which rows are trained on and which are held out, by how many there are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit, check_cv

from .. import checks

Rows = NDArray[np.int64]

_FOLDS = 5
_ENOUGH_ROWS = 5_000  # beyond, one part held out tells enough
_HELD_OUT = 0.2


def count_folds(cv: int | str, n: int) -> int:
    """How many folds there are for so many rows; 1 is a holdout.

    >>> [count_folds("auto", n) for n in (100, 10_000)]
    [5, 1]
    """
    if cv != "auto":
        return checks.whole("cv", cv, 1)  # type: ignore[arg-type]
    return _FOLDS if n <= _ENOUGH_ROWS else 1


def given_folds(cv: Any, labels: Rows | None, n: int) -> list[tuple[Rows, Rows]]:
    """The folds that a splitter makes, or that are given themselves."""
    rows, targets = np.zeros((n, 1)), np.zeros(n) if labels is None else labels
    return list(check_cv(cv, targets, classifier=labels is not None).split(rows, targets))


def make_folds(labels: Rows | None, n: int, folds: int, seed: int) -> list[tuple[Rows, Rows]]:
    """Rows to train on and rows held out, for each fold; every class is among those to train on.

    Args:
        labels: of the rows, for classification: each class is divided alike. A class of one row is never held out.
        n: the number of rows.
        folds: 1 for a holdout.
        seed: of the division.
    """
    alone = np.array([], dtype=np.int64)
    rows = np.arange(n)
    if labels is not None:
        single = np.bincount(labels)[labels] == 1
        alone, rows = rows[single], rows[~single]
    folds = min(folds, len(rows))
    some = None if labels is None else labels[rows]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")  # it is trained on, and now and then held out
        divided = list(_division(some, len(rows), folds, seed).split(rows, some))
    return [(np.concatenate([rows[train], alone]), rows[test]) for train, test in divided]


def _division(labels: Rows | None, n: int, folds: int, seed: int) -> Any:
    if folds > 1:
        kind = KFold if labels is None or np.bincount(labels).max() < folds else StratifiedKFold
        return kind(folds, shuffle=True, random_state=seed)
    if labels is None:
        return ShuffleSplit(1, test_size=_HELD_OUT, random_state=seed)
    classes = len(np.unique(labels))
    return StratifiedShuffleSplit(1, test_size=max(int(_HELD_OUT * n), classes), random_state=seed)
