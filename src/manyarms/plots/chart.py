"""The parts of a chart, independent of the library that draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .history import Floats

BLUE, ORANGE, GREEN, RED, PURPLE, YELLOW, SKY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#f0e442", "#56b4e9"
GRAY = "#8a8f98"
PALETTE = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, YELLOW)
"""Colors that color-blind readers can tell apart (Okabe and Ito)."""

MISSING = "—"
"""Label for arms that do not have a parameter."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis.

    Args:
        title: What it shows, with the unit.
        log: Whether it is logarithmic.
        categories: Labels of the values 0, 1, 2 and so on, if it shows names instead of numbers.
        reverse: Whether values grow downwards or to the left.
        hidden: Whether to leave out its numbers.
        is_date: Whether its values are seconds since 1970.
        whole: Whether its values are whole numbers, so that there are no ticks between them.
    """

    title: str = ""
    log: bool = False
    categories: tuple[str, ...] | None = None
    reverse: bool = False
    hidden: bool = False
    is_date: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line. NaN interrupts it, so that one line can hold many curves, which is much faster to draw.

    Args:
        x, y: The points.
        name: Its name in the legend; "" to leave it out.
        color: Its color.
        width: Its width in pixels.
        steps: Whether it keeps each value until the next point.
        texts: A label for each point, shown on hovering.
        opacity: From 0, invisible, to 1.
    """

    x: Floats
    y: Floats
    name: str = ""
    color: str = BLUE
    width: float = 1.5
    steps: bool = False
    texts: Sequence[str] | None = None
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Points:
    """Points.

    Args:
        x, y: Where they are.
        name: Their name in the legend; "" to leave them out.
        color: Their color, if `values` is None.
        values: A number for each point, shown by its color.
        scale: What these numbers are.
        texts: A label for each point, shown on hovering.
        size: Their diameter in pixels.
        opacity: From 0, invisible, to 1.
    """

    x: Floats
    y: Floats
    name: str = ""
    color: str = BLUE
    values: Floats | None = None
    scale: str = ""
    texts: Sequence[str] | None = None
    size: float = 6
    opacity: float = 0.8


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars, each with a place on the vertical axis.

    Args:
        y: Their places.
        lengths: How long they are.
        begins: Where they begin; at 0 by default.
        errors: Standard deviation of each length, if known.
        colors: One color for all, or one for each.
        texts: A label for each bar, shown on hovering.
        name: Their name in the legend; "" to leave them out.
    """

    y: Floats
    lengths: Floats
    begins: Floats | None = None
    errors: Floats | None = None
    colors: str | Sequence[str] = BLUE
    texts: Sequence[str] | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Surface:
    """A value at each point of a grid, shown by color.

    Args:
        x, y: The coordinates of the grid.
        z: The values, with a row for each y.
        scale: What the values are.
    """

    x: Floats
    y: Floats
    z: Floats
    scale: str = ""


Layer = Line | Points | Bars | Surface


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes, and what is drawn there, from the bottom up."""

    x: Axis
    y: Axis
    layers: tuple[Layer, ...] = ()


@dataclass(frozen=True, slots=True)
class Dimension:
    """A vertical axis of parallel coordinates, and the value of each line there."""

    axis: Axis
    values: Floats


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart.

    Args:
        title: Its title.
        panels: Its parts, side by side.
        dimensions: Axes of parallel coordinates, which replace the panels. The color of a line shows the last one.
        note: What the reader should know, such as what was left out.
        height: Height in pixels, if the default is not suitable.
    """

    title: str
    panels: tuple[Panel, ...] = ()
    dimensions: tuple[Dimension, ...] = ()
    note: str = ""
    height: int | None = None


def empty_chart(title: str, note: str) -> Chart:
    """A chart that has nothing to show, and says why."""
    return Chart(title, (Panel(Axis(hidden=True), Axis(hidden=True)),), note=note, height=160)


def thinned(size: int, most: int) -> Any:
    """Positions of at most `most` of `size` items, evenly spaced, with the first and the last one.

    >>> thinned(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return np.arange(size) if size <= most else np.unique(np.linspace(0, size - 1, most).round().astype(int))
