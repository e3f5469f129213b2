"""What a report shows, read from the storage in the same way as the dashboard reads it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from ..dashboard.arm import arm_details
from ..dashboard.arms import ArmTable, Query
from ..dashboard.charts import strategy_titles
from ..dashboard.columns import ArmColumns
from ..dashboard.failures import failure_groups
from ..dashboard.feed import StudyFeed
from ..dashboard.overview import Overview, Overviews
from ..dashboard.reader import StorageReader
from ..dashboard.strategy_charts import described, titles
from ..dashboard.studies import study_facts
from ..errors import StudyNotFound
from ..plots import Chart, History, charts
from ..plots.chart import empty_chart
from ..plots.charts.importance import FEWEST_ARMS
from ..plots.parameters import Forest

MOST_ROWS = 1_000
"""Rows of the table of arms."""

_FIXED = ("arm", "status", "best_reward", "best_step", "reward", "steps", "pulls", "failures", "seconds", "parents")
_MOST_CONFIG, _MOST_METRICS = 20, 10  # columns
_MOST_ANCESTORS = 30
_MOST_FITTED = 1_000  # arms
_MOST_REPLAYED = 5_000  # events: the scores of a longer study would take too long to compute


@dataclass(frozen=True, slots=True)
class Content:
    """Everything that a report shows.

    Args:
        facts: The facts and totals of the study, as the dashboard shows them.
        columns: The columns of the table of arms: name, title and group.
        hidden_columns: Number of columns that are left out.
        rows: The best arms: each with its id and its cells.
        total: Number of all arms.
        best: The recommended arm, as the dashboard shows it; None if there is no reward yet.
        lineage: The ids and best rewards of the ancestors of this arm, the oldest first, and of the arm itself.
        failures: The failures by reason.
        charts: The charts by name, in the order of the page.
        written: When the storage was read, in seconds since 1970.
    """

    facts: dict[str, Any]
    columns: list[dict[str, str]]
    hidden_columns: int
    rows: list[dict[str, Any]]
    total: int
    best: dict[str, Any] | None
    lineage: list[tuple[int, float | None]]
    failures: dict[str, Any]
    charts: dict[str, Chart]
    written: float


def read_content(storage: str, name: str) -> Content:
    """Read a study.

    Args:
        storage: The file or URL of the storage.
        name: Name of the study.
    """
    with closing(StorageReader(storage)) as reader:
        overview = _overview(reader, name)
        with closing(StudyFeed(storage, name, overview.head.number)) as feed:
            feed.refresh(math.inf)
            return _content(storage, reader, overview, feed)


def _overview(reader: StorageReader, name: str) -> Overview:
    """The counts of the study."""
    number = next((head.number for head in reader.studies() if head.name == name), None)
    overviews = Overviews(reader)
    overviews.refresh(math.inf, only=number)
    overview = None if number is None else overviews.get(number)
    if overview is None:
        raise StudyNotFound(f"there is no study {name!r}")
    return overview


def _content(storage: str, reader: StorageReader, overview: Overview, feed: StudyFeed) -> Content:
    facts, table = study_facts(overview, feed, reader), ArmTable(feed)
    columns, hidden = _columns(table)
    names = tuple(column["name"] for column in columns)
    page = table.page(Query(descending=feed.header.get("direction") != "minimize", columns=names, limit=MOST_ROWS))
    chosen = _best_arm(facts["recommended"], page["rows"], feed.columns)
    return Content(
        facts=facts,
        columns=columns,
        hidden_columns=hidden,
        rows=page["rows"],
        total=page["total"],
        best=None if chosen is None else arm_details(feed, chosen),
        lineage=[] if chosen is None else _lineage(feed.columns, chosen),
        failures=failure_groups(feed),
        charts=dict(_charts(storage, feed.name, feed.charts.history())),
        written=time.time(),
    )


def _columns(table: ArmTable) -> tuple[list[dict[str, str]], int]:
    """The columns of the table, and how many are left out."""
    by_group: dict[str, list[dict[str, str]]] = {"arm": [], "config": [], "metric": []}
    for column in table.columns():
        by_group[column["group"]].append(column)
    fixed = [column for column in by_group["arm"] if column["name"] in _FIXED]
    shown = [*fixed, *by_group["config"][:_MOST_CONFIG], *by_group["metric"][:_MOST_METRICS]]
    return shown, len(by_group["config"][_MOST_CONFIG:]) + len(by_group["metric"][_MOST_METRICS:])


def _best_arm(recommended: dict[str, Any] | None, rows: list[dict[str, Any]], arms: ArmColumns) -> int | None:
    """The recommended arm, or the one with the best reward; None if there is none."""
    if recommended is not None and recommended["arm"] in arms.row_of:
        return int(recommended["arm"])
    first = rows[0]["arm"] if rows else None
    return first if first is not None and arms.value("best_reward", arms.row_of[first]) is not None else None


def _lineage(arms: ArmColumns, arm: int) -> list[tuple[int, float | None]]:
    """An arm and the arms that it was made from, by their first parents, the oldest first."""
    found: dict[int, float | None] = {}
    while arm in arms.row_of and arm not in found and len(found) < _MOST_ANCESTORS:
        row = arms.row_of[arm]
        found[arm] = arms.value("best_reward", row)
        if not arms.parents[row]:
            break
        arm = arms.parents[row][0]
    return list(found.items())[::-1]


def _charts(storage: str, name: str, history: History) -> Iterator[tuple[str, Chart]]:
    """All charts, in the order of the page."""
    yield "best-by-steps", charts.best_reward(history)
    yield "best-by-time", charts.best_over_time(history)
    yield "curves", charts.curves(history)
    yield from _forest_charts(history)
    yield "slices", charts.slices(history)
    yield "parallel", charts.parallel_coordinates(history)
    yield "rungs", charts.rungs(history)
    yield "decisions", charts.decisions(history)
    if "algorithms" in strategy_titles(history.header):
        yield "algorithms", charts.algorithms(history)
    yield from _strategy_charts(storage, name, history.header, history.events)
    yield "family", charts.family(history)
    yield "timeline", charts.timeline(history)


def _forest_charts(history: History) -> Iterator[tuple[str, Chart]]:
    """The charts that need a random forest. It is fitted once."""
    try:
        forest = Forest(history, _MOST_FITTED) if len(history.ranking()) >= FEWEST_ARMS else None
    except ImportError as error:
        yield "importance", empty_chart("Parameter importance", str(error))
        return
    yield "importance", charts.importance(history, forest)
    yield "contour", charts.contour(history, forest=forest)


def _strategy_charts(storage: str, name: str, header: Mapping[str, Any], events: int) -> Iterator[tuple[str, Chart]]:
    """What the strategy knows, after replaying the study."""
    names = titles(header)
    if events > _MOST_REPLAYED:
        note = f"Not computed for a study with more than {_MOST_REPLAYED:,} events. The dashboard shows it."
        yield from ((chart, empty_chart(title, note)) for chart, title in names.items())
        return
    try:
        found = described(storage, name, names)
    except Exception:  # a study from someone else may describe a strategy that makes no sense
        note = "The state of the strategy could not be rebuilt."
        found = events, {chart: empty_chart(title, note) for chart, title in names.items()}
    yield from found[1].items() if found is not None else ()
