"""Diagrams of boxes and arrows as SVG."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Generic, TypeVar

from .placement import Point, place_boxes

Key = TypeVar("Key", bound=Hashable)
Line = tuple[str, str]
"""A text and its color."""

TEXT_COLOR, LIGHT_TEXT_COLOR, LINE_COLOR = "#22303c", "#66727d", "#8a96a1"
ADDED_COLOR, CHANGED_COLOR, REMOVED_COLOR = "#1a7f37", "#b35900", "#b3261e"

_FONT_SIZE, _LINE_HEIGHT = 11.0, 15.0
_LETTER_WIDTH = 0.58  # mean width of a letter, relative to the font size
_MARGIN = 24.0
_SYMBOL_OFFSET, _SYMBOL_RADIUS = 4.0, 9.0  # of the circle of a symbol, whose center is above the edge of the box


@dataclass(frozen=True, slots=True)
class Box:
    """A box with lines of text.

    Args:
        lines: Lines of text. The first is bold.
        fill: Color of the background.
        edge: Color of the border.
        symbol: Shown in a circle on the upper edge, if any.
        n_highlighted: Number of lines at the end that have the color of the border.
    """

    lines: tuple[str, ...]
    fill: str
    edge: str = LINE_COLOR
    symbol: str = ""
    n_highlighted: int = 0

    @property
    def width(self) -> float:
        """Width, with room around the longest line."""
        return max(_text_width(line, bold=number == 0) for number, line in enumerate(self.lines)) + 20

    @property
    def height(self) -> float:
        """Height, with room above and below."""
        return _LINE_HEIGHT * len(self.lines) + 10


@dataclass(frozen=True, slots=True)
class Arrow(Generic[Key]):
    """An arrow from a box to one below it."""

    source: Key
    target: Key
    color: str = LINE_COLOR
    dashed: bool = False


def diagram(titles: Sequence[Line], boxes: Mapping[Key, Box], arrows: Sequence[Arrow[Key]], notes: Sequence[Line] = ()) -> str:
    """The text of an SVG file with titles, boxes in rows, arrows between them, and notes.

    Args:
        titles: Lines above the boxes. The first is bold.
        boxes: Boxes by key, in topological order: the source of an arrow comes before its target.
        arrows: Arrows between boxes.
        notes: Lines below the boxes.
    """
    placement = place_boxes(
        {key: (box.width, box.height) for key, box in boxes.items()}, [(each.source, each.target) for each in arrows]
    )
    width = max(placement.width, *(_text_width(line, bold=True) for line, _ in (*titles, *notes)))
    middle = width / 2 + _MARGIN
    top = _MARGIN + 18 * len(titles) + 10
    shapes = [_text(middle, _MARGIN + 18 * i, line, color, bold=i == 0) for i, (line, color) in enumerate(titles)]
    inner = [_arrow(each, boxes, placement.centers, placement.routes[each.source, each.target]) for each in arrows]
    inner += [shape for key, box in boxes.items() for shape in _box(box, *placement.centers[key])]
    shapes.append(f"<g transform='translate({_MARGIN + (width - placement.width) / 2:.1f},{top:.1f})'>{''.join(inner)}</g>")
    bottom = top + placement.height + 26
    shapes += [_text(middle, bottom + 16 * i, line, color) for i, (line, color) in enumerate(notes)]
    return _svg(width + 2 * _MARGIN, bottom + 16 * len(notes), shapes)


def _box(box: Box, x: float, y: float) -> Iterator[str]:
    left, top = x - box.width / 2, y - box.height / 2
    thickness = 1 if box.edge == LINE_COLOR else 2.5
    size = f"x='{left:.1f}' y='{top:.1f}' width='{box.width:.1f}' height='{box.height:.1f}'"
    yield f"<rect {size} rx='6' fill='{box.fill}' stroke='{box.edge}' stroke-width='{thickness}'/>"
    for number, line in enumerate(box.lines):
        highlighted = number >= len(box.lines) - box.n_highlighted
        yield _text(x, top + _LINE_HEIGHT * (number + 1) + 1, line, box.edge if highlighted else TEXT_COLOR, bold=number == 0)
    if box.symbol:
        circle = f"cx='{x:.1f}' cy='{top - _SYMBOL_OFFSET:.1f}' r='{_SYMBOL_RADIUS:.0f}'"
        yield f"<circle {circle} fill='white' stroke='{TEXT_COLOR}'/>"
        yield _text(x, top, box.symbol, bold=True)


def _arrow(arrow: Arrow[Key], boxes: Mapping[Key, Box], centers: Mapping[Hashable, Point], route: Sequence[Point]) -> str:
    """A smooth line downward with a tip at the end. It is straight where it passes a row of other boxes."""
    (x, y), (target_x, target_y) = centers[arrow.source], centers[arrow.target]
    target = boxes[arrow.target]
    end = target_y - target.height / 2 - (_SYMBOL_OFFSET + _SYMBOL_RADIUS if target.symbol else 0)
    points = [(x, y + boxes[arrow.source].height / 2), *route, (target_x, end)]
    path = f"M{points[0][0]:.1f},{points[0][1]:.1f}" + "".join(_curve(*pair) for pair in pairwise(points))
    (x, y), dashes = points[-1], " stroke-dasharray='5 4'" if arrow.dashed else ""
    style = f"fill='none' stroke='{arrow.color}' stroke-width='{1.3 if arrow.color == LINE_COLOR else 2.2}'"
    tip = f"M{x - 4:.1f},{y - 7:.1f} L{x:.1f},{y:.1f} L{x + 4:.1f},{y - 7:.1f}"
    return f"<path d='{path}' {style}{dashes}/><path d='{tip}' {style}/>"


def _curve(start: Point, end: Point) -> str:
    middle = (start[1] + end[1]) / 2
    return f" C{start[0]:.1f},{middle:.1f} {end[0]:.1f},{middle:.1f} {end[0]:.1f},{end[1]:.1f}"


def _text(x: float, y: float, text: str, color: str = TEXT_COLOR, bold: bool = False) -> str:
    weight = " font-weight='bold'" if bold else ""
    return f"<text x='{x:.1f}' y='{y:.1f}' fill='{color}'{weight}>{escape(text)}</text>"


def _text_width(text: str, bold: bool = False) -> float:
    """Approximate width of a text."""
    return len(text) * _FONT_SIZE * _LETTER_WIDTH * (1.12 if bold else 1.0)


def _svg(width: float, height: float, shapes: Iterable[str]) -> str:
    size = f"width='{width:.0f}' height='{height:.0f}' viewBox='0 0 {width:.0f} {height:.0f}'"
    font = f"font-family='DejaVu Sans, Verdana, sans-serif' font-size='{_FONT_SIZE:.0f}' text-anchor='middle'"
    background = "<rect width='100%' height='100%' fill='white'/>"
    return "\n".join([f"<svg xmlns='http://www.w3.org/2000/svg' {size} {font}>", background, *shapes, "</svg>", ""])
