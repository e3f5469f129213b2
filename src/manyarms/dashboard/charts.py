"""The charts of a study, described by `manyarms.plots` and kept until an event changes them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..journal.protocol import Event
from ..plots import CHARTS, History, plotly_json

TITLES = {
    "history": "Best reward",
    "curves": "Learning curves",
    "importance": "Importance of parameters",
    "slices": "Reward by parameter",
    "parallel_coordinates": "Parallel coordinates",
    "contour": "Two parameters",
    "rungs": "Steps of arms",
    "family": "Lineage",
    "timeline": "Timeline",
    "failures": "Failures",
}
"""Titles of charts that are known before they are drawn, in the order of the page."""

_WAITING = 1_000  # events that may wait for a chart that is being drawn
_REST = 10.0  # a chart that took a second is drawn again after ten seconds at the earliest


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart as a plotly figure in JSON, the number of events in it, and when and how long it was drawn."""

    figure: dict[str, Any]
    events: int
    ended: float
    seconds: float


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

    @property
    def titles(self) -> dict[str, str]:
        """The titles of the charts, by name."""
        order = [*TITLES, *CHARTS]
        return {name: TITLES.get(name, name.replace("_", " ").capitalize()) for name in order if name in CHARTS}

    def add(self, event: Event) -> None:
        """Add the next event."""
        self._added.append(event)
        if len(self._added) >= _WAITING and self._lock.acquire(blocking=False):
            try:
                self._take()
            finally:
                self._lock.release()

    def figure(self, name: str) -> Drawn | None:
        """A chart; None if there is no chart with this name. One that takes long to draw may be a few seconds old."""
        if name not in CHARTS:
            return None
        with self._lock:
            self._take()
            known, now = self._drawn.get(name), self._clock()
            if known is None or (known.events != self._history.events and now - known.ended >= _REST * known.seconds):
                figure = plotly_json(CHARTS[name](self._history))
                known = self._drawn[name] = Drawn(figure, self._history.events, self._clock(), self._clock() - now)
            return known

    def _take(self) -> None:
        """Add the events that were waiting."""
        while self._added:
            self._history.add(self._added.popleft())
