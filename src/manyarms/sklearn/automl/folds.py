"""Cross-validation folds, depending on the number of rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils.validation import column_or_1d

from ... import checks

Rows = NDArray[np.int64]

ENOUGH_ROWS = 5_000
"""With more rows, a single validation set is enough."""

_FOLDS = 5
_HELD_OUT = 0.2
_LARGE_SHARE, _ENOUGH_HELD_OUT = 0.1, 2_000  # share of the rows of a large table, if it gives this many validation rows
_MOST_HELD_OUT = 10_000  # rows in a validation set
_MOST_CELLS, _FEWEST = 5_000_000, 500  # probabilities for the validation rows, at most, but at least this many rows


def count_folds(cv: int | str, n: int) -> int:
    """The number of folds for n rows; 1 means a single validation set.

    >>> [count_folds("auto", n) for n in (100, 10_000)]
    [5, 1]
    """
    if cv != "auto":
        return checks.whole("cv", cv, 1)  # type: ignore[arg-type]
    return _FOLDS if n <= ENOUGH_ROWS else 1


def given_folds(cv: Any, labels: Rows | None, n: int) -> list[tuple[Rows, Rows]]:
    """The folds of a scikit-learn splitter, or the given folds."""
    rows, targets = np.zeros((n, 1)), np.zeros(n) if labels is None else labels
    return list(check_cv(cv, targets, classifier=labels is not None).split(rows, targets))


def group_folds(cv: Any, labels: Rows | None, groups: Any, n: int, seed: int) -> list[tuple[Rows, Rows]]:
    """Folds that keep the rows of each group together.

    Args:
        cv: Number of folds, where 1 means a single validation set; "auto" to choose it from `n`; or a scikit-learn splitter.
        labels: Labels of the rows; None for regression.
        groups: The group of each row.
        n: Number of rows.
        seed: Random seed.
    """
    groups = pd.factorize(column_or_1d(groups), use_na_sentinel=False)[0]  # missing groups are a group
    if len(groups) != n:
        raise ValueError(f"groups must have one value per row, got {len(groups)} for {n} rows")
    if (several := int(groups.max()) + 1) < 2:
        raise ValueError("groups must have at least two different values, got one")
    rows, targets = np.zeros((n, 1)), np.zeros(n) if labels is None else labels
    if not isinstance(cv, (str, int, np.integer)):
        return list(check_cv(cv, targets, classifier=labels is not None).split(rows, targets, groups))
    wanted = count_folds(cv, n)  # type: ignore[arg-type]
    number = min(_FOLDS if wanted == 1 else wanted, several)
    kind = GroupKFold if labels is None else StratifiedGroupKFold
    with warnings.catch_warnings(action="ignore"):  # a class may have fewer rows than there are folds
        folds = list(kind(number, shuffle=True, random_state=seed).split(rows, targets, groups))
    return [fold for fold in folds if len(fold[0]) and len(fold[1])][: 1 if wanted == 1 else None]


def make_folds(labels: Rows | None, n: int, folds: int, seed: int) -> list[tuple[Rows, Rows]]:
    """For each fold, the rows to train on and the validation rows. Every class is among the rows to train on.

    Args:
        labels: Labels of the rows, by which folds are stratified; None for regression. A class with a single row is
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
        return ShuffleSplit(1, test_size=max(1, held_out_rows(n, 1)), random_state=seed)
    classes = len(np.unique(labels))
    rows = held_out_rows(n, classes)
    kind = StratifiedShuffleSplit if rows >= classes else ShuffleSplit
    return kind(1, test_size=rows, random_state=seed)


def held_out_rows(n: int, classes: int) -> int:
    """The size of the validation set: a fifth to a tenth of the rows within limits, and at least a row per class if possible.

    >>> held_out_rows(1_000, 2), held_out_rows(500_000, 2), held_out_rows(100_000, 1_000), held_out_rows(10, 4)
    (200, 10000, 5000, 4)
    >>> held_out_rows(15_000, 2), held_out_rows(40_000, 7_000)
    (2000, 714)
    """
    most = max(_MOST_CELLS // classes, _FEWEST)
    some = min(int(_HELD_OUT * n), max(int(_LARGE_SHARE * n), _ENOUGH_HELD_OUT), _MOST_HELD_OUT)
    return min(max(some, classes), most)
