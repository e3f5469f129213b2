"""Leaks: row numbers and identifiers that reveal the target, because the table is sorted or has repeated ids."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from .column_kinds import DATE, FEW, NOTHING, TEXT
from .conversions import factorized, numbers, words_of
from .targets import Target

_ENOUGH_ROWS = 50  # with fewer rows, consecutive numbers may be a coincidence
_ROWS = 5_000  # maximum number of rows on which a column is tested
_PERFECT = 0.95  # share of the error of a constant prediction that a leak removes, at least
_ID_WORDS = "id|ids|uid|uuid|guid|key|index|idx|row|rows|rowid|rownames?|rownumber|serial|record|obs|observation|case|casenum"
_ID_NAME = re.compile(rf"(?:.*[_\W])?(?:{_ID_WORDS})(?:[_\W]*(?:no|nr|num|number))?[_\W]*", re.IGNORECASE)
_CAMEL_ID = re.compile(r".*[a-z](?:Id|ID|Key|Index)")


def find_leaks(table: pd.DataFrame, names: Sequence[Any], kinds: Sequence[str], target: Target) -> dict[int, str]:
    """The positions of columns that number or identify the rows and nearly determine the target, each with a reason.

    Returns none if no other column would be left.

    Args:
        table: The rows in their original order.
        names: Names of the columns.
        kinds: What each column holds.
        target: The target.
    """
    leaks: dict[int, str] = {}
    if len(table) < _ENOUGH_ROWS:
        return leaks
    for place, kind in enumerate(kinds):
        if kind in (NOTHING, DATE, TEXT) or (what := _identifies(table.iloc[:, place], str(names[place]))) is None:
            continue
        if removed_error(table.iloc[:, place], target) >= _PERFECT:
            leaks[place] = f"it {what} and predicts the target almost perfectly by itself"
    useful = sum(kind != NOTHING for kind in kinds)
    return leaks if len(leaks) < useful else {}


def _identifies(values: pd.Series[Any], name: str) -> str | None:
    """How a column identifies rows, as a verb phrase; None if it does not."""
    if numbers_rows(values):
        return "numbers the rows"
    if looks_like_id_name(name) and len(factorized(values)[1]) > FEW:
        return "looks like an identifier"
    return None


def looks_like_id_name(name: str) -> bool:
    """Whether a name is typical of identifiers.

    >>> [looks_like_id_name(name) for name in ("id", "customer_id", "PatientID", "Row number", "index", "rownames")]
    [True, True, True, True, True, True]
    >>> [looks_like_id_name(name) for name in ("width", "paid", "Bird", "number of rooms", "0")]
    [False, False, False, False, False]
    """
    return bool(_ID_NAME.fullmatch(name.strip()) or _CAMEL_ID.fullmatch(name.strip()))


def numbers_rows(values: pd.Series[Any]) -> bool:
    """Whether a column counts the rows from 0 or 1 in the order of the table.

    >>> import pandas as pd
    >>> numbers_rows(pd.Series(range(1, 100))), numbers_rows(pd.Series(range(1900, 2000)))
    (True, False)
    """
    return _counts(numbers(values.iloc[:_ENOUGH_ROWS])) and _counts(numbers(values))  # few columns pass the first test


def _counts(read: NDArray[np.float64]) -> bool:
    return read[0] in (0.0, 1.0) and bool(np.array_equal(read, np.arange(len(read)) + read[0]))


def _ordered(values: pd.Series[Any]) -> NDArray[np.float64]:
    """Numbers as they are; text as its rank in alphabetical order, so that neighbors and repeated ids stay together."""
    read = numbers(values)
    if np.isnan(read).mean() < 0.5:
        return np.nan_to_num(read, nan=-1.0)
    return np.unique(words_of(values).astype(str), return_inverse=True)[1].astype(float)


def removed_error(values: pd.Series[Any], target: Target) -> float:
    """The share of the error of a constant prediction that the row with the nearest value removes; 1 is perfect.

    A decision tree would find the same, but takes seconds if there are a thousand classes.
    """
    rng = np.random.default_rng(0)
    rows = np.arange(len(values)) if len(values) <= _ROWS else np.sort(rng.choice(len(values), _ROWS, replace=False))
    column, truth = _ordered(values.iloc[rows])[:, None], target.values[rows]
    neighbors = KNeighborsClassifier if target.n_classes else KNeighborsRegressor
    with warnings.catch_warnings(action="ignore"):
        nearest = neighbors(n_neighbors=1, algorithm="kd_tree")
        predicted = cross_val_predict(nearest, column, truth, cv=KFold(3, shuffle=True, random_state=0))
    if target.n_classes:
        constant = 1.0 - np.bincount(truth).max() / len(truth)
        return 0.0 if constant == 0 else float(1.0 - np.mean(predicted != truth) / constant)
    spread = float(np.var(truth))
    return 0.0 if spread == 0 else float(1.0 - np.mean((predicted - truth) ** 2) / spread)
