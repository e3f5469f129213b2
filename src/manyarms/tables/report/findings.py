"""What a report tells of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import Facts

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Findings:
    """All that a report is made of.

    Args:
        title: of the page: the table's name.
        facts: on the model.
        leaderboard: of the models tried, best first: rank, family, score, std, steps, max_steps, seconds, weight, config.
        pulls: in the order asked: arm, family, start, stop, reward, status, seconds.
        columns: a row each: name, dtype, taken as, done with it, missing, distinct.
        held_out: the actual and the predicted of rows the search never saw; None if there are none.
        importance: what the score loses when a column is shuffled, by column, the largest first: of those that were measured.
            None if none were.
        notes: what was odd about the table.
    """

    title: str
    facts: Facts
    leaderboard: pd.DataFrame
    pulls: pd.DataFrame
    columns: pd.DataFrame
    held_out: pd.DataFrame | None = None
    importance: pd.Series[Any] | None = None
    notes: Sequence[str] = ()
