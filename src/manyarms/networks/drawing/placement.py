"""Where the boxes of a drawing go: in rows, each below all that lead to it, so that arrows point down and miss other boxes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

Key = Hashable
Pair = tuple[Key, Key]
Point = tuple[float, float]

_GAP = 26.0  # between boxes of a row
_BETWEEN = 38.0  # from one row to the next
_LANE = 14.0  # width of what an arrow takes in a row that it passes


@dataclass(frozen=True, slots=True)
class Placement:
    """Of the boxes of a drawing.

    Attributes:
        centres: of each box, with the upper left corner of all at 0, 0.
        routes: of each arrow, the points between its ends where it enters and leaves the rows that it passes.
        width, height: of the whole.
    """

    centres: dict[Key, Point]
    routes: dict[Pair, list[Point]]
    width: float
    height: float


def placed(sizes: Mapping[Key, Point], arrows: Sequence[Pair]) -> Placement:
    """The boxes in rows, one below the longest way to it; within a row below those that lead to them.

    Args:
        sizes: width and height of each box, in an order in which none comes before one that leads to it.
        arrows: from which to which.

    >>> placed({"a": (10, 20), "b": (10, 20)}, [("a", "b")]).centres
    {'a': (5.0, 10.0), 'b': (5.0, 68.0)}
    """
    rank = _ranks(list(sizes), arrows)
    rows: list[list[Key]] = [[] for _ in range(max(rank.values()) + 1)]
    for key in sizes:
        rows[rank[key]].append(key)
    above: dict[Key, list[Key]] = {key: [] for key in sizes}
    for source, target in arrows:
        before = source
        for row in range(rank[source] + 1, rank[target]):
            lane = (source, target, row)
            rows[row].append(lane)
            above[lane], before = [before], lane
        above[target].append(before)
    widths = {key: sizes[key][0] if key in sizes else _LANE for row in rows for key in row}
    across, down = _across(rows, above, widths), _down(rows, sizes)
    routes: dict[Pair, list[Point]] = {}
    for source, target in arrows:
        passed = range(rank[source] + 1, rank[target])
        routes[source, target] = [(across[source, target, row], edge) for row in passed for edge in down[row]]
    centres = {key: (across[key], sum(down[rank[key]]) / 2) for key in sizes}
    return Placement(centres, routes, max(x + widths[key] / 2 for key, x in across.items()), down[-1][1])


def _ranks(keys: Sequence[Key], arrows: Sequence[Pair]) -> dict[Key, int]:
    """The row of each box."""
    rank = dict.fromkeys(keys, 0)
    for key in keys:
        rank[key] = max((rank[source] + 1 for source, target in arrows if target == key), default=0)
    return rank


def _down(rows: Sequence[Sequence[Key]], sizes: Mapping[Key, Point]) -> list[Point]:
    """Top and bottom of each row."""
    edges, top = [], 0.0
    for row in rows:
        bottom = top + max(sizes[key][1] for key in row if key in sizes)
        edges.append((top, bottom))
        top = bottom + _BETWEEN
    return edges


def _across(rows: Sequence[Sequence[Key]], above: Mapping[Key, Sequence[Key]], widths: Mapping[Key, float]) -> dict[Key, float]:
    """The middle of each box and lane, every row sorted by what is above it, and centred."""
    middles: dict[Key, float] = {}
    for row in rows:
        wanted = {key: sum(middles[each] for each in above[key]) / len(above[key]) if above[key] else 0.0 for key in row}
        order = sorted(row, key=wanted.__getitem__)
        at = -(sum(widths[key] for key in order) + _GAP * (len(order) - 1)) / 2
        for key in order:
            middles[key] = at + widths[key] / 2
            at += widths[key] + _GAP
    left = min(x - widths[key] / 2 for key, x in middles.items())
    return {key: x - left for key, x in middles.items()}
