"""Permutation importance within a time limit: how much the score drops when the values of a column are shuffled.

`sklearn.inspection.permutation_importance` has no time limit. This function uses fewer rows and columns if the time is short,
and stops if scoring takes longer than predicted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ...sklearn.automl.wording import counted

_ROWS, _FEWEST_ROWS, _REPEATS = 1_000, 100, 5
_OVERRUN = 2.0  # times the limit, after which no more columns are measured
_SHARE, _LEAST, _MOST = 0.1, 3.0, 20.0  # share of the training time, and limits in seconds
_PAGE_SECONDS = 0.5  # for the rest of the report

Score = Callable[[Any, Any], float]
"""Returns the score of the model on rows and their target."""


def importance_seconds(trained: float, left: float | None = None) -> float:
    """How long to measure: a share of the training time within limits, if there is still time to write the report.

    Args:
        trained: Seconds of training.
        left: Seconds left for the whole report; None for no limit.

    >>> importance_seconds(100.0, 20.0), importance_seconds(1.0, 20.0), importance_seconds(100.0, 0.5), importance_seconds(1e3)
    (10.0, 3.0, 0.0, 20.0)
    """
    usual = max(_LEAST, min(_MOST, _SHARE * trained))
    return usual if left is None else max(0.0, min(usual, left - _PAGE_SECONDS))


def column_importance(
    score: Score,
    rows: pd.DataFrame,
    target: pd.Series[Any],
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> pd.Series[Any] | None:
    """The importance of each column that there is time for, the largest first; None if there is no time, or no score.

    If the time is short, fewer rows are used; if that is not enough, a random subset of the columns.

    Args:
        score: Returns the score of the model; larger is better.
        rows: Rows that the model was not trained on.
        target: The target of these rows.
        seconds: Time limit.
        clock: Returns the time in seconds.
    """
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
    except ValueError:  # for example, a class that is not among these rows
        return None
    scores = int(seconds / max(each, 1e-9))
    if scores < 1:
        return None
    repeats = max(1, min(_REPEATS, scores // n_columns))
    chosen = range(n_columns) if scores >= n_columns else np.sort(rng.permutation(n_columns)[:scores])
    drops: dict[Any, float] = {}
    for place in chosen:
        if clock() - began > _OVERRUN * seconds:
            break
        name = rows.columns[place]
        shuffled = [score(_shuffled(sample[0], name, rng), sample[1]) for _ in range(repeats)]
        drops[name] = whole - float(np.mean(shuffled))
    return pd.Series(drops, dtype=float).sort_values(ascending=False, kind="stable") if drops else None


def missing_note(importance: pd.Series[Any] | None, n_columns: int) -> str | None:
    """A note on the columns that were not measured; None if all were.

    >>> missing_note(None, 30)
    'Not measured: there was no time left, or the held-out rows cannot be scored.'
    """
    if importance is None:
        return "Not measured: there was no time left, or the held-out rows cannot be scored."
    if len(importance) < n_columns:
        return f"Measured for {len(importance):,} of {counted(n_columns, 'column')}, because the time was limited."
    return None


def _scored(
    score: Score, rows: pd.DataFrame, target: pd.Series[Any], chosen: Any, clock: Callable[[], float]
) -> tuple[tuple[pd.DataFrame, pd.Series[Any]], float, float]:
    """Some of the rows with their target, their score, and the seconds that scoring took."""
    sample = rows.iloc[chosen].reset_index(drop=True), target.iloc[chosen].reset_index(drop=True)
    began = clock()
    return sample, score(*sample), clock() - began


def _shuffled(rows: pd.DataFrame, name: Any, rng: np.random.Generator) -> pd.DataFrame:
    changed = rows.copy(deep=False)
    changed[name] = rows[name].to_numpy()[rng.permutation(len(rows))]
    return changed
