"""The charts of a study, described by `manyarms.plots` and cached until an event changes them."""

from __future__ import annotations

import threading
import time
from array import array
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..journal.protocol import Event
from ..plots import History
from ..plots.charts.importance import FEWEST_ARMS
from .forest_charts import NAMES as FOREST_CHARTS
from .forest_charts import empty_figure, forest_chart
from .pace import rest_after
from .svg_charts import PAGE_CHARTS, svg_chart

TITLES = {
    "history": "Best reward over steps",
    "best_over_time": "Best reward over time",
    "curves": "Learning curves",
    "importance": "Parameter importance",
    "contour": "Predicted reward by two parameters",
    "slices": "Reward by parameter",
    "parallel_coordinates": "Parallel coordinates",
    "rungs": "How far arms were trained",
    "family": "Family tree",
    "failures": "Failures by reason",
    "timeline": "Worker timeline",
}
"""Titles of charts that are known before they are drawn, in the order of the page."""

STRATEGY_TITLES = {"decisions": "Kinds of pulls", "algorithms": "Pulls by algorithm"}
"""Titles of the charts that are shown with the strategy instead."""

DRAWING = "This chart is being drawn."
"""The note in place of a chart that needs a random forest, until it is drawn."""

_WAITING = 1_000  # events that may wait for a chart that is being drawn


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart as a plotly figure in JSON, with the number of events in it, when it was drawn, and how long that took.

    Args:
        figure: The figure.
        events: Number of events that it shows.
        ended: Time of the clock when it was finished.
        seconds: How long it took to draw it.
        complete: Whether it shows all events that existed at that time.
    """

    figure: dict[str, Any]
    events: int
    ended: float
    seconds: float
    complete: bool = True

    def is_recent(self, events: int, complete: bool, now: float) -> bool:
        """Whether it is recent enough. Once all events have been read, it is drawn again at once.

        Args:
            events: Number of events that it could show.
            complete: Whether these are all events.
            now: Time of the clock.
        """
        if self.events >= events:
            return True
        return self.complete >= complete and now - self.ended < rest_after(self.seconds)


def copied(history: History) -> History:
    """A copy that does not change when events are added to the original."""
    copy = History(history.header)
    for name, value in vars(history).items():
        setattr(copy, name, _copied(value))
    return copy


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return type(value)({key: part[:] if isinstance(part, array) else part for key, part in value.items()})
    return value[:] if isinstance(value, list | array) else value


def strategy_titles(header: Mapping[str, Any]) -> dict[str, str]:
    """The titles of the charts that show what the strategy of a study did, by name."""
    space = header.get("space")
    has_algorithms = isinstance(space, dict) and "joint" in space
    return {name: title for name, title in STRATEGY_TITLES.items() if name != "algorithms" or has_algorithms}


def is_drawn_by_server(name: str) -> bool:
    """Whether a chart is drawn by the server itself, not in a separate process."""
    return name in PAGE_CHARTS and name not in FOREST_CHARTS


class Charts:
    """The charts of a study. Can be used by several threads. Adding events does not wait for a chart that is being drawn.

    Args:
        header: Header of the study.
        clock: Returns the time in seconds.
    """

    def __init__(self, header: Mapping[str, Any], clock: Callable[[], float] = time.monotonic) -> None:
        self._history, self._clock = History(header), clock
        self._added: deque[Event] = deque()
        self._drawn: dict[str, Drawn] = {}
        self._lock = threading.Lock()
        self._drawing = {name: threading.Lock() for name in PAGE_CHARTS}

    @property
    def titles(self) -> dict[str, str]:
        """The titles of the charts, by name."""
        order = [*TITLES, *PAGE_CHARTS]
        shown = [name for name in order if name in PAGE_CHARTS and name not in STRATEGY_TITLES]
        return {name: TITLES.get(name, name.replace("_", " ").capitalize()) for name in shown}

    def add(self, event: Event) -> None:
        """Add the next event."""
        self._added.append(event)
        if len(self._added) >= _WAITING and self._lock.acquire(blocking=False):
            try:
                self._take()
            finally:
                self._lock.release()

    def figure(self, name: str, complete: bool = True) -> Drawn | None:
        """A chart; None if there is no chart with this name. A chart that is slow to draw may be out of date.

        Charts that need a random forest are drawn in the background, so that others need not wait for them.

        Args:
            name: Name of the chart.
            complete: Whether all events were added. Charts that need a random forest are not drawn before that.
        """
        if name not in PAGE_CHARTS:
            return None
        known, lock = self._drawn.get(name), self._drawing[name]
        if known is not None and known.is_recent(self.events, complete, self._clock()):
            return known
        if name in FOREST_CHARTS:
            if complete and not lock.locked():
                threading.Thread(target=self._draw, args=(name, complete), daemon=True).start()
            return known or Drawn(empty_figure(DRAWING), -1, 0.0, 0.0, complete=False)
        if known is not None and lock.locked():
            return known  # another thread is drawing it again
        return self._draw(name, complete)

    def history(self) -> History:
        """The history of the study as it is now."""
        with self._lock:
            self._take()
            return copied(self._history)

    @property
    def events(self) -> int:
        """Number of events that were added."""
        return self._history.events + len(self._added)

    def _draw(self, name: str, complete: bool) -> Drawn:
        """Draw a chart, unless another thread has just done so."""
        with self._drawing[name]:
            known, began = self._drawn.get(name), self._clock()
            if known is not None and known.is_recent(self.events, complete, began):
                return known
            history = self.history()  # a chart may take seconds, and others need not wait for it
            needs_forest = name in FOREST_CHARTS and len(history.ranking()) >= FEWEST_ARMS
            figure = forest_chart(name, history) if needs_forest else svg_chart(name, history)
            ended = self._clock()
            drawn = self._drawn[name] = Drawn(figure, history.events, ended, ended - began, complete)
            return drawn

    def _take(self) -> None:
        """Add the events that were waiting."""
        while self._added:
            self._history.add(self._added.popleft())
