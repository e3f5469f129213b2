"""Legal partitions: boxes as small as their number of pulls and the number of rounds allow.

Wang, Geng and Rudin, "A Practical Bandit Method with Advantages in Neural Network Tuning", definition 3 and algorithm 1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ... import checks
from ..kit.arrays import Column
from ..kit.ledger import State
from .partition import Floats, Partition


def confidence(t: int, alpha: float, c: float, s: float) -> float:
    """beta_t of algorithm 1, in round t: alpha c + sqrt((1/2 + 2 s^2)(4 ln t + ln 2))."""
    return alpha * c + math.sqrt((0.5 + 2.0 * s * s) * (4.0 * math.log(t) + math.log(2.0)))


def smallest(t: int, dimension: int, l: float) -> float:  # noqa: E741  the paper's letter
    """The smallest diameter a box may have after t rounds: l (t+1)^(-1/(d+2))."""
    return float(l * (t + 1.0) ** (-1.0 / (dimension + 2)))


def due(diameters: Floats, halved: Floats, counts: Floats, floor: float, alpha: float) -> NDArray[np.intp]:
    """Numbers of the boxes to split: those too large for their pulls whose halves are not too small.

    An empty box is not split, because all its parts would have the same bound. Besides, with a small alpha it would be split
    into a grid, which has millions of boxes in seven dimensions.

    Args:
        diameters: The longest side of each box.
        halved: The diameter of the halves of each box.
        counts: The pulls of each box.
        floor: The smallest diameter allowed now.
        alpha: How much larger a box with one pull may be.
    """
    too_large = diameters > floor + alpha / np.sqrt(np.maximum(counts, 1.0))
    return np.flatnonzero(too_large & (halved >= floor) & (counts > 0.0))


class LegalSplits:
    """Keeps a partition legal. The limits change in every round, so all boxes are checked each time.

    Args:
        partition: The partition to split.
        alpha, l: The constants of definition 3.
    """

    def __init__(self, partition: Partition, alpha: float, l: float) -> None:  # noqa: E741
        self._partition, self._alpha, self._l = partition, alpha, l
        self._measure_all()

    def learn(self, pull: int, rng: np.random.Generator) -> None:
        """Split boxes after the reward of a pull is known."""
        self.refine(len(self._partition.values.all), rng)

    def refine(self, t: int, rng: np.random.Generator) -> None:
        """Split boxes after t rounds until all are small enough: in half across the longest side, or a random one at a tie."""
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

    def _measure_all(self) -> None:
        self._diameters, self._halved = Column(float), Column(float)
        for box in range(len(self._partition)):
            self._diameters.append(0.0)
            self._halved.append(0.0)
            self._measure(box)

    def _measure(self, box: int) -> None:
        sides = np.sort(self._partition.high.all[box] - self._partition.low.all[box])[::-1].tolist()
        longest, second = (*sides, 0.0, 0.0)[:2]
        self._diameters[box], self._halved[box] = longest, max(second, longest / 2.0)

    def state(self) -> State:
        """An empty state, because everything follows from the partition."""
        return {}

    def load(self, state: State) -> None:
        """Measure the boxes of a partition that was restored."""
        self._measure_all()


class PartitionRule:
    """The constants of algorithm 1, checked.

    Args:
        alpha, l, c, s, factor: As in `PartitionUCB`.
    """

    def __init__(self, alpha: float, l: float, c: float, s: float, factor: float) -> None:  # noqa: E741
        self._alpha, self._l = checks.positive("alpha", alpha), checks.positive("l", l)
        self._c, self._s = checks.between("c", c, 0), checks.between("s", s, 0)
        self._factor = checks.between("factor", factor, 0)

    def beta(self, t: int) -> float:
        """The factor of the bonus in round t."""
        return self._factor * confidence(t, self._alpha, self._c, self._s)

    def splitter(self, partition: Partition) -> LegalSplits:
        """The object that keeps a partition legal."""
        return LegalSplits(partition, self._alpha, self._l)
