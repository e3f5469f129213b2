"""How rows are divided for testing and validation: at random, by time, or by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..sklearn.automl.column_kinds import DATE, NUMBER, kind_of_column
from ..sklearn.automl.conversions import dates, factorized, numbers, words_of
from .names import find_column

RANDOM, BY_TIME, BY_GROUP = "random", "time", "group"

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Split:
    """How to divide the rows.

    Args:
        kind: "random"; "time", to test on the latest rows; or "group", to keep the rows of a group together.
        column: The column with the time or the group; "" for a random split.
    """

    kind: str = RANDOM
    column: str = ""

    @classmethod
    def parse(cls, text: str) -> Split:
        """A split from its text: "random", "time:COLUMN" or "group:COLUMN".

        >>> Split.parse("time:sold on")
        Split(kind='time', column='sold on')
        """
        kind, _, column = text.partition(":") if isinstance(text, str) else ("", "", "")
        if text == RANDOM or (kind in (BY_TIME, BY_GROUP) and column):
            return cls(kind, column)
        raise ValueError(f'split must be "random", "time:COLUMN" or "group:COLUMN", got {text!r}')

    def __str__(self) -> str:
        return f"{self.kind}:{self.column}" if self.column else self.kind

    def keys(self, frame: pd.DataFrame) -> NDArray[Any] | None:
        """The time of each row, or the number of its group; None for a random split."""
        if self.kind == RANDOM:
            return None
        values = frame[find_column(self.column, list(frame.columns), "split")]
        if self.kind == BY_GROUP:
            groups = pd.factorize(words_of(values))[0]
            if groups.max() < 1:
                raise ValueError(f"The split column {self.column!r} has only one group, so it cannot divide the rows.")
            return groups
        return _times(values, self.column)


def _times(values: pd.Series[Any], name: str) -> NDArray[np.float64]:
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.cat.categories.dtype if values.notna().all() else object)
    if len(factorized(values)[1]) == 1:
        raise ValueError(f"The split column {name!r} is the same in every row, so it cannot order them.")
    kind = kind_of_column(values)
    if kind not in (DATE, NUMBER):
        raise ValueError(f"The split column {name!r} must hold dates or numbers that order the rows, such as 2024-05-01.")
    times = numbers(values)
    if kind == DATE:
        read = dates(values)
        times = np.where(read.isna(), np.nan, read.to_numpy("datetime64[us]").astype(np.int64).astype(float))
    if np.isnan(times).any():
        raise ValueError(
            f"The split column {name!r} has no time in {int(np.isnan(times).sum()):,} of {len(times):,} rows. Drop these rows."
        )
    return times


def latest_rows(times: NDArray[Any], n: int) -> NDArray[np.bool_]:
    """Marks about n of the latest rows. Rows with the same time stay together; if all times are equal, no row is marked.

    >>> latest_rows(np.array([3.0, 1.0, 2.0, 2.0]), 2).tolist()
    [True, False, False, False]
    """
    if n < 1 or n >= len(times):
        return np.zeros(len(times), bool)
    border = np.sort(times)[-n - 1]  # the latest time in the training rows
    later = times > border
    if not later.any() and (times < border).any():
        later = times == border
    return np.asarray(later, bool)


def some_groups(groups: NDArray[Any], n: int, seed: int) -> NDArray[np.bool_]:
    """Marks the rows of random groups: about n rows in total, at least one group, and never all groups."""
    order = np.random.default_rng(seed).permutation(np.unique(groups))
    sizes = np.cumsum(np.bincount(groups)[order])
    count = min(max(1, int(np.searchsorted(sizes, n, side="right"))), len(order) - 1)
    return np.isin(groups, order[:count]) if n >= 1 else np.zeros(len(groups), bool)
