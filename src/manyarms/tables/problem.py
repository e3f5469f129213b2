"""What to learn from a table: the rows to train on, the target, the task, and the rows held out for testing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..sklearn.automl.task import doubt_about, task_of
from ..sklearn.automl.wording import counted
from .errors import DoubtfulTarget
from .names import Notify, find_column
from .target import check_target, held_out, with_target

FEWEST_ROWS = 50
"""Tables with fewer rows have no rows held out."""

_MOST_HELD_OUT = 10_000


@dataclass(frozen=True)
class Problem:
    """What to learn from a table.

    Attributes:
        rows: The rows to train on, without the target.
        target: The target of these rows.
        task: "classification" or "regression".
        reason: Why it is this task.
        test: Held-out rows and their target; None if there are none.
    """

    rows: pd.DataFrame
    target: pd.Series[Any]
    task: str
    reason: str
    test: tuple[pd.DataFrame, pd.Series[Any]] | None


def problem_of(
    frame: pd.DataFrame, target: str, task: str, holdout: float, seed: int, notify: Notify, force: bool = False
) -> Problem:
    """Divide a table into what to train on, what to predict and what to test with.

    Args:
        frame: The table.
        target: Name of the column to predict.
        task: "classification", "regression", or "auto" to decide by the target.
        holdout: Share of the rows to hold out; 0 for none.
        seed: Random seed of the held-out rows.
        notify: Receives a note for each irregularity.
        force: Accept a target that looks like a row identifier or free text.
    """
    rows, values = with_target(frame, find_column(target, list(frame.columns)), notify)
    task, reason = task_of(values) if task == "auto" else (task, "as requested")
    check_target(values, task)
    if not force and (doubt := doubt_about(values, task)) is not None:
        raise DoubtfulTarget(doubt, target)
    if holdout and len(rows) < FEWEST_ROWS:
        notify(f"Only {counted(len(rows), 'row')}: none are held out, so the only score is the cross-validated one.")
        holdout = 0.0
    chosen = held_out(values, task, holdout, _MOST_HELD_OUT, seed)
    if not chosen.any():
        return Problem(rows, values, task, reason, None)
    parts = [(rows[part].reset_index(drop=True), values[part].reset_index(drop=True)) for part in (~chosen, chosen)]
    return Problem(*parts[0], task, reason, parts[1])
