"""Rewards of any scale brought to [0, 1]: by bounds that are declared, or along a curve that follows the rewards."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import checks
from .arrays import Column
from .ledger import State

_SLACK = 0.5  # rewards from 0 to 1 may leave it by so much, as noise lets them
_MOST = 1e300  # rewards are cut off here, so that differences stay finite


class Bounded:
    """Declared bounds become 0 and 1; what lies outside is cut off.

    >>> Bounded(0, 200).scale(50)
    0.25
    """

    def __init__(self, low: float, high: float) -> None:
        self._low, self._high = checks.interval("bounds", (low, high))

    def scale(self, reward: float) -> float:
        """The reward from 0 to 1."""
        return min(max((reward - self._low) / (self._high - self._low), 0.0), 1.0)


class ScaledRewards:
    """The rewards of arms, in the order they were told, and the value of each on a scale that all of them share.

    Where no reward lies far outside [0, 1], and at least a quarter within, as noise may have it, values are what rewards are.
    Otherwise the median is worth 1/2 and the best 3/4, along a curve that flattens both ways: a diverged run is no worse than
    bad, and a better best is still better.

    The curve is fitted again each time the number of rewards has doubled. Then the values of old rewards change too, lest an
    early arm stay ahead for what it was worth once. Who adds values up does so anew: O(1) for each reward, on average.

    Attributes:
        arms: whose each reward is.

    >>> rewards = ScaledRewards()
    >>> [rewards.tell(arm, reward) for arm, reward in enumerate([-3.0, -2.0, -1e9, -2.5])]
    [True, True, False, True]
    >>> rewards.values.round(2)
    array([0.38, 0.75, 0.  , 0.62])
    """

    def __init__(self) -> None:
        self.arms = Column(np.int64)
        self._rewards = Column(float)
        self._outside = 0  # rewards that are not within [0, 1]
        self._far = False  # some are not even nearly
        self._fit(0)

    def tell(self, arm: int, reward: float) -> bool:
        """Take in a reward; True if with it the values of all others change."""
        reward = _cut_off(reward)
        self.arms.append(arm)
        self._rewards.append(reward)
        self._outside += not 0.0 <= reward <= 1.0
        self._far = self._far or not -_SLACK <= reward <= 1.0 + _SLACK
        told = len(self._rewards.all)
        as_they_are = not self._far and 4 * self._outside <= 3 * told
        changes = told >= 2 * self._fitted if self._fitted else not as_they_are
        if changes:
            self._fit(0 if as_they_are else told)
        return changes

    def value(self, reward: float) -> float:
        """Of any reward, on the scale as it is now."""
        return float(self._curve(_cut_off(reward)))

    @property
    def values(self) -> NDArray[np.float64]:
        """Of all rewards, on the scale as it is now."""
        return np.asarray(self._curve(self._rewards.all))

    def _curve(self, rewards: Any) -> Any:
        if not self._fitted:
            return rewards
        distances = rewards - self._middle
        return 0.5 + 0.5 * distances / (self._reach + abs(distances))  # never divided by a tiny reach alone, which overflows

    def _fit(self, first: int) -> None:
        """Fit the curve to so many of the rewards; to none: values are the rewards as they are."""
        rewards = self._rewards.all[:first]
        self._fitted = first
        self._middle = float(np.median(rewards)) if first else 0.0
        self._reach = float(rewards.max() - self._middle) or 1.0 if first else 1.0

    def state(self) -> State:
        """The rewards, and how many of them the curve was fitted to."""
        return {"arms": self.arms.all.copy(), "rewards": self._rewards.all.copy(), "fitted": self._fitted}

    def load(self, state: State) -> None:
        """Take back what `state` gave."""
        rewards = state["rewards"]
        self.arms, self._rewards = Column.of(state["arms"]), Column.of(rewards)
        self._outside = int(np.sum((rewards < 0.0) | (rewards > 1.0)))
        self._far = bool(np.any((rewards < -_SLACK) | (rewards > 1.0 + _SLACK)))
        self._fit(state["fitted"])


def _cut_off(reward: float) -> float:
    return min(max(reward, -_MOST), _MOST)
