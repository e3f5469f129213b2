"""Charts as plotly figures without WebGL, for which plotly compiles code while it runs. The page does not allow that."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np

from ..plots import CHARTS, Chart, History, plotly_json
from ..plots.chart import Dimension
from ..plots.charts import best_over_time
from ..plots.history import Floats
from ..plots.parallel import BELOW, heights, labels, shades_of
from ..safe_text import safe_text

_SHADES = 12  # different colors of lines
_GRAY = "#8a96a3"

PAGE_CHARTS: dict[str, Callable[..., Chart]] = {**CHARTS, "best_over_time": best_over_time}
"""The charts of the page, by name."""


def svg_chart(name: str, history: History) -> dict[str, Any]:
    """A chart by name, as a plotly figure in JSON."""
    return without_webgl(PAGE_CHARTS[name](history))


def without_webgl(chart: Chart) -> dict[str, Any]:
    """The chart as JSON: its title, its note, and plotly's data and layout."""
    figure = plotly_json(chart)
    if chart.dimensions:
        return figure | _parallel(chart.dimensions)
    for trace in figure["data"]:
        trace["type"] = {"scattergl": "scatter"}.get(trace["type"], trace["type"])
    return figure


def _parallel(dimensions: tuple[Dimension, ...]) -> dict[str, Any]:
    """Parallel coordinates: a line for each arm, and a vertical axis for each dimension. The last one sets the colors."""
    from plotly.colors import sample_colorscale  # here: a report reads studies by this package, and does not need plotly

    crossings = np.array([heights(dimension) for dimension in dimensions])[:, ::-1]  # the best arms are drawn last
    shades = shades_of(dimensions[-1], _SHADES)[::-1]
    colors = sample_colorscale("Viridis", np.linspace(0.25, 1, _SHADES).tolist())
    traces = [_lines(crossings[:, shades == place], color) for place, color in enumerate(colors) if np.any(shades == place)]
    hidden = {"visible": False, "fixedrange": True}
    layout = {
        "height": 420,
        "margin": {"l": 40, "r": 60, "t": 50, "b": 16},
        "showlegend": False,
        "hovermode": False,
        "xaxis": {**hidden, "range": [-0.1, len(dimensions) - 0.9]},
        "yaxis": {**hidden, "range": [BELOW - 0.03, 1.03]},
        "shapes": [_axis(place) for place in range(len(dimensions))],
        "annotations": [label for place, dimension in enumerate(dimensions) for label in _labels(place, dimension)],
    }
    return {"data": traces, "layout": layout}


def _lines(heights: Floats, color: str) -> dict[str, Any]:
    """One trace for all arms of a color, with a gap after each arm."""
    places, arms = heights.shape
    x = [*range(places), None] * arms
    y = [value for arm in heights.T.tolist() for value in (*arm, None)]
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": {"color": color, "width": 1}, "opacity": 0.5}


def _axis(place: int) -> dict[str, Any]:
    return {"type": "line", "x0": place, "x1": place, "y0": 0, "y1": 1, "line": {"color": _GRAY, "width": 1}}


def _labels(place: int, dimension: Dimension) -> list[dict[str, Any]]:
    """The title and the ticks of an axis, as text in which plotly finds no tags."""
    title = {**_text(place, 1, dimension.axis.title), "yshift": 16, "yanchor": "bottom", "textangle": -12}
    return [
        title,
        *({**_text(place, height, text), "xanchor": "left", "xshift": 3} for height, text in labels(dimension).items()),
    ]


def _text(x: float, y: float, text: str) -> dict[str, Any]:
    return {"x": x, "y": y, "text": escape(safe_text(text), quote=False), "showarrow": False, "font": {"size": 11}}
