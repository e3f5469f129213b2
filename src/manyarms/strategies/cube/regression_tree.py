"""A regression tree that grows as rewards come. Its leaves are the boxes of a partition.

Wang, Geng and Rudin, "A Practical Bandit Method with Advantages in Neural Network Tuning", section 3.1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ... import checks
from ..kit.arrays import Column
from ..kit.ledger import State
from .partition import Floats, Partition

_EQUAL = 1e-12  # gains that differ by less are equal up to rounding
_FEW = 128  # up to this many values, comparing all pairs is fast


def deviations(values: Floats, orders: NDArray[np.intp]) -> Floats:
    """For each order of the values and each of its prefixes: the sum of distances to the mean of the prefix.

    A running sum cannot be used, because the mean changes. But the distances below the mean add up to those above it, so the
    result is 2 (mean x count - sum) of the values below the mean.

    >>> deviations(np.array([0.0, 1.0, 5.0]), np.array([[0, 1, 2], [2, 1, 0]])).tolist()
    [[0.0, 1.0, 6.0], [0.0, 4.0, 6.0]]
    """
    ordered = values[orders]
    means = np.cumsum(ordered, axis=1) / np.arange(1, len(values) + 1)
    count_below = _below_by_pairs if len(values) <= _FEW else _below_by_bits
    counts, sums = count_below(values, orders, means)
    return np.asarray(2.0 * np.maximum(means * counts - sums, 0.0))


def _below_by_pairs(values: Floats, orders: NDArray[np.intp], limits: Floats) -> tuple[Floats, Floats]:
    """Number and sum of the values below the k-th limit among the first k values of each order, by comparing all pairs."""
    ordered = values[orders]
    below = (ordered[:, None, :] < limits[:, :, None]) & np.tri(len(values), dtype=bool)
    return below.sum(axis=2), np.where(below, ordered[:, None, :], 0.0).sum(axis=2)


def _below_by_bits(values: Floats, orders: NDArray[np.intp], limits: Floats) -> tuple[Floats, Floats]:
    """The same in O(m log m), by a wavelet matrix.

    The ranks of the values are sorted bit by bit from the highest, zeros first. Values that share the higher bits of a limit's
    rank stay together, between a start and a stop.
    """
    rows, m = orders.shape
    ascending = np.argsort(values, kind="stable")
    ranks = np.empty(m, dtype=np.intp)
    ranks[ascending] = np.arange(m)
    targets = np.searchsorted(values[ascending], limits)  # a value is below the limit if its rank is below this
    first, padded = m * np.arange(rows)[:, None], (m + 1) * np.arange(rows)[:, None]  # offsets of the rows in flat arrays
    code, part = ranks[orders], values[orders]
    start, stop = np.zeros((rows, m), dtype=np.intp), np.tile(np.arange(1, m + 1), (rows, 1))
    counts, sums = np.zeros((rows, m)), np.zeros((rows, m))
    zeros, zero_sums = np.zeros((rows, m + 1), dtype=np.intp), np.zeros((rows, m + 1))
    for bit in range(m.bit_length() - 1, -1, -1):
        is_zero = (code >> bit & 1) == 0
        np.cumsum(is_zero, axis=1, out=zeros[:, 1:])
        np.cumsum(np.where(is_zero, part, 0.0), axis=1, out=zero_sums[:, 1:])
        before, until = zeros.take(padded + start), zeros.take(padded + stop)
        above = (targets >> bit & 1) == 1  # then all zeros between start and stop are below the limit
        counts += np.where(above, until - before, 0)
        sums += np.where(above, zero_sums.take(padded + stop) - zero_sums.take(padded + start), 0.0)
        ones = zeros[:, -1:]  # where the ones start after sorting
        start, stop = np.where(above, ones + start - before, before), np.where(above, ones + stop - until, until)
        places = first + np.where(is_zero, zeros[:, :-1], ones + np.arange(m) - zeros[:, :-1])
        code, part, last_code, last_part = np.empty_like(code), np.empty_like(part), code, part
        code.put(places, last_code)
        part.put(places, last_part)
    return counts, sums


def split_gains(points: Floats, values: Floats) -> tuple[Floats, Floats]:
    """For each coordinate: its sorted values, and the gain of a split after each of them but the last.

    The gain is that of equation 13, times |N|: the sum of distances to the mean, minus the same sums of the two parts. It is
    -inf where two points are equal in the coordinate, so that there is no split between them.
    """
    orders = np.argsort(points.T, axis=1, kind="stable")
    ordered = np.take_along_axis(points.T, orders, axis=1)
    both = deviations(values, np.concatenate([orders, orders[:, ::-1]]))
    first, last = both[: len(orders)], both[len(orders) :, ::-1]
    gains = first[:, -1:] - first[:, :-1] - last[:, 1:]
    return ordered, np.where(ordered[:, :-1] < ordered[:, 1:], gains, -math.inf)


class RegressionTree:
    """Splits a box while that lowers the mean absolute error of its values about their mean.

    A reward changes only its own box, and can raise the gain of a split there only by a limited amount: the sum of distances
    grows by at most 2 |reward - new mean|, while those of the parts never shrink. So a box without a worthwhile split is
    checked again only when the largest gain, raised by this amount with every reward, could be enough.

    Args:
        partition: The partition to split.
        min_gain: The smallest gain that is worth a split.
        min_leaf: The fewest rewards a leaf may have.
        min_split: The fewest rewards a leaf must have to be split; None means five times `min_leaf`.
        refit: When to grow a new tree from all rewards: True after each reward, "doubling" whenever their number has doubled,
            False never.
    """

    def __init__(self, partition: Partition, min_gain: float, min_leaf: int, min_split: int | None, refit: bool | str) -> None:
        self._partition = partition
        self._min_gain = checks.between("min_gain", min_gain, 0)
        self._min_leaf = checks.whole("min_leaf", min_leaf, 1)
        # If leaves were split as soon as possible, all would have about the same number of rewards, hence nearly equal bonuses.
        self._min_split = 5 * min_leaf if min_split is None else checks.whole("min_split", min_split, 2 * min_leaf)
        if not isinstance(refit, bool) and refit != "doubling":
            raise ValueError(f"refit must be True, False or 'doubling', got {refit!r}")
        self._refit = refit
        self._ceilings = Column(float)  # for each box: an upper limit of the gain of a split, times its rewards
        self._ceilings.append(0.0)
        self._revisions = partition.revisions

    def learn(self, pull: int, rng: np.random.Generator) -> None:
        """Learn from the reward of a pull: split its box further or, if that is due, grow a new tree from all rewards."""
        partition = self._partition
        if partition.revisions != self._revisions:
            self._revisions = partition.revisions
            self._ceilings.all[:] = math.inf
        if self._is_due(partition.rewards):
            partition.merge()
            self._ceilings = Column(float)
            self._ceilings.append(math.inf)
            self._grow([0], rng)
            return
        box = partition.homes[pull]
        self._ceilings[box] += 2.0 * abs(partition.values[pull] - partition.means[box])
        self._grow([box], rng)

    def _is_due(self, rewards: int) -> bool:
        """Whether a new tree is due at this number of rewards."""
        return bool(self._refit) if self._refit != "doubling" else rewards & (rewards - 1) == 0

    def _grow(self, boxes: list[int], rng: np.random.Generator) -> None:
        while boxes:
            box = boxes.pop()
            cut = self._best_cut(box, rng)
            if cut is not None:
                boxes += [box, self._partition.split(box, *cut)]
                self._ceilings[box] = math.inf
                self._ceilings.append(math.inf)

    def _best_cut(self, box: int, rng: np.random.Generator) -> tuple[int, float] | None:
        """The side and the position of the split with the largest gain, a random one at a tie; None if no gain is enough."""
        rewards, least = self._partition.valued(box), self._min_leaf
        enough = self._min_gain * rewards
        if rewards < self._min_split or self._ceilings[box] + _EQUAL < enough:
            return None
        ordered, gains = split_gains(*self._partition.samples(box))
        allowed = gains[:, least - 1 : rewards - least]
        self._ceilings[box] = max(0.0, float(gains.max(initial=0.0)))
        largest = float(allowed.max(initial=-math.inf))
        if largest < enough:
            return None
        sides, places = np.nonzero(allowed >= largest - _EQUAL * rewards)
        any_of = int(rng.integers(len(sides)))
        side, place = int(sides[any_of]), int(places[any_of]) + least - 1
        below, above = float(ordered[side, place]), float(ordered[side, place + 1])
        middle = (below + above) / 2.0
        return side, middle if below < middle else above  # adjacent floats have no middle

    def state(self) -> State:
        """The upper limits; the rest follows from the partition."""
        return {"ceilings": self._ceilings.all.copy()}

    def load(self, state: State) -> None:
        """Restore what `state` returned."""
        self._ceilings = Column.of(state["ceilings"])
        self._revisions = self._partition.revisions
