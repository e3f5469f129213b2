"""Charts of what a strategy knows, drawn in a process of their own that rebuilds the strategy from the journal.

That may take a minute, and the state of a long study takes much memory. Nothing of it stays in the server.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

from .. import strategies
from ..errors import ManyarmsError
from ..journal.header import stored_header
from ..journal.sql import SqlJournal
from ..plots import STRATEGY_CHARTS, Chart, History, strategy_chart
from ..plots.charts import latest_pulls
from ..plots.charts.latest_pulls import MOST_PULLS
from ..safe_text import safe_text
from ..study.header import restored_strategy
from ..study.replay import StudyState
from .charts import Drawn
from .forest_charts import empty_figure
from .network import network_space
from .pace import DRAWING, give_way
from .svg_charts import without_webgl

TITLES = {
    "scores": "Value and exploration bonus",
    "latest_pulls": "Latest pulls",
    "predictions": "Predicted and measured rewards",
    "posteriors": "Posteriors of the leading arms",
    "boxes": "Partition of the space",
}
"""Titles of the charts, in the order of the page."""

REBUILDING = "The state of the strategy is being rebuilt from the journal."
CUSTOM = (
    "This strategy, or part of it, is not built into manyarms. The dashboard does not run custom code, so it shows only what "
    "the journal contains."
)

_TIMEOUT = 600.0  # seconds
_MOST_MEMORY = 4 * 2**30  # bytes of addresses; a study from someone else may ask for any amount
_COMMAND = "from manyarms.dashboard.strategy_charts import draw; draw()"
_one_at_a_time = threading.Lock()


def titles(header: Mapping[str, Any]) -> dict[str, str]:
    """The titles of the charts that the strategy of a study has, by name; none if the strategy is custom."""
    name = header.get("strategy")
    kind = getattr(strategies, name, None) if isinstance(name, str) and name in strategies.__all__ else None
    return {} if kind is None else {name: title for name, title in TITLES.items() if _has(kind, name)}


def _has(kind: Any, name: str) -> bool:
    return name == "latest_pulls" or hasattr(kind, name)


class StrategyCharts:
    """The charts of a strategy. They are drawn in the background, and are kept until it is worth drawing them again.

    Args:
        url: The URL of the storage.
        name: Name of the study.
        header: Its header.
        clock: Returns the time in seconds.
    """

    def __init__(self, url: str, name: str, header: Mapping[str, Any], clock: Callable[[], float] = time.monotonic) -> None:
        self.titles = titles(header)
        self._request = json.dumps({"url": url, "name": name, "charts": list(self.titles)})
        self._clock = clock
        self._drawn: Drawn | None = None  # its figure holds the figures by name
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[str] | None = None

    def figure(self, name: str, events: int) -> Drawn | None:
        """A chart; None if there is no chart with this name. It never waits: the newest chart may come with a later call.

        Args:
            name: Name of the chart.
            events: Number of events in the storage.
        """
        if name not in self.titles:
            return None
        with self._lock:
            known = self._drawn
            if self._thread is None and (known is None or not known.is_recent(events, True, self._clock())):
                self._thread = threading.Thread(target=self._draw, args=(events,), daemon=True)
                self._thread.start()
        if known is None:
            return Drawn(empty_figure(REBUILDING), -1, 0.0, 0.0)
        return replace(known, figure=known.figure[name])

    def close(self) -> None:
        """End a process that draws. The next call of `figure` starts another one."""
        with self._lock:
            if self._process is not None:
                self._process.kill()

    def _draw(self, events: int) -> None:
        try:
            with _one_at_a_time:
                began = self._clock()
                found = self._answer()
            figures = found.get("figures") or dict.fromkeys(self.titles, empty_figure(found["note"]))
            self._drawn = Drawn(figures, found.get("events", events), self._clock(), self._clock() - began)
        finally:
            self._thread = None

    def _answer(self) -> dict[str, Any]:
        """What the process wrote, or a note that says why it wrote nothing."""
        try:
            with self._lock:
                pipe = subprocess.PIPE
                command = [sys.executable, "-c", _COMMAND]
                self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
            answer: dict[str, Any] = json.loads(self._process.communicate(self._request, timeout=_TIMEOUT)[0])
            return answer
        except subprocess.TimeoutExpired:
            return {"note": f"The state of the strategy could not be rebuilt in {_TIMEOUT / 60:.0f} minutes."}
        except (OSError, ValueError):
            return {"note": "The state of the strategy could not be rebuilt."}
        finally:
            self._end()

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def draw() -> None:
    """Read from standard input what to draw, and write the figures to standard output."""
    give_way(DRAWING)
    _limit_memory()
    request = json.load(sys.stdin)
    try:
        answer = figures(request["url"], request["name"], request["charts"])
    except ManyarmsError as error:
        answer = {"note": f"The state of the strategy could not be rebuilt: {safe_text(error)[:300]}"}
    print(json.dumps(answer))


def _limit_memory() -> None:
    """Let this process fail if it asks for too much memory."""
    if sys.platform != "win32":  # which has no such limits
        import resource

        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))


def figures(url: str, name: str, charts: list[str]) -> dict[str, Any]:
    """The figures by name, and the number of events that they show; or a note that says why there are none.

    Args:
        url: The URL of the storage, which is only read.
        name: Name of the study.
        charts: The names of the charts.
    """
    found = described(url, name, charts)
    if found is None:
        return {"note": CUSTOM}
    events, drawn = found
    return {"events": events, "figures": {chart: without_webgl(drawn[chart]) for chart in charts}}


def described(url: str, name: str, charts: Collection[str]) -> tuple[int, dict[str, Chart]] | None:
    """The number of events and the charts by name, after a replay of the study; None if the strategy is custom."""
    with closing(SqlJournal(url, name, write=False)) as journal:
        header = stored_header(journal) or {}
        strategy = restored_strategy(header, network_space(header))
        if strategy is None:
            return None
        state = StudyState.of(strategy, header)
        state.replay(journal)
        tail, events = History(header), state.counts.events
        for event in journal.events(max(0, events - 4 * MOST_PULLS)):
            tail.add(event)
    found = {chart: strategy_chart(chart, state.strategy, header) for chart in charts if chart in STRATEGY_CHARTS}
    if "latest_pulls" in charts:
        found["latest_pulls"] = latest_pulls(tail, getattr(state.strategy, "trained_to_completion", ()))
    return events, found
