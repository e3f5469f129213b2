"""Legal partitions: boxes as small as their number of pulls and the rounds so far allow.

Wang, Geng and Rudin, "A Practical Bandit Method with Advantages in Neural Network Tuning", definition 3 and algorithm 1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..kit.arrays import Column
from .partition import Floats, Partition


def confidence(t: int, alpha: float, c: float, s: float) -> float:
    """beta_t of algorithm 1, in round t: alpha c + sqrt((1/2 + 2 s^2)(4 ln t + ln 2))."""
    return alpha * c + math.sqrt((0.5 + 2.0 * s * s) * (4.0 * math.log(t) + math.log(2.0)))


def smallest(t: int, dimension: int, l: float) -> float:  # noqa: E741  the paper's letter
    """The smallest diameter a box may have after t rounds: l (t+1)^(-1/(d+2))."""
    return float(l * (t + 1.0) ** (-1.0 / (dimension + 2)))


def due(diameters: Floats, halved: Floats, counts: Floats, floor: float, alpha: float) -> NDArray[np.intp]:
    """The boxes to be split: too large for their pulls, with halves that are not too small.

    An empty box is left whole: its parts would all have the same bound, so that points drawn from them are drawn as from it.
    Trap: with a small alpha they would be split down to a grid, of millions of boxes in seven dimensions.

    Args:
        diameters: of each box: its longest side.
        halved: the diameters of its halves.
        counts: of each box: its pulls.
        floor: the smallest diameter there may be now.
        alpha: how much larger a box with one pull may be.
    """
    too_large = diameters > floor + alpha / np.sqrt(np.maximum(counts, 1.0))
    return np.flatnonzero(too_large & (halved >= floor) & (counts > 0.0))


class LegalSplits:
    """Keeps a partition legal. The bound moves with the rounds, so all boxes are checked each time; their diameters are kept.

    Args:
        partition: what is split.
        alpha, l: of definition 3.
    """

    def __init__(self, partition: Partition, alpha: float, l: float) -> None:  # noqa: E741
        self._partition, self._alpha, self._l = partition, alpha, l
        self.measure()

    def measure(self) -> None:
        """Measure all boxes."""
        self._diameters, self._halved = Column(float), Column(float)
        for box in range(len(self._partition)):
            self._diameters.append(0.0)
            self._halved.append(0.0)
            self._measure(box)

    def refine(self, t: int, rng: np.random.Generator) -> None:
        """Split, after t rounds, until no box is due: each in half across its longest side, of equal ones any."""
        floor = smallest(t, self._partition.dimension, self._l)
        while len(boxes := due(self._diameters.all, self._halved.all, self._partition.counts.all, floor, self._alpha)):
            for box in boxes.tolist():
                self._halve(box, rng)

    def _halve(self, box: int, rng: np.random.Generator) -> None:
        low, high = self._partition.low.all[box], self._partition.high.all[box]
        longest = np.flatnonzero(high - low == self._diameters[box])
        side = int(longest[rng.integers(len(longest))])
        self._partition.split(box, side, float(low[side] + high[side]) / 2.0)
        self._diameters.append(0.0)
        self._halved.append(0.0)
        self._measure(box)
        self._measure(len(self._partition) - 1)

    def _measure(self, box: int) -> None:
        sides = np.sort(self._partition.high.all[box] - self._partition.low.all[box])[::-1].tolist()
        longest, second = (*sides, 0.0, 0.0)[:2]
        self._diameters[box], self._halved[box] = longest, max(second, longest / 2.0)
