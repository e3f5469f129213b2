"""A partition of the unit cube into boxes, with the pulls that fell into each and the upper bound this gives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kit.arrays import Column
from ..kit.ledger import State

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Region:
    """A box of the unit cube: its corners, the mean of its values, its number of pulls, and its upper bound.

    The mean is 1 if there is no value yet. Pulls in flight are counted.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    mean: float
    count: int
    bound: float


class Partition:
    """Boxes that become ever smaller, and the points in them. Each point is one pull, that of the arm of the same number.

    Args:
        dimension: Dimension of the cube.
        given: Number of first coordinates that are given (a context) and not drawn.

    Attributes:
        low, high: The corners of each box.
        counts: The number of points in each box, including those in flight.
        means: The mean of the values in each box; 1 if there is none.
        points, values, homes: The point, the value (NaN in flight) and the box of each pull.
    """

    def __init__(self, dimension: int, given: int = 0) -> None:
        self.dimension, self.given = dimension, given
        self.points = _Rows(dimension)
        self.revisions = 0  # how often all values changed
        self.values = Column(float)
        self.homes = Column(np.int64)
        self.merge()

    def merge(self) -> None:
        """Merge all boxes into one."""
        self.low, self.high = _Rows(self.dimension), _Rows(self.dimension)
        self.counts, self.means, self._volumes = Column(float), Column(float), Column(float)
        self._sums, self._valued, self._closed = Column(float), Column(float), Column(bool)
        self._members: list[list[int]] = []
        self.homes.all[:] = 0
        self._add_box(np.zeros(self.dimension), np.ones(self.dimension), list(range(len(self.values.all))))

    def _add_box(self, low: Floats, high: Floats, members: list[int]) -> None:
        self.low.append(low)
        self.high.append(high)
        self._members.append([])
        for column in (self.counts, self.means, self._volumes, self._sums, self._valued, self._closed):
            column.append(0)
        self._fill(len(self._members) - 1, members)

    def _fill(self, box: int, members: list[int]) -> None:
        """Set the points of a box, and count them."""
        values = self.values.all[members]
        known = values[~np.isnan(values)]
        self._members[box] = members
        self.homes.all[members] = box
        self.counts[box], self._valued[box], self._sums[box] = len(members), len(known), float(known.sum())
        self.means[box] = self._sums[box] / len(known) if len(known) else 1.0
        self._volumes[box] = _volume(self.low.all[box], self.high.all[box], self.given)

    def __len__(self) -> int:
        return len(self._members)

    # -- choosing

    def upper_bounds(self, beta: float) -> Floats:
        """Equation 4: mean + beta / sqrt(n) for each box."""
        bounds: Floats = self.means.all + beta / np.sqrt(np.maximum(self.counts.all, 1.0))
        return bounds

    def pick(self, beta: float, given: Sequence[float], rng: np.random.Generator, closed: bool = False) -> int | None:
        """The box with the largest bound among those that contain `given`; None if all of them are closed.

        At a tie, a box is drawn with probability proportional to its volume, so that a point drawn from it is uniform in their
        union.

        Args:
            beta, given: The factor of the bonus and the context in this round.
            rng: The random generator.
            closed: Consider closed boxes too.
        """
        bounds = self.upper_bounds(beta)
        if given:
            bounds[~self.holding(given)] = -np.inf
        if not closed:
            bounds[self._closed.all] = -np.inf
        largest = bounds.max()
        if largest == -np.inf:
            return None
        best = np.flatnonzero(bounds == largest)
        if len(best) == 1:
            return int(best[0])
        volumes = self._volumes.all[best]
        return int(rng.choice(best, p=volumes / volumes.sum()))

    def close(self, box: int) -> None:
        """Mark a box as exhausted: there is nothing new in it or in its parts."""
        self._closed[box] = True

    def draw(self, box: int, given: Sequence[float], rng: np.random.Generator) -> Floats:
        """A uniformly random point of the box that starts with the coordinates `given`."""
        low, high = self.low.all[box, self.given :], self.high.all[box, self.given :]
        return np.concatenate([given, low + rng.random(len(low)) * (high - low)])

    def holding(self, coordinates: Sequence[float]) -> NDArray[np.bool_]:
        """Whether each box contains these first coordinates. A box contains its lower faces, but its upper faces only at 1."""
        at, first = np.asarray(coordinates), len(coordinates)
        high = self.high.all[:, :first]
        inside: NDArray[np.bool_] = ((self.low.all[:, :first] <= at) & ((at < high) | (high == 1.0))).all(axis=1)
        return inside

    def holds(self, box: int, point: Floats) -> bool:
        """Whether the box contains the point."""
        high = self.high.all[box]
        return bool(((self.low.all[box] <= point) & ((point < high) | (high == 1.0))).all())

    # -- counting

    def add(self, box: int, point: Floats) -> None:
        """Add the next pull, which is in flight, to this box."""
        pull = len(self.values.all)
        self.points.append(point)
        self.values.append(np.nan)
        self.homes.append(box)
        self._members[box].append(pull)
        self.counts[box] += 1

    def learn(self, pull: int, value: float) -> None:
        """Set the value of a pull in flight."""
        box = self.homes[pull]
        self.values[pull] = value
        self._valued[box] += 1
        self._sums[box] += value
        self.means[box] = self._sums[box] / self._valued[box]

    def revalue(self, values: Floats) -> None:
        """Change the values of all pulls except those in flight."""
        self.revisions += 1
        known = ~np.isnan(self.values.all)
        self.values.all[known] = values[known]
        homes = self.homes.all[known]
        self._sums.all[:] = np.bincount(homes, self.values.all[known], minlength=len(self))
        self.means.all[:] = 1.0
        np.divide(self._sums.all, self._valued.all, out=self.means.all, where=self._valued.all > 0)

    @property
    def rewards(self) -> int:
        """Number of pulls that have a value."""
        return int(self._valued.all.sum())

    def valued(self, box: int) -> int:
        """Number of values in a box."""
        return int(self._valued[box])

    def samples(self, box: int) -> tuple[Floats, Floats]:
        """The points in a box that have a value, and these values."""
        members = np.array(self._members[box], dtype=np.int64)
        members = members[~np.isnan(self.values.all[members])]
        return self.points.all[members], self.values.all[members]

    # -- splitting

    def split(self, box: int, side: int, at: float) -> int:
        """Split a box: it keeps the part below `at`. Returns the number of the new box."""
        members = np.array(self._members[box], dtype=np.int64)
        below = self.points.all[members, side] < at
        low, high = self.low.all[box].copy(), self.high.all[box].copy()
        self.high.all[box, side] = low[side] = at
        self._fill(box, members[below].tolist())
        self._add_box(low, high, members[~below].tolist())
        self._closed[len(self) - 1] = self._closed[box]
        return len(self) - 1

    # -- showing and storing

    def regions(self, beta: float, given: Sequence[float] = ()) -> list[Region]:
        """The boxes that contain `given`."""
        bounds, some = self.upper_bounds(beta), np.flatnonzero(self.holding(given))
        return [
            Region(
                tuple(self.low.all[box].tolist()),
                tuple(self.high.all[box].tolist()),
                self.means[box],
                int(self.counts[box]),
                float(bounds[box]),
            )
            for box in some.tolist()
        ]

    def state(self) -> State:
        """The arrays from which the rest is computed."""
        return {
            "low": self.low.all.copy(),
            "high": self.high.all.copy(),
            "sums": self._sums.all.copy(),
            "closed": self._closed.all.copy(),
            "points": self.points.all.copy(),
            "values": self.values.all.copy(),
            "homes": self.homes.all.copy(),
        }

    def load(self, state: State) -> None:
        """Restore what `state` returned."""
        boxes, pulls = len(state["sums"]), len(state["values"])
        self.points = _Rows.of(state["points"].reshape(pulls, self.dimension))
        self.values, self.homes = Column.of(state["values"]), Column.of(state["homes"])
        homes, known = state["homes"], ~np.isnan(state["values"])
        self.low = _Rows.of(state["low"].reshape(boxes, self.dimension))
        self.high = _Rows.of(state["high"].reshape(boxes, self.dimension))
        self._sums, self._closed = Column.of(state["sums"]), Column.of(state["closed"])
        self.counts = Column.of(np.bincount(homes, minlength=boxes).astype(float))
        self._valued = Column.of(np.bincount(homes[known], minlength=boxes).astype(float))
        self.means = Column.of(np.divide(state["sums"], self._valued.all, out=np.ones(boxes), where=self._valued.all > 0))
        corners = zip(self.low.all, self.high.all, strict=True)
        self._volumes = Column.of(np.array([_volume(low, high, self.given) for low, high in corners]))
        self._members = [[] for _ in range(boxes)]
        for pull, box in enumerate(homes.tolist()):
            self._members[box].append(pull)


def _volume(low: Floats, high: Floats, given: int) -> float:
    return float(np.prod(high[given:] - low[given:]))


class _Rows:
    """A growing array of rows; `all` is the array."""

    def __init__(self, width: int) -> None:
        self._rows = np.zeros((64, width))
        self._length = 0

    @classmethod
    def of(cls, rows: Floats) -> _Rows:
        grown = cls(rows.shape[1])
        grown._rows, grown._length = np.concatenate([rows, grown._rows]), len(rows)
        return grown

    @property
    def all(self) -> Floats:
        return self._rows[: self._length]

    def append(self, row: Floats) -> None:
        if self._length == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[self._length] = row
        self._length += 1
