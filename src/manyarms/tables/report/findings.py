"""What a report is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..saved import Facts

_MOST_COLUMNS = 200  # with statistics: as many as the page shows
_TREATMENT = {
    "number": "used as it is; missing values imputed for models that need it",
    "category": "one-hot encoded",
    "many categories": "target encoded: the average target of each category",
    "date": "a time, and its year, month, day, weekday and hour",
    "text": "topics",
    "nothing": "dropped: constant, empty, or only identifies the rows",
}


@dataclass(frozen=True)
class Findings:
    """The content of a report.

    Args:
        title: Title of the page: the name of the table.
        facts: What is known about the model.
        leaderboard: The models tried, best first: rank, family, score, std, steps, max_steps, seconds, weight, config.
        pulls: The pulls in the order asked: arm, family, start, stop, reward, status, seconds.
        columns: A row for each column; see `columns_frame`.
        held_out: The actual and the predicted values of the held-out rows; None if there are none.
        importance: How much the score drops when a column is shuffled, the largest first, for the columns that were measured.
            None if none were.
        notes: Irregularities of the table and of the search.
    """

    title: str
    facts: Facts
    leaderboard: pd.DataFrame
    pulls: pd.DataFrame
    columns: pd.DataFrame
    held_out: pd.DataFrame | None = None
    importance: pd.Series[Any] | None = None
    notes: Sequence[str] = ()


def columns_frame(rows: pd.DataFrame, kinds: Sequence[str]) -> pd.DataFrame:
    """A row for each column: its name, type, kind and treatment; for the first columns also statistics, which take long."""
    first = rows.iloc[:, :_MOST_COLUMNS]
    rest = [""] * (rows.shape[1] - first.shape[1])
    return pd.DataFrame(
        {
            "column": [str(name) for name in rows.columns],
            "type": [str(dtype) for dtype in rows.dtypes],
            "kind": list(kinds),
            "missing": [f"{share:.0%}" if share else "" for share in first.isna().mean()] + rest,
            "distinct": [f"{number:,}" for number in first.nunique()] + rest,
            "treatment": [_TREATMENT.get(kind, "") for kind in kinds],
        }
    )
