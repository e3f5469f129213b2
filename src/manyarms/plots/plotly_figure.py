"""Draws charts with plotly."""

from __future__ import annotations

import datetime
import json
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..safe_text import safe_text
from .chart import MISSING, Axis, Bars, Chart, Dimension, Layer, Line, Panel, Surface
from .history import Floats

if TYPE_CHECKING:
    import plotly.graph_objects as go

_COLUMNS = 3
_HEIGHT, _ROW_HEIGHT = 420, 260
_LINE = 95  # characters
_COLORS = "Viridis"  # looks the same to color-blind readers, and in print
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"


def plotly_figure(chart: Chart) -> go.Figure:
    """The chart as a plotly figure."""
    try:
        import plotly.graph_objects as go
    except ImportError:
        raise ImportError('plots need plotly: pip install "manyarms[plots]", or pass backend="matplotlib"') from None
    figure = go.Figure(_parallel(chart.dimensions)) if chart.dimensions else _panels(chart)
    figure.update_layout(
        title={"text": _title(chart), "x": 0, "xref": "paper", "yref": "container", "y": 1, "yanchor": "top", "pad": {"t": 12}},
        height=chart.height or _height(chart),
        template="plotly_white",
        font={"family": _FONT, "size": 13},
        margin={"l": 60, "r": 20, "t": 46 + 17 * len(_lines(chart.note)) + (50 if chart.dimensions else 0), "b": 80},
        legend={"orientation": "h", "yref": "container", "yanchor": "bottom", "y": 0, "xanchor": "right", "x": 1},
        barmode="overlay",
        hovermode="closest",
    )
    return figure


def plotly_json(chart: Chart) -> dict[str, Any]:
    """The chart as JSON for a web page: its title and note, and plotly's data and layout, without them and without colors.

    NaN is null.
    """
    figure = plotly_figure(replace(chart, title="", note=""))
    figure.update_layout(template=None, title=None)
    found: dict[str, Any] = json.loads(figure.to_json())
    return {"title": safe_text(chart.title), "note": safe_text(chart.note)} | found


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


def _texts(texts: Sequence[str] | None) -> list[str] | None:
    return None if texts is None else [_text(text) for text in texts]


def _panels(chart: Chart) -> Any:
    from plotly.subplots import make_subplots

    columns = min(len(chart.panels), _COLUMNS)
    rows = -(-len(chart.panels) // columns)
    figure = make_subplots(rows, columns, horizontal_spacing=0.12 / columns, vertical_spacing=0.3 / rows)
    for place, panel in enumerate(chart.panels):
        row, column = place // columns + 1, place % columns + 1
        for layer in panel.layers:
            for trace in _traces(layer, first=place == 0, x=panel.x):
                figure.add_trace(trace, row, column)
        figure.update_xaxes(**_axis(panel.x, panel), row=row, col=column)
        shared = column > 1 and panel.y == chart.panels[place - 1].y
        figure.update_yaxes(**_axis(panel.y, panel), row=row, col=column)
        if shared:
            figure.update_yaxes(title=None, row=row, col=column)
    return figure


def _axis(axis: Axis, panel: Panel) -> dict[str, Any]:
    settings: dict[str, Any] = {"title": {"text": _text(axis.title)} if axis.title else None, "automargin": True}
    if axis.hidden:
        settings |= {"showticklabels": False, "showgrid": False, "zeroline": False}
    if axis.log:
        settings |= {"type": "log", "dtick": None}
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


def _traces(layer: Layer, first: bool, x: Axis) -> list[Any]:
    """The traces of a layer. Only the first panel has a legend and a scale of colors."""
    import plotly.graph_objects as go

    if isinstance(layer, Surface):
        scale = {"title": {"text": _text(layer.scale)}, "thickness": 12}
        return [go.Heatmap(x=layer.x, y=layer.y, z=layer.z, colorscale=_COLORS, colorbar=scale, hoverinfo="z", zsmooth=False)]
    shared = {"name": _text(layer.name), "showlegend": first and bool(layer.name)}
    hover = {"text": _texts(layer.texts), "hoverinfo": "text" if layer.texts is not None else "skip"}
    if isinstance(layer, Bars):
        errors = None if layer.errors is None else {"type": "data", "array": layer.errors, "thickness": 1}
        colors = {"color": layer.colors if isinstance(layer.colors, str) else list(layer.colors)}
        return [
            go.Bar(
                y=layer.y, x=layer.lengths, base=layer.begins, error_x=errors, orientation="h", marker=colors,
                hovertext=hover["text"], hoverinfo=hover["hoverinfo"], width=0.8, **shared,
            )
        ]  # fmt: skip
    at = _dates(layer.x) if x.is_date else layer.x
    if isinstance(layer, Line):
        line = {"color": layer.color, "width": layer.width, "shape": "hv" if layer.steps else "linear"}
        trace = go.Scattergl if len(layer.x) > 2_000 else go.Scatter
        return [trace(x=at, y=layer.y, mode="lines", line=line, opacity=layer.opacity, **hover, **shared)]
    marker: dict[str, Any] = {"size": layer.size, "color": layer.color, "opacity": layer.opacity}
    if layer.values is not None:
        scale = {"title": {"text": _text(layer.scale)}, "thickness": 12}
        marker |= {"color": layer.values, "colorscale": _COLORS, "showscale": first, "colorbar": scale}
    trace = go.Scattergl if len(layer.x) > 2_000 else go.Scatter
    return [trace(x=at, y=layer.y, mode="markers", marker=marker, **hover, **shared)]


def _dates(seconds: Floats) -> list[str | None]:
    """Seconds since 1970 as local times, as plotly writes them."""
    return [None if np.isnan(s) else datetime.datetime.fromtimestamp(s).isoformat(" ", "milliseconds") for s in seconds]


def _parallel(dimensions: Sequence[Dimension]) -> Any:
    import plotly.graph_objects as go

    color = dimensions[-1]
    return go.Parcoords(
        line={"color": color.values, "colorscale": _COLORS, "showscale": True, "colorbar": {"title": {"text": "reward"}}},
        dimensions=[_dimension(dimension) for dimension in dimensions],
        labelangle=-20,
        labelside="top",
    )


def _dimension(dimension: Dimension) -> dict[str, Any]:
    values, axis = dimension.values, dimension.axis
    label: dict[str, Any] = {"label": _text(axis.title)}
    if axis.categories is not None:
        places = list(range(len(axis.categories)))
        return label | {"values": values, "tickvals": places, "ticktext": [_text(name) for name in axis.categories]}
    values = np.log10(values) if axis.log else values
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    ticks = np.linspace(low, high, 5).tolist()
    texts = [f"{10**tick if axis.log else tick:.3g}" for tick in ticks]
    missing = np.isnan(values)
    if missing.any():  # arms without this parameter pass below the others
        low -= 0.2 * (high - low)
        values, ticks, texts = np.where(missing, low, values), [low, *ticks], [MISSING, *texts]
    return label | {"values": values, "range": [low, high], "tickvals": ticks, "ticktext": texts}
