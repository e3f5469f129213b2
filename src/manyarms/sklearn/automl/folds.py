"""Cross-validation folds, depending on the number of rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit, check_cv

from ... import checks

Rows = NDArray[np.int64]

_FOLDS = 5
_ENOUGH_ROWS = 5_000  # with more, a single validation set is enough
_HELD_OUT = 0.2
_MOST_HELD_OUT = 20_000  # rows in a validation set
_MOST_CELLS, _FEWEST = 5_000_000, 500  # probabilities for the validation rows, at most, but at least this many rows


def count_folds(cv: int | str, n: int) -> int:
    """The number of folds for n rows; 1 means a single validation set.

    >>> [count_folds("auto", n) for n in (100, 10_000)]
    [5, 1]
    """
    if cv != "auto":
        return checks.whole("cv", cv, 1)  # type: ignore[arg-type]
    return _FOLDS if n <= _ENOUGH_ROWS else 1


def given_folds(cv: Any, labels: Rows | None, n: int) -> list[tuple[Rows, Rows]]:
    """The folds of a scikit-learn splitter, or the given folds."""
    rows, targets = np.zeros((n, 1)), np.zeros(n) if labels is None else labels
    return list(check_cv(cv, targets, classifier=labels is not None).split(rows, targets))


def make_folds(labels: Rows | None, n: int, folds: int, seed: int) -> list[tuple[Rows, Rows]]:
    """For each fold, the rows to train on and the validation rows. Every class is among the rows to train on.

    Args:
        labels: Labels of the rows, by which folds are stratified; None for a regression. A class with a single row is
            always trained on.
        n: Number of rows.
        folds: Number of folds; 1 for a single validation set.
        seed: Random seed.
    """
    alone = np.array([], dtype=np.int64)
    rows = np.arange(n)
    if labels is not None:
        single = np.bincount(labels)[labels] == 1
        alone, rows = rows[single], rows[~single]
    folds = min(folds, len(rows))
    some = None if labels is None else labels[rows]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")  # some folds then lack this class
        divided = list(_division(some, len(rows), folds, seed).split(rows, some))
    return [(np.concatenate([rows[train], alone]), rows[test]) for train, test in divided]


def _division(labels: Rows | None, n: int, folds: int, seed: int) -> Any:
    if folds > 1:
        kind = KFold if labels is None or np.bincount(labels).max() < folds else StratifiedKFold
        return kind(folds, shuffle=True, random_state=seed)
    if labels is None:
        return ShuffleSplit(1, test_size=min(_HELD_OUT, _MOST_HELD_OUT / n), random_state=seed)
    classes = len(np.unique(labels))
    rows = held_out_rows(n, classes)
    kind = StratifiedShuffleSplit if rows >= classes else ShuffleSplit
    return kind(1, test_size=rows, random_state=seed)


def held_out_rows(n: int, classes: int) -> int:
    """The size of the validation set: a fifth of the rows within limits, and at least a row per class if possible.

    >>> held_out_rows(1_000, 2), held_out_rows(500_000, 2), held_out_rows(100_000, 1_000), held_out_rows(10, 4)
    (200, 20000, 5000, 4)
    >>> held_out_rows(40_000, 7_000)
    714
    """
    most = max(_MOST_CELLS // classes, _FEWEST)
    return min(max(min(int(_HELD_OUT * n), _MOST_HELD_OUT), classes), most)
