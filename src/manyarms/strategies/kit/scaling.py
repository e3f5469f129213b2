"""Map rewards on any scale to [0, 1], by declared bounds or by a curve that is fitted to the rewards."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import checks
from .arrays import Column
from .ledger import State

_SLACK = 0.5  # how far noise may take rewards outside [0, 1]
_MOST = 1e300  # rewards are clipped here, so that differences stay finite


class Bounded:
    """Maps declared bounds to 0 and 1. Rewards outside the bounds are clipped.

    Args:
        low, high: The bounds.

    >>> Bounded(0, 200).scale(50)
    0.25
    """

    def __init__(self, low: float, high: float) -> None:
        self._low, self._high = checks.interval("bounds", (low, high))

    def scale(self, reward: float) -> float:
        """The reward mapped to [0, 1]."""
        return min(max((reward - self._low) / (self._high - self._low), 0.0), 1.0)


class ScaledRewards:
    """All rewards in the order in which they arrived, and the value of each on a common scale.

    If no reward lies far outside [0, 1] and at least a quarter lie within, values are the rewards themselves. Otherwise the
    median has the value 1/2 and the best reward 3/4, on a curve that flattens in both directions. A diverged run is then no
    worse than a bad one, and a new best reward is still better.

    The curve is fitted again each time the number of rewards has doubled. The values of old rewards then change too; otherwise
    an early arm would stay ahead because of an outdated value. Callers that keep sums of values must then compute them again,
    which costs O(1) per reward on average.

    Attributes:
        arms: The arm of each reward.

    >>> rewards = ScaledRewards()
    >>> [rewards.tell(arm, reward) for arm, reward in enumerate([-3.0, -2.0, -1e9, -2.5])]
    [True, True, False, True]
    >>> rewards.values.round(2)
    array([0.38, 0.75, 0.  , 0.62])
    """

    def __init__(self) -> None:
        self.arms = Column(np.int64)
        self._rewards = Column(float)
        self._outside = 0  # number of rewards outside [0, 1]
        self._far = False  # whether some are far outside
        self._fit(0)

    def tell(self, arm: int, reward: float) -> bool:
        """Add a reward. Returns whether the values of all other rewards changed."""
        reward = clipped(reward)
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
        """The value of any reward on the current scale."""
        return float(self._curve(clipped(reward)))

    @property
    def values(self) -> NDArray[np.float64]:
        """The values of all rewards on the current scale."""
        return np.asarray(self._curve(self._rewards.all))

    def _curve(self, rewards: Any) -> Any:
        if not self._fitted:
            return rewards
        distances = rewards - self._middle
        return 0.5 + 0.5 * distances / (self._reach + abs(distances))  # dividing by a tiny reach alone would overflow

    def _fit(self, first: int) -> None:
        """Fit the curve to the first rewards. With 0, values are the rewards themselves."""
        rewards = self._rewards.all[:first]
        self._fitted = first
        self._middle = float(np.median(rewards)) if first else 0.0
        self._reach = float(rewards.max() - self._middle) or 1.0 if first else 1.0

    def state(self) -> State:
        """The rewards, and how many of them the curve was fitted to."""
        return {"arms": self.arms.all.copy(), "rewards": self._rewards.all.copy(), "fitted": self._fitted}

    def load(self, state: State) -> None:
        """Restore a state that `state` returned."""
        rewards = state["rewards"]
        self.arms, self._rewards = Column.of(state["arms"]), Column.of(rewards)
        self._outside = int(np.sum((rewards < 0.0) | (rewards > 1.0)))
        self._far = bool(np.any((rewards < -_SLACK) | (rewards > 1.0 + _SLACK)))
        self._fit(state["fitted"])


def clipped(reward: float) -> float:
    """The reward, or the nearest one whose differences and sums with others stay finite."""
    return min(max(reward, -_MOST), _MOST)
