"""What each column is worth: how much the score loses when its values are shuffled among rows held out."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

_ROWS, _REPEATS = 1_000, 5

Score = Callable[[Any, Any], float]
"""Of the model, on rows and their targets."""


def column_importance(
    score: Score,
    rows: pd.DataFrame,
    target: pd.Series[Any],
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> pd.Series[Any] | None:
    """By column, the largest first; None if that would take longer than so many seconds, or cannot be told.

    Args:
        score: of the model; larger is better.
        rows: the model never saw.
        target: of these rows.
        seconds: it may take.
        clock: Gives the time in seconds, from any start.
    """
    import pandas as pd

    rng = np.random.default_rng(0)
    chosen = rng.permutation(len(rows))[:_ROWS]
    rows, target = rows.iloc[chosen].reset_index(drop=True), target.iloc[chosen].reset_index(drop=True)
    began = clock()
    try:
        whole = score(rows, target)
    except ValueError:  # a class is missing among them, say
        return None
    repeats = min(_REPEATS, int(seconds / max(clock() - began, 1e-9) / max(len(rows.columns), 1)))
    if repeats < 1:
        return None
    lost = {name: whole - np.mean([score(_shuffled(rows, name, rng), target) for _ in range(repeats)]) for name in rows}
    return pd.Series(lost, dtype=float).sort_values(ascending=False, kind="stable")


def _shuffled(rows: pd.DataFrame, name: Any, rng: np.random.Generator) -> pd.DataFrame:
    changed = rows.copy(deep=False)
    changed[name] = rows[name].to_numpy()[rng.permutation(len(rows))]
    return changed
