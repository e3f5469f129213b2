"""Draws charts with plotly."""

from __future__ import annotations

import datetime
import textwrap
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..safe_text import safe_text
from .chart import MISSING, Axis, Bars, Chart, Dimension, Layer, Line, Surface
from .history import Floats
from .scales import scale_of, values_along

if TYPE_CHECKING:
    import plotly.graph_objects as go

_COLUMNS = 3
_HEIGHT, _ROW_HEIGHT = 420, 260
_LINE = 95  # characters
_BASELINE = 24  # pixels from the top to the base of the first line of the title
_MANY = 2_000  # points that plotly draws faster with WebGL
_COLORS = "Viridis"  # looks the same to color-blind readers, and in print
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"


def plotly_figure(chart: Chart) -> go.Figure:
    """The chart as a plotly figure."""
    try:
        import plotly.graph_objects as go
    except ImportError:
        raise ImportError('plots need plotly: pip install "manyarms[plots]", or pass backend="matplotlib"') from None
    data, layout = _described(chart)
    title = {"text": _title(chart), "x": 0, "xref": "paper", "yref": "container", "y": 1, "yanchor": "bottom"}
    title["pad"] = {"b": -_BASELINE}  # anchored at the top, a title with a note would be cut off
    return go.Figure(data, layout | {"title": title, "template": "plotly_white"})


def plotly_json(chart: Chart) -> dict[str, Any]:
    """The chart as JSON for a web page: its title and note, and plotly's data and layout, without them and without colors.

    It does not need plotly, whose checks of each value would take longer than everything else.
    """
    data, layout = _described(replace(chart, title="", note=""))
    return {"title": safe_text(chart.title), "note": safe_text(chart.note), "data": _as_json(data), "layout": _as_json(layout)}


def _described(chart: Chart) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Plotly's data and layout, in which numbers are arrays."""
    data, axes = ([_parallel(chart.dimensions)], {}) if chart.dimensions else _panels(chart)
    layout = {
        "height": chart.height or _height(chart),
        "font": {"family": _FONT, "size": 13},
        "margin": {"l": 60, "r": 20, "t": 46 + 17 * len(_lines(chart.note)) + (50 if chart.dimensions else 0), "b": 80},
        "legend": {"orientation": "h", "yref": "container", "yanchor": "bottom", "y": 0, "xanchor": "right", "x": 1},
        "barmode": "overlay",
        "hovermode": "closest",
    }
    return data, axes | layout


def _as_json(value: Any) -> Any:
    """Arrays as plotly reads them: the type of the numbers, and their bytes as text. That is short, and NaN stays NaN."""
    if isinstance(value, dict):
        return {name: _as_json(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        numbers = np.ascontiguousarray(value, dtype="<f8")
        shape = {} if numbers.ndim == 1 else {"shape": ", ".join(map(str, numbers.shape))}
        return {"dtype": "f8", "bdata": b64encode(numbers.tobytes()).decode(), **shape}
    return [_as_json(part) for part in value] if isinstance(value, list) and value and isinstance(value[0], dict) else value


def _title(chart: Chart) -> str:
    lines = "".join(f"<br><span style='font-size:12px;color:#777'>{_text(line)}</span>" for line in _lines(chart.note))
    return f"<b>{_text(chart.title)}</b>{lines}"


def _lines(note: str) -> list[str]:
    """The note in lines that fit below the title."""
    return textwrap.wrap(note, _LINE)


def _height(chart: Chart) -> int:
    rows = -(-len(chart.panels) // _COLUMNS)
    return _HEIGHT if rows <= 1 else 90 + _ROW_HEIGHT * rows


def _text(text: str) -> str:
    """Text in which plotly finds no tags. What stands there may come from somebody else."""
    return escape(safe_text(text), quote=False)


def _panels(chart: Chart) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The traces of all panels, and their axes by name."""
    columns = min(len(chart.panels), _COLUMNS)
    rows = -(-len(chart.panels) // columns)
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    for place, panel in enumerate(chart.panels):
        number = "" if place == 0 else str(place + 1)
        shared = place % columns > 0 and panel.y == chart.panels[place - 1].y
        up = replace(panel.y, title="") if shared else panel.y
        domains = _domain(place % columns, columns, 0.12), _domain(rows - 1 - place // columns, rows, 0.3)
        axes[f"xaxis{number}"] = {**_axis(panel.x, panel.layers, "x"), "anchor": f"y{number}", "domain": domains[0]}
        axes[f"yaxis{number}"] = {**_axis(up, panel.layers, "y"), "anchor": f"x{number}", "domain": domains[1]}
        for layer in panel.layers:
            data.append({**_trace(layer, first=place == 0, x=panel.x), "xaxis": f"x{number}", "yaxis": f"y{number}"})
    return data, axes


def _domain(place: int, places: int, gaps: float) -> list[float]:
    """Where one of several panels in a row begins and ends, from 0 to 1.

    >>> _domain(0, 1, 0.2), _domain(1, 2, 0.2)
    ([0.0, 1.0], [0.55, 1.0])
    """
    gap = gaps / places
    size = (1 - gap * (places - 1)) / places
    return [round(place * (size + gap), 6), round(place * (size + gap) + size, 6)]


def _axis(axis: Axis, layers: Sequence[Layer], direction: str) -> dict[str, Any]:
    settings: dict[str, Any] = {"automargin": True}
    if axis.title:
        settings["title"] = {"text": _text(axis.title)}
    if axis.hidden:
        settings |= {"showticklabels": False, "showgrid": False, "zeroline": False}
    if axis.log:
        settings["type"] = "log"
    if axis.whole and scale_of(axis, values_along(layers, direction), 0, 1, 0.0).is_short:
        settings |= {"tick0": 0, "dtick": 1}  # otherwise plotly finds whole numbers by itself
    if axis.is_date:
        settings["type"] = "date"
    if axis.categories is not None:
        settings |= {
            "tickmode": "array",
            "tickvals": list(range(len(axis.categories))),
            "ticktext": [_text(label) for label in axis.categories],
            "range": [-0.6, len(axis.categories) - 0.4],
        }
    if axis.reverse:
        settings |= {"range": settings["range"][::-1]} if "range" in settings else {"autorange": "reversed"}
    return settings


def _trace(layer: Layer, first: bool, x: Axis) -> dict[str, Any]:
    """The trace of a layer. Only the first panel has a legend and a scale of colors."""
    if isinstance(layer, Surface):
        shown = {"colorscale": _COLORS, "colorbar": _scale(layer.scale), "hoverinfo": "z", "zsmooth": False}
        return {"type": "heatmap", "x": layer.x, "y": layer.y, "z": layer.z, **shown}
    shared: dict[str, Any] = {"name": _text(layer.name), "showlegend": first and bool(layer.name), "hoverinfo": "skip"}
    if layer.texts is not None:
        shared |= {"hoverinfo": "text", "hovertext": [_text(text) for text in layer.texts]}
    if isinstance(layer, Bars):
        return shared | _bars(layer)
    shared |= {"type": "scattergl" if len(layer.x) > _MANY else "scatter", "x": _dates(layer.x) if x.is_date else layer.x}
    if isinstance(layer, Line):
        line = {"color": layer.color, "width": layer.width, "shape": "hv" if layer.steps else "linear"}
        return shared | {"y": layer.y, "mode": "lines", "line": line, "opacity": layer.opacity}
    marker: dict[str, Any] = {"size": layer.size, "color": layer.color, "opacity": layer.opacity}
    if layer.values is not None:
        marker |= {"color": layer.values, "colorscale": _COLORS, "showscale": first, "colorbar": _scale(layer.scale)}
    return shared | {"y": layer.y, "mode": "markers", "marker": marker}


def _scale(title: str) -> dict[str, Any]:
    return {"title": {"text": _text(title)}, "thickness": 12}


def _bars(layer: Bars) -> dict[str, Any]:
    colors = layer.colors if isinstance(layer.colors, str) else list(layer.colors)
    bars = {"type": "bar", "orientation": "h", "y": layer.y, "x": layer.lengths, "marker": {"color": colors}, "width": 0.8}
    if layer.begins is not None:
        bars["base"] = layer.begins
    if layer.errors is not None:
        bars["error_x"] = {"type": "data", "array": layer.errors, "thickness": 1}
    return bars


def _dates(seconds: Floats) -> list[str | None]:
    """Seconds since 1970 as local times, as plotly writes them."""
    return [None if np.isnan(s) else datetime.datetime.fromtimestamp(s).isoformat(" ", "milliseconds") for s in seconds]


def _parallel(dimensions: Sequence[Dimension]) -> dict[str, Any]:
    color = dimensions[-1].values
    return {
        "type": "parcoords",
        "line": {"color": color, "colorscale": _COLORS, "showscale": True, "colorbar": {"title": {"text": "reward"}}},
        "dimensions": [_dimension(dimension) for dimension in dimensions],
        "labelangle": -20,
        "labelside": "top",
    }


def _dimension(dimension: Dimension) -> dict[str, Any]:
    values, axis = dimension.values, dimension.axis
    label: dict[str, Any] = {"label": _text(axis.title)}
    if axis.categories is not None:
        places = list(range(len(axis.categories)))
        names = [safe_text(name) for name in axis.categories]  # not escaped: plotly finds no tags on these axes
        return label | {"values": values, "tickvals": places, "ticktext": names}
    values = np.log10(values) if axis.log else values
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    ticks = np.linspace(low, high, 5).tolist()
    texts = [f"{10**tick if axis.log else tick:.3g}" for tick in ticks]
    missing = np.isnan(values)
    if missing.any():  # arms without this parameter pass below the others
        low -= 0.2 * (high - low)
        values, ticks, texts = np.where(missing, low, values), [low, *ticks], [MISSING, *texts]
    return label | {"values": values, "range": [low, high], "tickvals": ticks, "ticktext": texts}
