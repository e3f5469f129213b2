"""How the strategy has split the space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...strategies.kit.beliefs import Boxes
from ..chart import BLUE, GRAY, ORANGE, SKY, Axis, Chart, Layer, Line, Panel, Points, Surface, empty_chart, thinned
from ..history import Floats

TITLE = "Partition of the space"
MOST_PULLS = 2_000
MOST_BOXES = 2_000
MOST_PANELS = 12
_GRID = 100  # points in each direction of a plane
_VALUE = Axis("value (0 to 1)")


def boxes(found: Boxes | None, header: Mapping[str, Any]) -> Chart:
    """The boxes of a partition, and the pulls in them.

    In two dimensions, each box is drawn with the mean of its values as color. In other cases there is a panel for each
    dimension, in which each box is a line at its mean.

    Args:
        found: The boxes; None if the strategy has none.
        header: The header of the study.
    """
    if found is None:
        return empty_chart(TITLE, "There is no partition: only strategies such as TreeUCB and PartitionUCB split the space.")
    if not len(found.values):
        return empty_chart(TITLE, "No pull has started yet.")
    dimension, shown = len(found.names), np.argsort(-found.bounds, kind="stable")[:MOST_BOXES]
    panels = (_plane(found, shown),) if dimension == 2 else tuple(_side(found, shown, side) for side in range(dimension))
    total = len(found.means)
    notes = [f"{total:,} box{'' if total == 1 else 'es'}. The next arm comes from the orange one."]
    notes += [] if len(shown) == total else [f"Shows the {len(shown):,} with the largest upper bounds."]
    notes += [] if len(found.values) <= MOST_PULLS else [f"Shows {MOST_PULLS:,} of {len(found.values):,} pulls."]
    notes += [] if dimension <= MOST_PANELS else [f"Shows {MOST_PANELS} of {dimension} dimensions."]
    return Chart(TITLE, panels[:MOST_PANELS], note=" ".join(notes), height=460 if dimension == 2 else None)


def _pulls(found: Boxes, x: Floats, y: Floats, name: str, color: str) -> Points:
    some = thinned(len(x), MOST_PULLS)
    texts = [f"pull of arm {arm}: {found.values[arm]:.6g}" for arm in some]
    return Points(x[some], y[some], name, color, texts=texts, size=4, opacity=0.5)


def _plane(found: Boxes, shown: Any) -> Panel:
    middles = (np.arange(_GRID) + 0.5) / _GRID
    colors = np.full((_GRID, _GRID), np.nan)
    for low, high, mean, count in zip(found.low, found.high, found.means, found.counts, strict=True):
        if count:
            (left, right), (bottom, top) = np.searchsorted(middles, np.column_stack([low, high]))
            colors[bottom:top, left:right] = mean
    center = (found.low[shown[:1]] + found.high[shown[:1]]) / 2  # a mark is seen even if the box is tiny
    layers: list[Layer] = [
        Surface(middles, middles, colors, "mean value"),
        _outline(found, shown[1:], "white", 0.7),
        _pulls(found, found.points[:, 0], found.points[:, 1], "", "#202020"),
        _outline(found, shown[:1], ORANGE, 3.0),
        Points(center[:, 0], center[:, 1], "next box", ORANGE, texts=[f"box {shown[0]}"], size=11, opacity=1.0),
    ]
    return Panel(Axis(found.names[0]), Axis(found.names[1]), tuple(layers))


def _outline(found: Boxes, some: Any, color: str, width: float) -> Line:
    (left, bottom), (right, top) = found.low[some].T, found.high[some].T
    gaps = np.full(len(some), np.nan)
    x = np.column_stack([left, right, right, left, left, gaps]).ravel()
    y = np.column_stack([bottom, bottom, top, top, bottom, gaps]).ravel()
    return Line(x, y, "", color, width)


def _side(found: Boxes, shown: Any, side: int) -> Panel:
    """One dimension: each box as a line at its mean, from its lower to its upper end."""
    next_box = shown[:1]
    layers: list[Line | Points] = [_pulls(found, found.points[:, side], found.values, "pulls", GRAY)]
    if len(found.names) == 1:
        layers.append(_level(found, shown, side, found.bounds, "upper bound", SKY, 1.5))
    layers.append(_level(found, shown[1:], side, found.means, "mean of a box", BLUE, 2.0))
    layers.append(_level(found, next_box, side, found.means, "next box", ORANGE, 4.0))
    return Panel(Axis(found.names[side]), _VALUE, tuple(layers))


def _level(found: Boxes, some: Any, side: int, heights: Floats, name: str, color: str, width: float) -> Line:
    gaps = np.full(len(some), np.nan)
    x = np.column_stack([found.low[some, side], found.high[some, side], gaps]).ravel()
    y = np.column_stack([heights[some], heights[some], gaps]).ravel()
    texts = [
        f"box {box}: mean {found.means[box]:.4g}, upper bound {found.bounds[box]:.4g}, pulls: {found.counts[box]:.0f}"
        for box in some
        for _ in range(3)
    ]
    return Line(x, y, name, color, width, texts=texts)
