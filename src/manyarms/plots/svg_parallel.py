"""Parallel coordinates as SVG: a line for each arm, and a vertical axis for each dimension."""

from __future__ import annotations

import numpy as np

from .chart import Chart, Dimension
from .parallel import BELOW, heights, labels, shades_of
from .svg_shapes import SHADES, svg_image, svg_text

_STEP = 150  # pixels between two axes
_LEFT, _RIGHT, _TOP, _BOTTOM, _HEIGHT = 16, 90, 64, 20, 400
_LONGEST = 20  # characters of a label


def parallel_svg(chart: Chart) -> str:
    """The image. The last dimension sets the colors of the lines."""
    dimensions = chart.dimensions
    step = max(_STEP, 900 / max(1, len(dimensions) - 1))
    places = _LEFT + step * np.arange(len(dimensions))
    crossings = np.array([[_pixel(height) for height in heights(dimension)] for dimension in dimensions])
    shades = shades_of(dimensions[-1], SHADES)
    lines = []
    for number in range(SHADES):
        arms = np.flatnonzero(shades == number)[::-1]  # the best arms are drawn last
        path = "".join(
            "M" + "L".join(f"{x:.0f} {y:.1f}" for x, y in zip(places, crossings[:, arm], strict=True)) for arm in arms
        )
        lines.append(f'<path class="stroke shade-{number}" d="{path}"/>' if path else "")
    axes = "".join(_axis(x, dimension) for x, dimension in zip(places, dimensions, strict=True))
    return svg_image(float(places[-1]) + _RIGHT, _HEIGHT, chart.title, "".join(lines) + axes)


def _pixel(height: float) -> float:
    bottom = _HEIGHT - _BOTTOM + BELOW * (_HEIGHT - _TOP - _BOTTOM) / (1 - BELOW)
    return bottom - height * (bottom - _TOP)


def _axis(x: float, dimension: Dimension) -> str:
    line = f'<path class="error" d="M{x:.1f} {_pixel(0):.1f}V{_TOP}"/>'
    title = svg_text(x, _TOP - 14, _shortened(dimension.axis.title), "start", f"rotate(-12 {x:.1f} {{y}})", "axis")
    marks = (
        svg_text(x + 5, _pixel(height) + 4, _shortened(label), "start", kind="halo")
        for height, label in labels(dimension).items()
    )
    return line + title + "".join(marks)


def _shortened(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"
