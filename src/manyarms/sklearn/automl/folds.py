"""Which rows are trained on and which are held out, by how many there are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit, check_cv

from ... import checks

Rows = NDArray[np.int64]

_FOLDS = 5
_ENOUGH_ROWS = 5_000  # beyond, one part held out tells enough
_HELD_OUT = 0.2
_MOST_HELD_OUT = 20_000  # rows that tell enough, however many there are
_MOST_CELLS, _FEWEST = 5_000_000, 500  # probabilities of rows held out, at most, and rows that are held out in any case


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
        return ShuffleSplit(1, test_size=min(_HELD_OUT, _MOST_HELD_OUT / n), random_state=seed)
    classes = len(np.unique(labels))
    rows = held_out_rows(n, classes)
    kind = StratifiedShuffleSplit if rows >= classes else ShuffleSplit
    return kind(1, test_size=rows, random_state=seed)


def held_out_rows(n: int, classes: int) -> int:
    """How many of n rows are held out: a fifth, but no more than tell enough, and one of each class unless they are very many.

    >>> held_out_rows(1_000, 2), held_out_rows(500_000, 2), held_out_rows(100_000, 1_000), held_out_rows(10, 4)
    (200, 20000, 5000, 4)
    >>> held_out_rows(40_000, 7_000)
    714
    """
    most = max(_MOST_CELLS // classes, _FEWEST)
    return min(max(min(int(_HELD_OUT * n), _MOST_HELD_OUT), classes), most)
