"""Diagrams of boxes and arrows as SVG."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Generic, TypeVar

from .placement import Point, placed

Key = TypeVar("Key", bound=Hashable)
Line = tuple[str, str]
"""A text and its colour."""

INK, FAINT, LINE = "#22303c", "#66727d", "#8a96a1"
NEW, CHANGED, GONE = "#1a7f37", "#b35900", "#b3261e"

_LETTER = 0.58  # mean width of a letter, as a share of the size of the font
_SIZE, _LEADING = 11.0, 15.0
_MARGIN = 24.0
_ABOVE, _RADIUS = 4.0, 9.0  # of a sign: how far above the edge of its box, and how large


@dataclass(frozen=True, slots=True)
class Box:
    """Lines of text in a box.

    Args:
        lines: the first is bold.
        fill, edge: its colours.
        sign: in a circle above it, if any.
        n_marked: how many of the last lines have the colour of its edge.
    """

    lines: tuple[str, ...]
    fill: str
    edge: str = LINE
    sign: str = ""
    n_marked: int = 0

    @property
    def width(self) -> float:
        """With room around the longest line."""
        return max(_width(line, bold=number == 0) for number, line in enumerate(self.lines)) + 20

    @property
    def height(self) -> float:
        """With room above and below."""
        return _LEADING * len(self.lines) + 10


@dataclass(frozen=True, slots=True)
class Arrow(Generic[Key]):
    """From one box to one that is placed below it."""

    source: Key
    target: Key
    colour: str = LINE
    dashed: bool = False


def diagram(titles: Sequence[Line], boxes: Mapping[Key, Box], arrows: Sequence[Arrow[Key]], notes: Sequence[Line] = ()) -> str:
    """The text of an SVG file: titles, boxes in rows with arrows between them, and notes.

    Args:
        titles: lines above the boxes, the first is bold.
        boxes: in an order in which none comes before one that leads to it.
        arrows: between boxes.
        notes: lines below the boxes.
    """
    place = placed(
        {key: (box.width, box.height) for key, box in boxes.items()}, [(each.source, each.target) for each in arrows]
    )
    wide = max(place.width, *(_width(line, bold=True) for line, _ in (*titles, *notes)))
    top = _MARGIN + 18 * len(titles) + 10
    shapes = [_text(wide / 2 + _MARGIN, _MARGIN + 18 * i, line, colour, bold=i == 0) for i, (line, colour) in enumerate(titles)]
    inner = [_arrow(each, boxes, place.centres, place.routes[each.source, each.target]) for each in arrows]
    inner += [shape for key, box in boxes.items() for shape in _box(box, *place.centres[key])]
    shapes.append(f"<g transform='translate({_MARGIN + (wide - place.width) / 2:.1f},{top:.1f})'>{''.join(inner)}</g>")
    bottom = top + place.height + 26
    shapes += [_text(wide / 2 + _MARGIN, bottom + 16 * i, line, colour) for i, (line, colour) in enumerate(notes)]
    return _picture(wide + 2 * _MARGIN, bottom + 16 * len(notes), shapes)


def _box(box: Box, x: float, y: float) -> Iterator[str]:
    left, top = x - box.width / 2, y - box.height / 2
    thick = 1 if box.edge == LINE else 2.5
    size = f"x='{left:.1f}' y='{top:.1f}' width='{box.width:.1f}' height='{box.height:.1f}'"
    yield f"<rect {size} rx='6' fill='{box.fill}' stroke='{box.edge}' stroke-width='{thick}'/>"
    for number, line in enumerate(box.lines):
        marked = number >= len(box.lines) - box.n_marked
        yield _text(x, top + _LEADING * (number + 1) + 1, line, box.edge if marked else INK, bold=number == 0)
    if box.sign:
        yield f"<circle cx='{x:.1f}' cy='{top - _ABOVE:.1f}' r='{_RADIUS:.0f}' fill='white' stroke='{INK}'/>"
        yield _text(x, top, box.sign, bold=True)


def _arrow(arrow: Arrow[Key], boxes: Mapping[Key, Box], centres: Mapping[Hashable, Point], route: Sequence[Point]) -> str:
    """A smooth line downwards, with a tip at the end; straight where it passes a row of other boxes."""
    (x, y), (right, below) = centres[arrow.source], centres[arrow.target]
    target = boxes[arrow.target]
    end = below - target.height / 2 - (_ABOVE + _RADIUS if target.sign else 0)
    points = [(x, y + boxes[arrow.source].height / 2), *route, (right, end)]
    path = f"M{points[0][0]:.1f},{points[0][1]:.1f}" + "".join(_bend(*pair) for pair in pairwise(points))
    (x, y), dashes = points[-1], " stroke-dasharray='5 4'" if arrow.dashed else ""
    style = f"fill='none' stroke='{arrow.colour}' stroke-width='{1.3 if arrow.colour == LINE else 2.2}'"
    tip = f"M{x - 4:.1f},{y - 7:.1f} L{x:.1f},{y:.1f} L{x + 4:.1f},{y - 7:.1f}"
    return f"<path d='{path}' {style}{dashes}/><path d='{tip}' {style}/>"


def _bend(one: Point, other: Point) -> str:
    middle = (one[1] + other[1]) / 2
    return f" C{one[0]:.1f},{middle:.1f} {other[0]:.1f},{middle:.1f} {other[0]:.1f},{other[1]:.1f}"


def _text(x: float, y: float, words: str, colour: str = INK, bold: bool = False) -> str:
    weight = " font-weight='bold'" if bold else ""
    return f"<text x='{x:.1f}' y='{y:.1f}' fill='{colour}'{weight}>{escape(words)}</text>"


def _width(words: str, bold: bool = False) -> float:
    """About how wide a text is."""
    return len(words) * _SIZE * _LETTER * (1.12 if bold else 1.0)


def _picture(width: float, height: float, shapes: Iterable[str]) -> str:
    size = f"width='{width:.0f}' height='{height:.0f}' viewBox='0 0 {width:.0f} {height:.0f}'"
    font = f"font-family='DejaVu Sans, Verdana, sans-serif' font-size='{_SIZE:.0f}' text-anchor='middle'"
    ground = "<rect width='100%' height='100%' fill='white'/>"
    return "\n".join([f"<svg xmlns='http://www.w3.org/2000/svg' {size} {font}>", ground, *shapes, "</svg>", ""])
