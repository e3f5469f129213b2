"""Draws charts as SVG in HTML, for pages without a script. The stylesheet sets the colors of text, axes and shades."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unicodedata import east_asian_width

import numpy as np

from ..html.parts import text
from .chart import GRAY, Axis, Bars, Chart, Layer, Line, Panel, Points, Surface
from .history import Floats
from .scales import Scale, scale_of, values_along
from .svg_parallel import parallel_svg
from .svg_shapes import SHADES, dots, polylines, rectangles, shade_numbers, svg_image, svg_text

_WIDTH, _NARROW = 500, 360  # of a single panel, and of one of several
_HEIGHT, _LOW = 300, 240
_OUTSIDE = 90  # pixels of a chart's height that other libraries need for the title and the legend
_LETTER, _CAPITAL, _WIDE = 6.4, 8.6, 12.0  # widths in pixels
_WIDE_LETTERS = "mwMW<>=+@%&…—"
_MOST_LETTERS, _MOST_IN_TITLE = 36, 50  # of a label, and of the title of the horizontal axis
_ROOM = 0.04
_BAR = 0.76  # share of a row


def svg_figure(chart: Chart, narrow: bool = False) -> str:
    """The chart as HTML: a legend, and an image for each panel. Empty if there is nothing to draw.

    Args:
        chart: The chart.
        narrow: Whether its place is narrow, as if it had several panels.
    """
    if chart.dimensions:
        return f'<div class="long">{parallel_svg(chart)}</div>'
    panels = [panel for panel in chart.panels if panel.layers]
    if not panels:
        return ""
    images = [_panel(panel, chart, narrow or len(panels) > 1) for panel in panels]
    return _legend(panels[0].layers) + (f'<div class="panels">{"".join(images)}</div>' if len(images) > 1 else images[0])


def is_wide(chart: Chart) -> bool:
    """Whether the chart needs the whole width of a page."""
    return bool(chart.dimensions) or sum(bool(panel.layers) for panel in chart.panels) > 1


def _panel(panel: Panel, chart: Chart, narrow: bool) -> str:
    """One pair of axes, and what is drawn there."""
    width = _NARROW if narrow else _WIDTH
    height = max(120, chart.height - _OUTSIDE) if chart.height else (_LOW if narrow else _HEIGHT)
    top, bottom, right = 10, height - (40 if panel.x.title else 24), width - 14
    ups = scale_of(panel.y, values_along(panel.layers, "y"), bottom, top, _ROOM)
    most = max(2, int((bottom - top) / (15 if panel.y.categories is not None else 34)))
    marks = [] if panel.y.hidden else [(place, _shortened(label)) for place, label in ups.ticks(most)]
    left = 10 + max((_text_width(label) for _, label in marks), default=0.0) + (20 if panel.y.title else 4)
    across = scale_of(panel.x, values_along(panel.layers, "x"), left, right, _ROOM)
    parts = [*_horizontal(panel.y, marks, left, right, (top + bottom) / 2)]
    parts += _vertical(panel.x, across, top, bottom, (left + right) / 2)
    parts += [shape for layer in panel.layers for shape in _drawn(layer, across, ups)]
    label = f"{chart.title}: {panel.y.title or 'values'} by {panel.x.title}" if panel.x.title else chart.title
    return svg_image(width, height, label, "".join(parts))


def _horizontal(axis: Axis, marks: Sequence[tuple[float, str]], left: float, right: float, middle: float) -> Iterator[str]:
    """The ticks of the vertical axis, with lines across the image."""
    lines = "".join(f"M{left:.1f} {place:.1f}H{right:.1f}" for place, _ in marks)
    yield f'<path class="grid" d="{lines}"/>' if lines else ""
    yield from (svg_text(left - 6, place + 4, label, "end") for place, label in marks)
    if axis.title:
        yield svg_text(13, middle, _shortened(axis.title), "middle", "rotate(-90 13 {y})", "axis")


def _vertical(axis: Axis, scale: Scale, top: float, bottom: float, middle: float) -> Iterator[str]:
    """The ticks of the horizontal axis. Labels that would overlap are left out."""
    if not axis.hidden:
        marks = [(place, _shortened(label)) for place, label in scale.ticks(6 if axis.categories is None else 12)]
        lines = "".join(f"M{place:.1f} {top}V{bottom}" for place, _ in marks)
        yield f'<path class="grid" d="{lines}"/>' if lines else ""
        free = -np.inf
        for place, label in sorted(marks):
            half = _text_width(label) / 2
            if place - half > free:
                yield svg_text(place, bottom + 16, label, "middle")
                free = place + half + 4
    if axis.title:
        title = f"{axis.title} (UTC)" if axis.is_date else _shortened(axis.title, _MOST_IN_TITLE)
        yield svg_text(middle, bottom + 34, title, "middle", kind="axis")


def _drawn(layer: Layer, across: Scale, ups: Scale) -> Iterator[str]:
    if isinstance(layer, Line):
        x, y = across(layer.x), ups(layer.y)
        yield polylines(x, y, layer.color, layer.width, layer.opacity, layer.steps)
    elif isinstance(layer, Points):
        shades = None if layer.values is None else shade_numbers(layer.values)
        yield dots(across(layer.x), ups(layer.y), layer.size / 2, layer.color, layer.opacity, shades, layer.texts)
    elif isinstance(layer, Surface):
        yield from _surface(layer, across, ups)
    else:
        yield from _bars(layer, across, ups)


def _bars(layer: Bars, across: Scale, ups: Scale) -> Iterator[str]:
    begins = np.zeros(len(layer.y)) if layer.begins is None else layer.begins
    left, right = across(begins), across(begins + layer.lengths)
    edges = ups(layer.y - _BAR / 2), ups(layer.y + _BAR / 2)
    colors = [layer.colors] * len(layer.y) if isinstance(layer.colors, str) else layer.colors
    yield rectangles(
        np.minimum(left, right), np.minimum(*edges), np.abs(right - left), np.abs(edges[1] - edges[0]), colors, layer.texts
    )
    if layer.errors is not None:
        ends, middle = begins + layer.lengths, ups(layer.y)
        low, high = across(ends - layer.errors), across(ends + layer.errors)
        lines = "".join(f"M{a:.1f} {y:.1f}H{b:.1f}" for a, b, y in zip(low, high, middle, strict=True))
        yield f'<path class="error" d="{lines}"/>'


def _surface(layer: Surface, across: Scale, ups: Scale) -> Iterator[str]:
    """A rectangle around each point of the grid."""
    left, right = _edges(across(layer.x))
    low, high = _edges(ups(layer.y))
    shades = shade_numbers(layer.z.ravel())
    for number in range(SHADES):
        cells = [divmod(int(place), len(layer.x)) for place in np.flatnonzero(shades == number)]
        path = "".join(
            f"M{left[column]:.1f} {low[row]:.1f}H{right[column]:.1f}V{high[row]:.1f}H{left[column]:.1f}Z"
            for row, column in cells
        )
        if path:
            yield f'<path class="surface shade-{number}" d="{path}"/>'


def _edges(places: Floats) -> tuple[Floats, Floats]:
    """The beginning and the end of the cell around each place."""
    if len(places) == 1:
        return places - 20, places + 20
    middles = (places[1:] + places[:-1]) / 2
    edges = np.r_[2 * places[0] - middles[0], middles, 2 * places[-1] - middles[-1]]
    return edges[:-1], edges[1:]


def _legend(layers: Sequence[Layer]) -> str:
    """The names and colors of the layers, and the scale of colors."""
    items = []
    for layer in layers:
        values = layer.z if isinstance(layer, Surface) else layer.values if isinstance(layer, Points) else None
        if values is not None and np.isfinite(values).any():
            low, high = np.nanmin(values), np.nanmax(values)
            swatches = "".join(
                f'<rect class="shade-{place}" x="{8 * place}" width="9" height="10"/>' for place in range(SHADES)
            )
            bar = f'<svg width="{8 * SHADES}" height="10" aria-hidden="true" fill="currentColor">{swatches}</svg>'
            name = text(getattr(layer, "scale", "") or "value")
            items.append(f"<li>{name} {low:.4g} {bar} {high:.4g}</li>")
        elif not isinstance(layer, Surface) and layer.name:
            color = layer.color if not isinstance(layer, Bars) else layer.colors if isinstance(layer.colors, str) else GRAY
            swatch = f'<rect width="12" height="10" rx="2" fill="{text(color)}"/>'
            mark = f'<svg width="12" height="10" aria-hidden="true">{swatch}</svg>'
            items.append(f"<li>{mark} {text(_shortened(layer.name))}</li>")
    return f'<ul class="legend">{"".join(items)}</ul>' if items else ""


def _text_width(label: str) -> float:
    """About how many pixels a label needs. Chinese, Japanese and Korean characters are as wide as they are high."""
    return sum(
        _WIDE if letter in _WIDE_LETTERS or east_asian_width(letter) in "WF" else _CAPITAL if letter.isupper() else _LETTER
        for letter in label
    )


def _shortened(label: str, most: int = _MOST_LETTERS) -> str:
    label = " ".join(label.split())
    return label if len(label) <= most else f"{label[: most - 1]}…"
