"""A table as something to learn: what from, what, and on which rows to judge it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .names import Say, counted, find_column
from .task import check_target, held_out, task_of, why_not, with_target

if TYPE_CHECKING:
    import pandas as pd

TINY = 50
"""Rows; of fewer none are held out."""

_MOST_HELD_OUT = 10_000


@dataclass(frozen=True)
class Problem:
    """What is to be learned.

    Args:
        rows, target: to train on.
        task: "classification" or "regression".
        why: it is that.
        judged: rows held out with their targets; None if there are none.
    """

    rows: pd.DataFrame
    target: pd.Series[Any]
    task: str
    why: str
    judged: tuple[pd.DataFrame, pd.Series[Any]] | None


def problem_of(
    frame: pd.DataFrame, target: str, task: str, holdout: float, seed: int, say: Say, force: bool = False
) -> Problem:
    """The problem that a table poses.

    Args:
        frame: the table.
        target: the name of the column to predict.
        task: "auto" goes by the target.
        holdout: the share of rows to hold out; 0 for none.
        seed: of the rows held out.
        say: called with a line for each odd thing.
        force: Accept a target that looks like names of rows or free text.
    """
    rows, values = with_target(frame, find_column(target, list(frame.columns)), say)
    task, why = task_of(values) if task == "auto" else (task, "asked for")
    check_target(values, task)
    if not force and (doubt := why_not(values, task)) is not None:
        raise ValueError(f"--target must be something to predict, but {doubt}. Choose another column, or add --force")
    if holdout and len(rows) < TINY:
        say(f"only {counted(len(rows), 'row')}: none are held out, so the only score is that of the search")
        holdout = 0.0
    aside = held_out(values, task, holdout, _MOST_HELD_OUT, seed)
    if not aside.any():
        return Problem(rows, values, task, why, None)
    parts = [(rows[chosen].reset_index(drop=True), values[chosen].reset_index(drop=True)) for chosen in (~aside, aside)]
    return Problem(*parts[0], task, why, parts[1])
