"""The table of arms: sorts and filters all arms of a study, and returns one page of rows."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from ..journal.layout import events_table
from .columns import STATUSES, ArmColumns
from .feed import StudyFeed
from .reader import CHUNK

FIXED = {
    "arm": "Arm",
    "status": "Status",
    "best_reward": "Best reward",
    "best_step": "Best step",
    "reward": "Last reward",
    "steps": "Steps",
    "pulls": "Pulls",
    "failures": "Failures",
    "seconds": "Training time",
    "parents": "Parents",
    "checkpoint_bytes": "Checkpoint",
}
"""The columns that every study has, and their titles."""

MOST_ROWS = 500
"""The largest number of rows in one page."""

_KEPT = 5  # text filters that are kept for the next request
_LONGEST_TEXT = 200  # characters of a text filter
_event = events_table.c


@dataclass(frozen=True, slots=True)
class Query:
    """Which rows to return.

    Args:
        sort: Name of a column.
        descending: Whether the largest value comes first. Rows without a value are last in both orders.
        text: Words that the config must contain, or the id of an arm.
        status: The only status to return; "" means all.
        columns: Names of the columns to return.
        offset, limit: The first row, and the number of rows.
    """

    sort: str = "best_reward"
    descending: bool = True
    text: str = ""
    status: str = ""
    columns: tuple[str, ...] = tuple(FIXED)
    offset: int = 0
    limit: int = 100


class ArmTable:
    """The arms of a study as a table.

    Args:
        feed: The events of the study. Hold its lock while using the table.
    """

    def __init__(self, feed: StudyFeed) -> None:
        self._feed = feed
        self._filters: OrderedDict[str, _TextFilter] = OrderedDict()

    def columns(self) -> list[dict[str, str]]:
        """All columns: their names and titles."""
        arms = self._feed.columns
        fixed = [{"name": name, "title": title, "group": "arm"} for name, title in FIXED.items()]
        configs = [{"name": f"config:{name}", "title": name, "group": "config"} for name in arms.config_names]
        metrics = [{"name": f"metric:{name}", "title": name, "group": "metric"} for name in arms.metric_names]
        return fixed + configs + metrics

    def page(self, query: Query) -> dict[str, Any]:
        """The rows of a page, the number of rows that match the filters, and the number of all arms."""
        rows = self._order(query, self._matching(query))
        offset = max(0, min(query.offset, (len(rows) - 1) // query.limit * query.limit))  # the last page if rows are gone
        shown = [int(row) for row in rows[offset : offset + query.limit]]
        return {
            "total": len(self._feed.columns),
            "matching": len(rows),
            "offset": offset,
            "rows": self._cells(shown, query.columns),
        }

    def _matching(self, query: Query) -> NDArray[np.intp]:
        arms = self._feed.columns
        keep = np.ones(len(arms), dtype=bool)
        if query.status:
            keep &= arms.statuses() == STATUSES.index(query.status)
        for word in query.text[:_LONGEST_TEXT].split():
            keep &= self._filter(word).matches(self._feed)
        return np.flatnonzero(keep)

    def _filter(self, word: str) -> _TextFilter:
        """The filter for a word. Only the most recent ones are kept."""
        found = self._filters.pop(word, None) or _TextFilter(word)
        self._filters[word] = found
        while len(self._filters) > _KEPT:
            self._filters.popitem(last=False)
        return found

    def _order(self, query: Query, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        keys = self._keys(query.sort)[rows]
        missing = np.isnan(keys)
        order = np.lexsort((rows, np.where(missing, 0.0, -keys if query.descending else keys), missing))
        return rows[order]

    def _keys(self, name: str) -> NDArray[np.float64]:
        """A number for each arm by which a column is sorted; NaN if it has no value."""
        arms = self._feed.columns
        if name == "status":
            return arms.statuses().astype(float)
        if name == "parents":
            return np.array([min(parents, default=math.nan) for parents in arms.parents], dtype=float)
        if name.startswith("config:"):
            return _ranks([config.get(name.removeprefix("config:")) for config in arms.configs])
        return arms.numbers(name).astype(float)

    def _cells(self, rows: list[int], names: tuple[str, ...]) -> list[dict[str, Any]]:
        return [{"arm": self._cell("arm", row), "cells": [self._cell(name, row) for name in names]} for row in rows]

    def _cell(self, name: str, row: int) -> Any:
        arms = self._feed.columns
        if name == "status":
            return arms.status(row)
        if name == "parents":
            return list(arms.parents[row])
        if name.startswith("config:"):
            return arms.configs[row].get(name.removeprefix("config:"))
        return arms.value(name, row)


class _TextFilter:
    """Which arms contain a word in their config, looked up in the storage once for each arm.

    Args:
        word: The word.
    """

    def __init__(self, word: str) -> None:
        self._word = word
        self._columns: ArmColumns | None = None
        self._found: list[int] = []
        self._searched = 0

    def matches(self, feed: StudyFeed) -> NDArray[np.bool_]:
        """Whether each arm contains the word, or has it as its id."""
        if feed.columns is not self._columns:  # the study was replaced
            self._columns, self._found, self._searched = feed.columns, [], 0
        needle = json.dumps(self._word)[1:-1]  # as it is stored
        while self._searched < feed.events:
            stop = min(self._searched + CHUNK, feed.events)
            query = sa.select(_event.number).where(_event.kind == "asked", _event.data.icontains(needle, autoescape=True))
            rows = feed.select(query.where(_event.number >= self._searched, _event.number < stop))
            self._found += [row.number for row in rows]
            self._searched = stop
        keep = np.isin(feed.columns.numbers("asked"), self._found)
        if self._word.isdecimal():
            keep |= feed.columns.numbers("arm").astype(str) == self._word
        return np.asarray(keep, dtype=bool)


def _ranks(values: list[Any]) -> NDArray[np.float64]:
    """A number for each value that sorts like it: numbers first, then text; NaN if there is none."""
    if not any(isinstance(value, str) for value in values):
        return np.array(values, dtype=float)
    places = {value: place for place, value in enumerate(sorted({*values} - {None}, key=_sort_key))}
    return np.array([places.get(value, math.nan) for value in values], dtype=float)


def _sort_key(value: float | str) -> tuple[bool, float | str]:
    return isinstance(value, str), value
