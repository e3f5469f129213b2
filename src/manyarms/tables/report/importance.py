"""Permutation importance within a time limit: how much the score drops when the values of a column are shuffled.

`sklearn.inspection.permutation_importance` has no time limit. This function uses fewer rows and columns if the time is short,
and predicts many shuffled copies at once, because a model of many trees takes nearly as long for ten rows as for a thousand.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...sklearn.automl.wording import counted

_ROWS, _FEWEST_ROWS, _REPEATS = 1_000, 100, 5
_BATCH = 5_000  # maximum number of rows that are predicted at once
_SHARE, _LEAST, _MOST = 0.1, 3.0, 20.0  # share of the training time, and limits in seconds
_PAGE_SECONDS = 0.5  # for the rest of the report

Predict = Callable[[Any], Any]
"""Returns the predictions for rows."""

Score = Callable[[Any, Any], float]
"""Returns the score of predictions, given the target of their rows."""


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
    predict: Predict,
    score: Score,
    rows: pd.DataFrame,
    target: pd.Series[Any],
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
    columns: Sequence[Any] | None = None,
) -> pd.DataFrame | None:
    """The importance of each column that there is time for, largest first; None if there is no time, or no score.

    The table has a row for each column: `mean`, the average drop of the score, and `std`, its standard deviation over the
    shuffles, which is NaN if there was time for only one shuffle. If the time is short, fewer rows are used; if that is not
    enough, a random subset of the columns.

    Args:
        predict: Returns the predictions of the model for rows.
        score: Returns the score of predictions; larger is better.
        rows: Rows that the model was not trained on.
        target: The target of these rows.
        seconds: Time limit.
        clock: Returns the time in seconds.
        columns: Names of the columns to measure; all by default.
    """
    names = list(rows.columns if columns is None else columns)
    if seconds <= 0 or not names:
        return None
    rng = np.random.default_rng(0)
    order, end = rng.permutation(len(rows)), clock() + seconds

    def measured(n: int) -> tuple[pd.DataFrame, pd.Series[Any], float, float]:
        """Some of the rows with their target, their score, and how many seconds it took to compute."""
        sample, truth = rows.iloc[order[:n]].reset_index(drop=True), target.iloc[order[:n]].reset_index(drop=True)
        began = clock()
        return sample, truth, score(predict(sample), truth), clock() - began

    n = min(_ROWS, len(rows))
    try:
        sample, truth, whole, each = measured(n)
        if each * len(names) > seconds and n > _FEWEST_ROWS:
            n = max(_FEWEST_ROWS, int(n * seconds / (each * len(names))))
            sample, truth, whole, each = measured(n)
    except ValueError:  # for example, a class that is not among these rows
        return None
    waiting = [names[place] for _ in range(_REPEATS) for place in rng.permutation(len(names))]
    drops: dict[Any, list[float]] = {name: [] for name in names}
    size = next_copies(1, each, end - clock(), n)
    while waiting and size:
        batch, waiting, began = waiting[:size], waiting[size:], clock()
        predictions = predict(pd.concat([_shuffled(sample, name, rng) for name in batch], ignore_index=True))
        for name, part in zip(batch, np.split(np.asarray(predictions), len(batch)), strict=True):
            drops[name].append(whole - score(part, truth))
        size = next_copies(len(batch), clock() - began, end - clock(), n)
    return _summary(drops)


def next_copies(copies: int, seconds: float, left: float, rows: int) -> int:
    """How many shuffled copies to predict next, if the last `copies` took `seconds`; 0 to stop.

    >>> next_copies(2, 0.1, 10.0, rows=200), next_copies(16, 0.1, 10.0, rows=200)
    (4, 25)
    >>> next_copies(4, 1.0, 0.6, rows=200), next_copies(1, 1.0, 0.5, rows=200)
    (2, 0)
    """
    return min(2 * copies, max(1, _BATCH // rows), int(copies * max(left, 0.0) / max(seconds, 1e-9)))


def _summary(drops: dict[Any, list[float]]) -> pd.DataFrame | None:
    """The mean and the standard deviation of each column that was measured."""
    known = {name: values for name, values in drops.items() if values}
    if not known:
        return None
    cells = [(np.mean(values), np.std(values, ddof=1) if len(values) > 1 else np.nan) for values in known.values()]
    found = pd.DataFrame(cells, index=list(known), columns=["mean", "std"])
    return found.sort_values("mean", ascending=False, kind="stable")


def missing_note(importance: pd.DataFrame | None, n_columns: int) -> str | None:
    """A note on the columns that were not measured; None if all were.

    >>> missing_note(None, 30)
    'Not measured: there was no time left, or the held-out rows cannot be scored.'
    """
    if importance is None:
        return "Not measured: there was no time left, or the held-out rows cannot be scored."
    if len(importance) < n_columns:
        return f"Measured for {len(importance):,} of {counted(n_columns, 'column')}, because the time was limited."
    return None


def _shuffled(rows: pd.DataFrame, name: Any, rng: np.random.Generator) -> pd.DataFrame:
    changed = rows.copy(deep=False)
    changed[name] = rows[name].to_numpy()[rng.permutation(len(rows))]
    return changed
