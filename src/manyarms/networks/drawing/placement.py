"""Positions of the boxes of a diagram: in rows, so that arrows point down and do not cross other boxes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

Key = Hashable
Pair = tuple[Key, Key]
Point = tuple[float, float]

_COLUMN_GAP = 26.0  # between boxes of a row
_ROW_GAP = 38.0  # between rows
_LANE_WIDTH = 14.0  # room for an arrow in a row that it passes


@dataclass(frozen=True, slots=True)
class Placement:
    """Positions of boxes and arrows.

    Attributes:
        centers: Center of each box. The upper left corner of the diagram is at 0, 0.
        routes: For each arrow, the points where it enters and leaves the rows that it passes.
        width: Width of the diagram.
        height: Height of the diagram.
    """

    centers: dict[Key, Point]
    routes: dict[Pair, list[Point]]
    width: float
    height: float


def place_boxes(sizes: Mapping[Key, Point], arrows: Sequence[Pair]) -> Placement:
    """Place boxes in rows. The row of a box is the length of the longest path to it.

    Args:
        sizes: Width and height of each box, in topological order: the source of an arrow comes before its target.
        arrows: Source and target of each arrow.

    >>> place_boxes({"a": (10, 20), "b": (10, 20)}, [("a", "b")]).centers
    {'a': (5.0, 10.0), 'b': (5.0, 68.0)}
    """
    row_of = _row_numbers(list(sizes), arrows)
    rows, above = _rows_with_lanes(row_of, arrows)
    widths = {key: sizes[key][0] if key in sizes else _LANE_WIDTH for row in rows for key in row}
    x, edges = _horizontal_positions(rows, above, widths), _row_edges(rows, sizes)
    routes: dict[Pair, list[Point]] = {}
    for source, target in arrows:
        passed = range(row_of[source] + 1, row_of[target])
        routes[source, target] = [(x[source, target, row], edge) for row in passed for edge in edges[row]]
    centers = {key: (x[key], sum(edges[row_of[key]]) / 2) for key in sizes}
    return Placement(centers, routes, max(middle + widths[key] / 2 for key, middle in x.items()), edges[-1][1])


def _row_numbers(keys: Sequence[Key], arrows: Sequence[Pair]) -> dict[Key, int]:
    """The row of each box."""
    row_of = dict.fromkeys(keys, 0)
    for key in keys:
        row_of[key] = max((row_of[source] + 1 for source, target in arrows if target == key), default=0)
    return row_of


def _rows_with_lanes(row_of: Mapping[Key, int], arrows: Sequence[Pair]) -> tuple[list[list[Key]], dict[Key, list[Key]]]:
    """The boxes of each row with lanes for the arrows that pass it, and what leads to each box or lane from the row above."""
    rows: list[list[Key]] = [[] for _ in range(max(row_of.values()) + 1)]
    for key, row in row_of.items():
        rows[row].append(key)
    above: dict[Key, list[Key]] = {key: [] for key in row_of}
    for source, target in arrows:
        previous = source
        for row in range(row_of[source] + 1, row_of[target]):
            lane = (source, target, row)
            rows[row].append(lane)
            above[lane], previous = [previous], lane
        above[target].append(previous)
    return rows, above


def _row_edges(rows: Sequence[Sequence[Key]], sizes: Mapping[Key, Point]) -> list[Point]:
    """Top and bottom of each row."""
    edges, top = [], 0.0
    for row in rows:
        bottom = top + max(sizes[key][1] for key in row if key in sizes)
        edges.append((top, bottom))
        top = bottom + _ROW_GAP
    return edges


def _horizontal_positions(
    rows: Sequence[Sequence[Key]], above: Mapping[Key, Sequence[Key]], widths: Mapping[Key, float]
) -> dict[Key, float]:
    """The middle of each box and lane. Each row is centered and sorted by the positions of what leads to its boxes."""
    middles: dict[Key, float] = {}
    for row in rows:
        wanted = {key: sum(middles[each] for each in above[key]) / len(above[key]) if above[key] else 0.0 for key in row}
        order = sorted(row, key=wanted.__getitem__)
        left = -(sum(widths[key] for key in order) + _COLUMN_GAP * (len(order) - 1)) / 2
        for key in order:
            middles[key] = left + widths[key] / 2
            left += widths[key] + _COLUMN_GAP
    leftmost = min(middle - widths[key] / 2 for key, middle in middles.items())
    return {key: middle - leftmost for key, middle in middles.items()}
