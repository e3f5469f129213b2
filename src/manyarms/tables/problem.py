"""The learning problem of a table: the training rows, the target, the task, and the rows held out for testing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..sklearn.automl.column_kinds import kinds_of
from ..sklearn.automl.leaks import find_leaks
from ..sklearn.automl.targets import class_target, number_target
from ..sklearn.automl.task import CLASSIFICATION, doubt_about, task_of
from ..sklearn.automl.wording import counted
from .errors import DoubtfulTarget
from .names import Notify, find_column
from .splits import BY_GROUP, BY_TIME, Split, latest_rows
from .target import check_target, held_out, with_target

FEWEST_ROWS = 50
"""Tables with fewer rows have no rows held out."""

FEWEST_PARTS = 3
"""Groups or distinct times that a split needs: to train on, to validate with, and to hold out."""

_MOST_HELD_OUT = 10_000
_VALIDATION = 0.2  # share of the training rows that are used for validation in a split by time
_RANDOM = Split()


@dataclass(frozen=True)
class Problem:
    """What to learn from a table.

    Attributes:
        rows: The training rows, without the target.
        target: The target of these rows.
        task: "classification" or "regression".
        reason: Why this task was chosen.
        test: Held-out rows and their target; None if there are none.
        excluded: The columns that are not used, each with the reason.
        split: How the rows are divided for testing and validation.
        keys: The time or the group of each training row; None if the split is random.
    """

    rows: pd.DataFrame
    target: pd.Series[Any]
    task: str
    reason: str
    test: tuple[pd.DataFrame, pd.Series[Any]] | None
    excluded: Mapping[str, str] = field(default_factory=dict)
    split: Split = _RANDOM
    keys: Any = None

    def folds(self) -> list[tuple[Any, Any]] | None:
        """The validation set of a split by time: the latest training rows. None for any other split."""
        if self.split.kind != BY_TIME:
            return None
        later = latest_rows(self.keys, max(1, round(_VALIDATION * len(self.keys))))
        if not later.any() or self.target[~later].nunique() < 2:
            raise ValueError(
                f"The column {self.split.column!r} cannot divide the rows by time: the earlier rows must have at least two "
                "different target values. Use a random split, or another column."
            )
        return [(np.flatnonzero(~later), np.flatnonzero(later))]

    @property
    def groups(self) -> Any:
        """The group of each training row, for a split by group; None for any other split."""
        return self.keys if self.split.kind == BY_GROUP else None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which columns are used, and how rows are divided.

    Args:
        ignore: Columns that are not used.
        keep: Columns that are used even if they look like leaks.
        split: How to divide the rows.
    """

    ignore: Sequence[str] = ()
    keep: Sequence[str] = ()
    split: Split = _RANDOM

    def check(self, target: str) -> None:
        """Raise an error if a column has two roles that exclude each other."""
        if both := set(self.ignore) & set(self.keep):
            raise ValueError(f"The column {min(both)!r} cannot be both in `ignore` and in `keep`.")
        for role, names in (("ignored", self.ignore), ("kept", self.keep), ("split", [self.split.column])):
            if target in names:
                raise ValueError(f"The target {target!r} cannot be the {role} column too.")


_ALL = Selection()


def problem_of(
    frame: pd.DataFrame,
    target: str,
    task: str,
    holdout: float,
    seed: int,
    notify: Notify,
    force: bool = False,
    selection: Selection = _ALL,
) -> Problem:
    """Divide a table into training rows, test rows and their target.

    Args:
        frame: The table.
        target: Name of the column to predict.
        task: "classification", "regression", or "auto" to infer it from the target.
        holdout: Share of the rows to hold out; 0 for none.
        seed: Random seed for choosing the held-out rows.
        notify: Receives a note for each irregularity.
        force: Accept a target that looks like a row identifier or free text.
        selection: Which columns are used, and how rows are divided.
    """
    target = find_column(target, list(frame.columns))
    selection.check(target)
    rows, values = with_target(frame, target, notify)
    task, reason = task_of(values) if task == "auto" else (task, "as requested")
    check_target(values, task)
    if not force and (doubt := doubt_about(values, task)) is not None:
        raise DoubtfulTarget(doubt, target)
    split, keys = selection.split, selection.split.keys(rows)
    rows, excluded = without_excluded(rows, values, task, selection, notify)
    if holdout and len(rows) < FEWEST_ROWS:
        notify(f"Only {counted(len(rows), 'row')}: none are held out, so there is only a cross-validated score.")
        holdout = 0.0
    if holdout and keys is not None and (parts := len(np.unique(keys))) < FEWEST_PARTS:
        what = counted(parts, "distinct value")
        notify(f"The split column {split.column!r} has only {what}: no rows are held out, so that some can validate.")
        holdout = 0.0
    chosen = held_out(values, task, holdout, _MOST_HELD_OUT, seed, split, keys)
    test = (rows[chosen].reset_index(drop=True), values[chosen].reset_index(drop=True)) if chosen.any() else None
    trained = rows[~chosen].reset_index(drop=True), values[~chosen].reset_index(drop=True)
    return Problem(*trained, task, reason, test, excluded, split, None if keys is None else keys[~chosen])


def without_excluded(
    rows: pd.DataFrame, target: pd.Series[Any], task: str, selection: Selection, notify: Notify
) -> tuple[pd.DataFrame, dict[str, str]]:
    """The columns to learn from, and the excluded ones with the reason: ignored, the groups of the split, or a leak."""
    names = list(rows.columns)
    excluded = {find_column(name, names, "ignored"): "ignored, as requested" for name in selection.ignore}
    keep = {find_column(name, names, "kept") for name in selection.keep}
    if selection.split.kind == BY_GROUP and selection.split.column not in keep:
        excluded.setdefault(selection.split.column, "it is used to split the rows, and new rows belong to new groups")
    rows = rows.drop(columns=list(excluded))
    if not len(rows.columns):
        raise ValueError("All columns except the target are ignored, so there is nothing to predict from.")
    learned = class_target(target) if task == CLASSIFICATION else number_target(target)
    found = find_leaks(rows, list(rows.columns), kinds_of(rows.set_axis(range(len(rows.columns)), axis=1)), learned)
    leaks = {str(rows.columns[place]): reason for place, reason in found.items() if rows.columns[place] not in keep}
    for name, reason in leaks.items():
        notify(f"Excluded the column {name!r}: {reason}, so it is probably a leak. To use it, add it to `keep`.")
    return rows.drop(columns=list(leaks)), excluded | leaks
