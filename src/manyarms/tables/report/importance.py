"""What each column is worth: how much the score loses when its values are shuffled among rows held out."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..names import counted

if TYPE_CHECKING:
    import pandas as pd

_ROWS, _FEWEST_ROWS, _REPEATS = 1_000, 100, 5
_OVERRUN = 2.0  # times as long as was planned, after which the columns that are left are not measured

Score = Callable[[Any, Any], float]
"""Of the model, on rows and their targets."""


def column_importance(
    score: Score,
    rows: pd.DataFrame,
    target: pd.Series[Any],
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> pd.Series[Any] | None:
    """By column, the largest first: of as many columns as there is time for. None if there is time for none, or no score.

    Where the time is short, fewer rows are used; where that is not enough, some columns are drawn at random.

    Args:
        score: of the model; larger is better.
        rows: the model never saw.
        target: of these rows.
        seconds: it may take.
        clock: Gives the time in seconds, from any start.
    """
    import pandas as pd

    if seconds <= 0:
        return None
    rng = np.random.default_rng(0)
    order, began = rng.permutation(len(rows)), clock()
    n, n_columns = min(_ROWS, len(rows)), max(len(rows.columns), 1)
    try:
        sample, whole, each = _scored(score, rows, target, order[:n], clock)
        if each * n_columns > seconds and n > _FEWEST_ROWS:
            n = max(_FEWEST_ROWS, int(n * seconds / (each * n_columns)))
            sample, whole, each = _scored(score, rows, target, order[:n], clock)
    except ValueError:  # a class is missing among them, say
        return None
    scores = int(seconds / max(each, 1e-9))
    if scores < 1:
        return None
    repeats = max(1, min(_REPEATS, scores // n_columns))
    chosen = range(n_columns) if scores >= n_columns else np.sort(rng.permutation(n_columns)[:scores])
    lost: dict[Any, float] = {}
    for place in chosen:
        if clock() - began > _OVERRUN * seconds:
            break
        name = rows.columns[place]
        shuffled = [score(_shuffled(sample[0], name, rng), sample[1]) for _ in range(repeats)]
        lost[name] = whole - float(np.mean(shuffled))
    return pd.Series(lost, dtype=float).sort_values(ascending=False, kind="stable") if lost else None


def missing_note(importance: pd.Series[Any] | None, n_columns: int) -> str | None:
    """What to say of columns that were not measured; None if all were.

    >>> missing_note(None, 30)
    'Not measured: there was no time, or no score on the rows held out.'
    """
    if importance is None:
        return "Not measured: there was no time, or no score on the rows held out."
    if len(importance) < n_columns:
        return f"Measured for {len(importance):,} of {counted(n_columns, 'column')}, as many as there was time for."
    return None


def _scored(
    score: Score, rows: pd.DataFrame, target: pd.Series[Any], chosen: Any, clock: Callable[[], float]
) -> tuple[tuple[pd.DataFrame, pd.Series[Any]], float, float]:
    """Some of the rows with their targets, their score, and the seconds that this took."""
    sample = rows.iloc[chosen].reset_index(drop=True), target.iloc[chosen].reset_index(drop=True)
    began = clock()
    return sample, score(*sample), clock() - began


def _shuffled(rows: pd.DataFrame, name: Any, rng: np.random.Generator) -> pd.DataFrame:
    changed = rows.copy(deep=False)
    changed[name] = rows[name].to_numpy()[rng.permutation(len(rows))]
    return changed
