"""The studies of a storage: the list, and those that are open in a browser."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..errors import StudyNotFound
from ..study.recommendation import stored_recommendation
from . import json_values
from .arm import arm_details, configs_of
from .arms import ArmTable, Query
from .charts import is_drawn_by_server, strategy_titles
from .failures import failure_groups
from .feed import StudyFeed
from .network import NetworkDrawing, network_drawing
from .overview import Overview, Overviews
from .reader import StorageReader, Unreadable
from .strategy_charts import CUSTOM, titles

_MOST_OPEN = 4  # studies in memory, except those that are being watched
_WATCHED = 30.0  # seconds since it was last asked for, in which a study counts as being watched
_SETTINGS = 100  # settings of a strategy that are shown

CANNOT_READ = "The storage cannot be read at the moment."
"""Shown while the storage is gone. The page tries again by itself."""


class OpenStudy:
    """A study that is open in a browser: its events, and its table of arms."""

    def __init__(self, feed: StudyFeed) -> None:
        self.feed, self.table = feed, ArmTable(feed)
        self.used = 0.0  # time of the clock


class Studies:
    """Answers the questions of the page. Can be used by several threads.

    Args:
        storage: The file or URL of the storage.
        clock: Returns the time in seconds.
    """

    def __init__(self, storage: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.reader = StorageReader(storage)
        self._storage, self._clock = storage, clock
        self._overviews = Overviews(self.reader, clock)
        self._open: OrderedDict[int, OpenStudy] = OrderedDict()
        self._lock = threading.Lock()

    def list(self) -> dict[str, Any]:
        """All studies, newest first."""
        self._overviews.refresh()
        rows = [overview.as_json(self.reader) for overview in self._overviews.all()]
        return {"storage": self.reader.shown, "complete": self._overviews.is_complete, "studies": rows}

    def study(self, number: int) -> dict[str, Any]:
        """The facts and totals of one study, from counts that the database makes, so that they are there at once."""
        overview = self._overview(number)
        feed, knows = self._opened(overview).feed, titles(overview.header)
        return {
            **study_facts(overview, feed, self.reader),
            "charts": feed.charts.titles,
            "strategy_charts": knows | strategy_titles(overview.header),
            "strategy_note": "" if knows else CUSTOM,
        }

    def arms(self, number: int, query: Query) -> dict[str, Any]:
        """A page of the table of arms."""
        study = self._fresh(number)
        with study.feed.lock:
            return {**_progress(study.feed), "columns": study.table.columns(), **study.table.page(query)}

    def column_names(self, number: int) -> set[str]:
        """The names of the columns of the table of arms."""
        study = self._fresh(number)
        with study.feed.lock:
            return {column["name"] for column in study.table.columns()}

    def arm(self, number: int, arm: int) -> dict[str, Any] | None:
        """One arm; None if it is not known."""
        study = self._fresh(number)
        with study.feed.lock:
            found = arm_details(study.feed, arm)
            return None if found is None else {**_progress(study.feed), **found}

    def network(self, number: int, arm: int) -> NetworkDrawing | None:
        """The drawing of the network of an arm; None if it is not known, or is not a network."""
        feed = self._fresh(number).feed
        with feed.lock:
            configs = configs_of(feed, arm)
        return network_drawing(feed.header, *configs)

    def failures(self, number: int) -> dict[str, Any]:
        """The failures of a study, by reason."""
        study = self._fresh(number)
        with study.feed.lock:
            return {**_progress(study.feed), **failure_groups(study.feed)}

    def chart(self, number: int, name: str, known: str = "") -> dict[str, Any] | None:
        """A chart as a plotly figure, and how long it kept the server busy; None if there is no such chart.

        Args:
            number: Number of the study.
            name: Name of the chart.
            known: The version that the page shows. If it is the newest one, the figure is left out.
        """
        feed = self._fresh(number).feed
        found = feed.charts.figure(name, feed.is_complete) or feed.strategy.figure(name, feed.length)
        if found is None:
            return None
        answer = {**_progress(feed), "drawn": found.events, "version": f"{found.events}-{found.ended}"}
        if answer["version"] == known:
            return answer | {"figure": None, "seconds": 0.0}
        return answer | {"figure": found.figure, "seconds": found.seconds if is_drawn_by_server(name) else 0.0}

    def changes(self) -> dict[str, Any]:
        """A message that differs from the last one if the list of studies has changed."""
        try:
            listed = self.list()
        except (Unreadable, StudyNotFound) as error:
            return {"problem": CANNOT_READ, "detail": str(error)}
        states = [[row["number"], row["counted"], row["state"]] for row in listed["studies"]]
        return {"complete": listed["complete"], "version": hash(str(states))}

    def study_changes(self, number: int) -> dict[str, Any]:
        """A message that differs from the last one if a study has changed."""
        try:
            overview, study = self._overview(number), self._fresh(number)
        except (Unreadable, StudyNotFound) as error:
            return {"problem": CANNOT_READ, "detail": str(error)}
        return {**_progress(study.feed), "state": overview.state(self.reader), "complete": study.feed.is_complete}

    def rest(self, number: int | None) -> None:
        """Keep no session on a server for a study, or for the list, because nobody watches it. What was read is kept."""
        with self._lock:
            study = None if number is None else self._open.get(number)
        if study is not None:
            study.feed.rest()
        self.reader.close()

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            for study in self._open.values():
                study.feed.close()
            self._open.clear()
        self.reader.close()

    def _overview(self, number: int) -> Overview:
        self._overviews.refresh(only=number)
        overview = self._overviews.get(number)
        if overview is None:
            raise StudyNotFound(f"there is no study with number {number}")
        return overview

    def _fresh(self, number: int) -> OpenStudy:
        """An open study with the newest events."""
        with self._lock:
            study = self._open.get(number)
            if study is not None:
                self._use(study)
        if study is None:
            study = self._opened(self._overview(number))
        study.feed.refresh()
        return study

    def _opened(self, overview: Overview) -> OpenStudy:
        """An open study. If too many are open, the one that was not used for the longest time is closed."""
        number, name = overview.head.number, overview.head.name
        with self._lock:
            study = self._open.pop(number, None)
            if study is None or study.feed.name != name:
                study = OpenStudy(StudyFeed(self._storage, name, number, self._clock))
            self._open[number] = study
            self._use(study)
            while len(self._open) > _MOST_OPEN and self._clock() - next(iter(self._open.values())).used > _WATCHED:
                self._open.popitem(last=False)[1].feed.close()
            return study

    def _use(self, study: OpenStudy) -> None:
        study.used = self._clock()
        self._open.move_to_end(study.feed.number)


def study_facts(overview: Overview, feed: StudyFeed, reader: StorageReader) -> dict[str, Any]:
    """The facts and totals of a study, its settings and its recommendation."""
    settings = overview.header.get("settings")
    shown = settings.items() if isinstance(settings, dict) else ()
    return {
        **overview.as_json(reader),
        "storage": reader.shown,
        "settings": {json_values.name(name): json_values.cell(value) for name, value in list(shown)[:_SETTINGS]},
        "recommended": _recommended(overview, feed),
    }


def _recommended(overview: Overview, feed: StudyFeed) -> dict[str, Any] | None:
    """The recommendation that the study stored; None if there is none yet."""
    saved = feed.recommendation()
    found = None if saved is None else stored_recommendation(saved[1])
    if saved is None or found is None:
        return None
    is_newest = saved[0] == overview.head.events
    return {"arm": found.arm, "step": found.step, "reward": found.reward, "by_mean": found.by_mean, "is_newest": is_newest}


def _progress(feed: StudyFeed) -> dict[str, Any]:
    """How many events are known, of how many."""
    return {"events": feed.events, "length": feed.length}
