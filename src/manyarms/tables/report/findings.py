"""The content of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...sklearn.automl.column_kinds import NOTHING
from ...sklearn.automl.conversions import factorized
from ..saved import Facts

_MOST_COLUMNS = 200  # columns with statistics: as many as the page shows
_MOST_ROWS = 50_000  # rows in which missing and distinct values are counted
_TREATMENT = {
    "number": "used as is; missing values imputed for models that need it",
    "category": "one-hot encoded",
    "many categories": "target encoded: the average target of each category",
    "date": "its timestamp, year, month, day, weekday and hour",
    "text": "topics: the main components of its word counts",
}


@dataclass(frozen=True)
class Findings:
    """The content of a report.

    Args:
        title: Title of the page: the name of the table.
        facts: What is known about the model.
        leaderboard: The models tried, best first: rank, family, score, std, steps, max_steps, seconds, weight, config.
        pulls: The pulls in the order asked: arm, family, start, stop, reward, status, seconds.
        columns: A row for each column that was used; see `columns_frame`.
        held_out: The actual and the predicted values of the held-out rows; None if there are none.
        importance: The importance of the columns that were measured; see `column_importance`. None if none were.
        notes: Irregularities in the table and in the search.
        probabilities: The class probabilities of the held-out rows; None for regression.
        constant: The constant baseline: the share of each class, or the mean, in the training rows.
        excluded: Columns of the table that were not used, each with the reason.
    """

    title: str
    facts: Facts
    leaderboard: pd.DataFrame
    pulls: pd.DataFrame
    columns: pd.DataFrame
    held_out: pd.DataFrame | None = None
    importance: pd.DataFrame | None = None
    notes: Sequence[str] = ()
    probabilities: NDArray[np.float64] | None = None
    constant: Any = None
    excluded: Mapping[str, str] = field(default_factory=dict)


def columns_frame(rows: pd.DataFrame, kinds: Sequence[str]) -> pd.DataFrame:
    """A row for each column: its name, type, kind and treatment.

    Statistics are slow, so they are computed only for the first columns and rows.
    """
    first = rows.iloc[:_MOST_ROWS, :_MOST_COLUMNS]
    among = f" (first {_MOST_ROWS:,} rows)" if len(rows) > _MOST_ROWS else ""
    rest = [""] * (rows.shape[1] - first.shape[1])
    return pd.DataFrame(
        {
            "column": [str(name) for name in rows.columns],
            "type": [str(dtype) for dtype in rows.dtypes],
            "kind": list(kinds),
            f"missing{among}": [f"{share:.0%}" if share else "" for share in first.isna().mean()] + rest,
            f"distinct{among}": [f"{len(factorized(first.iloc[:, place])[1]):,}" for place in range(first.shape[1])] + rest,
            "treatment": [_TREATMENT.get(kind, "") for kind in kinds],
        }
    )


def unused_columns(rows: pd.DataFrame, kinds: Sequence[str]) -> dict[str, str]:
    """The columns that hold nothing to learn from, each with the reason."""
    unused = [place for place, kind in enumerate(kinds) if kind == NOTHING]
    return {str(rows.columns[place]): _nothing_in(rows.iloc[:, place]) for place in unused}


def _nothing_in(values: pd.Series[Any]) -> str:
    """Why a column holds nothing to learn from.

    >>> [_nothing_in(pd.Series(values)) for values in ([None, None], [3, 3, None], ["a1", "b2"])]
    ['empty', 'constant', 'different in every row, so it only identifies the rows']
    """
    known = values.dropna()
    if not len(known):
        return "empty"
    distinct = len(factorized(known)[1])
    if distinct == 1:
        return "constant"
    return "different in every row, so it only identifies the rows" if distinct == len(known) else "without finite values"
