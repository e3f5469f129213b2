"""Charts that fit a random forest, drawn in a process of their own, so that neither the page nor the search waits for them.

scikit-learn alone takes more memory than the events of a long study. It is freed when the process ends.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
from typing import Any

from ..plots import History
from .pace import DRAWING, give_way
from .svg_charts import svg_chart

NAMES = ("importance", "contour")
"""The charts that are drawn in this way."""

_TIMEOUT = 300.0  # seconds
_COMMAND = "from manyarms.dashboard.forest_charts import draw; draw()"
_one_at_a_time = threading.Lock()


def forest_chart(name: str, history: History) -> dict[str, Any]:
    """A chart as a plotly figure in JSON. If it cannot be drawn, the figure is empty, and its note says why."""
    command = [sys.executable, "-c", _COMMAND]
    given = pickle.dumps((name, history))  # only our own process reads it
    try:
        with _one_at_a_time:
            ended = subprocess.run(command, input=given, capture_output=True, timeout=_TIMEOUT, check=False)
        figure: dict[str, Any] = json.loads(ended.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return empty_figure("This chart could not be drawn.")
    return figure


def draw() -> None:
    """Read the name of a chart and a history from standard input, and write the figure to standard output."""
    give_way(DRAWING)
    name, history = pickle.load(sys.stdin.buffer)
    try:
        figure = svg_chart(name, history)
    except ImportError as error:
        figure = empty_figure(str(error))
    print(json.dumps(figure))


def empty_figure(note: str) -> dict[str, Any]:
    """A figure that shows nothing, and why."""
    return {"title": "", "note": note, "data": [], "layout": {}}
