"""Draws charts with matplotlib, for papers."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from ..safe_text import safe_text
from .chart import Axis, Bars, Chart, Dimension, Layer, Line, Panel, Points
from .history import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = 3
_INCHES = 1 / 100  # per pixel of a chart
_PER_INCH = 14  # characters of a note
_COLORS = "viridis"


def matplotlib_figure(chart: Chart) -> Figure:
    """The chart as a matplotlib figure. It is not registered with pyplot, so it needs no closing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError('backend="matplotlib" needs matplotlib: pip install "manyarms[plots]"') from None
    columns = 1 if chart.dimensions else min(len(chart.panels), _COLUMNS)
    rows = 1 if chart.dimensions else -(-len(chart.panels) // columns)
    height = chart.height * _INCHES if chart.height else (4.2 if rows == 1 else 0.6 + 2.6 * rows)
    width = 7.0 if columns == 1 else 10.0
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(_text(chart.title), x=0.01, ha="left", fontsize=11, fontweight="bold")
    if chart.dimensions:
        _draw_parallel(figure, chart.dimensions)
    else:
        axes = figure.subplots(rows, columns, squeeze=False)
        for place, panel in enumerate(chart.panels):
            shown = list(axes.flat[: len(chart.panels)]) if place == len(chart.panels) - 1 else []
            _draw_panel(figure, axes.flat[place], panel, shown)
        for unused in axes.flat[len(chart.panels) :]:
            unused.set_visible(False)
    if chart.note:
        note = "\n".join(textwrap.wrap(_text(chart.note), int(width * _PER_INCH)))
        figure.supxlabel(note, x=0.01, ha="left", fontsize=8, color="#666666")
    return figure


def _text(text: str) -> str:
    """Text in which matplotlib finds no formulas."""
    return safe_text(text).replace("$", r"\$")


def _draw_panel(figure: Any, axes: Any, panel: Panel, scaled: list[Any]) -> None:
    """Draw a panel.

    Args:
        figure: The figure.
        axes: The axes of the panel.
        panel: What to draw.
        scaled: The axes to which this panel adds a scale of colors.
    """
    for layer in panel.layers:
        drawn = _draw(axes, layer, panel)
        if scaled and drawn is not None:
            figure.colorbar(drawn[0], ax=scaled, label=_text(drawn[1]))
    for which, axis in (("x", panel.x), ("y", panel.y)):
        _apply(axes, which, axis)
    axes.spines[["top", "right"]].set_visible(False)
    if any(getattr(layer, "name", "") for layer in panel.layers):
        axes.legend(fontsize=8, frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=3, borderaxespad=0)


def _apply(axes: Any, which: str, axis: Axis) -> None:
    getattr(axes, f"set_{which}label")(_text(axis.title))
    line = getattr(axes, f"{which}axis")
    if axis.hidden:
        line.set_visible(False)
        axes.spines["bottom" if which == "x" else "left"].set_visible(False)
    if axis.log:
        getattr(axes, f"set_{which}scale")("log")
    if axis.categories is not None:
        line.set_ticks(range(len(axis.categories)), [_text(label) for label in axis.categories])
        getattr(axes, f"set_{which}lim")(-0.6, len(axis.categories) - 0.4)
        if which == "x" and sum(map(len, axis.categories)) > 30:
            axes.tick_params("x", rotation=45)
    if axis.whole:
        line.get_major_locator().set_params(integer=True)
    if axis.reverse:
        line.set_inverted(True)


def _draw(axes: Any, layer: Layer, panel: Panel) -> tuple[Any, str] | None:
    """Draw a layer. If colors show numbers, returns what needs a scale, and what these numbers are."""
    if isinstance(layer, Line):
        style = {"color": layer.color, "linewidth": layer.width, "alpha": layer.opacity, "label": _label(layer.name)}
        axes.plot(_at(layer.x, panel), layer.y, drawstyle="steps-post" if layer.steps else "default", **style)
    elif isinstance(layer, Points):
        style = {"s": layer.size**2 / 2, "alpha": layer.opacity, "linewidths": 0, "label": _label(layer.name)}
        color = {"color": layer.color} if layer.values is None else {"c": layer.values, "cmap": _COLORS}
        drawn = axes.scatter(_at(layer.x, panel), layer.y, zorder=3, **style, **color)
        return None if layer.values is None else (drawn, layer.scale)
    elif isinstance(layer, Bars):
        style = {"left": layer.begins, "xerr": layer.errors, "color": layer.colors, "label": _label(layer.name)}
        axes.barh(layer.y, layer.lengths, height=0.8, **{key: value for key, value in style.items() if value is not None})
    else:
        return axes.pcolormesh(layer.x, layer.y, layer.z, cmap=_COLORS, shading="nearest"), layer.scale
    return None


def _label(name: str) -> str | None:
    return _text(name) if name else None


def _at(seconds: Floats, panel: Panel) -> Any:
    return np.array(seconds * 1e6, dtype="datetime64[us]") if panel.x.is_date else seconds


def _draw_parallel(figure: Any, dimensions: tuple[Dimension, ...]) -> None:
    """Draw an axis for each dimension, and each arm as a line; the better ones on top of the others."""
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    axes = figure.subplots()
    heights = np.column_stack([_height(dimension) for dimension in dimensions])
    reward = heights[:, -1]
    places = np.arange(len(dimensions))
    order = np.argsort(reward)
    lines = [np.column_stack([places, heights[arm]]) for arm in order]
    axes.add_collection(LineCollection(lines, colors=colormaps[_COLORS](reward[order]), linewidths=0.8, alpha=0.6))
    axes.set_xlim(-0.3, len(dimensions) - 0.7)
    axes.set_ylim(-0.2, 1.08)
    axes.set_xticks(places, [_text(dimension.axis.title) for dimension in dimensions], rotation=20)
    axes.yaxis.set_visible(False)
    axes.spines[:].set_visible(False)
    for place, dimension in enumerate(dimensions):
        axes.axvline(place, color="#999999", linewidth=0.8)
        for height, label in _ticks(dimension):
            axes.text(place + 0.03, height, _text(label), fontsize=7, va="center")


def _height(dimension: Dimension) -> Floats:
    """The height of each arm on its axis, from 0 to 1; below 0 if the arm does not have the parameter."""
    values = np.log(dimension.values) if dimension.axis.log else dimension.values
    low, high = np.nanmin(values), np.nanmax(values)
    return np.nan_to_num((values - low) / ((high - low) or 1.0), nan=-0.12)


def _ticks(dimension: Dimension) -> list[tuple[float, str]]:
    """Labels of an axis with their heights."""
    axis, values = dimension.axis, dimension.values
    if axis.categories is not None:
        there = np.unique(values)
        span = (there[-1] - there[0]) or 1.0
        return [(float((place - there[0]) / span), axis.categories[int(place)]) for place in there]
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    middle = (low * high) ** 0.5 if axis.log else (low + high) / 2
    return [(0.0, f"{low:.3g}"), (0.5, f"{middle:.3g}"), (1.0, f"{high:.3g}")]
