"""Rewards of any scale brought to [0, 1], for the strategies that need it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .. import checks
from .book import State


class Scaler(Protocol):
    """Maps rewards, larger is better, to what a strategy is told."""

    def scale(self, reward: float) -> float:
        """The reward on the strategy's scale; may learn from it."""

    def state(self) -> State:
        """What it learned."""

    def load(self, state: State) -> None:
        """Take that back."""


class Unscaled:
    """Rewards as they are."""

    def scale(self, reward: float) -> float:
        return reward

    def state(self) -> State:
        return {}

    def load(self, state: State) -> None:
        pass


class Bounded(Unscaled):
    """Declared bounds become 0 and 1; what lies outside is cut off.

    >>> Bounded(0, 200).scale(50)
    0.25
    """

    def __init__(self, low: float, high: float) -> None:
        self._low, self._high = checks.interval("bounds", (low, high))
        checks.finite("the distance between bounds", float(high) - float(low))

    def scale(self, reward: float) -> float:
        return min(max((reward - self._low) / (self._high - self._low), 0.0), 1.0)


class Adaptive:
    """Rewards that stay within [0, 1] are left alone. Otherwise the median becomes 1/2 and the best 3/4, along a curve that
    flattens both ways: a diverged run is no worse than bad, and a better best is still better.

    The curve is fitted again each time the number of rewards has doubled, so that arms are compared on nearly one scale.

    Args:
        slack: rewards may also leave [0, 1] by so much, as noise lets them, and are left alone.

    >>> scaler = Adaptive()
    >>> [round(scaler.scale(reward), 2) for reward in (-3.0, -2.0, -1e9, -2.5)]
    [0.5, 0.75, 0.0, 0.62]
    """

    def __init__(self, slack: float = 0.0) -> None:
        self._slack = slack
        self._rewards: list[float] = []
        self.fitted = 0
        """How many rewards the curve was fitted to; 0: all within [0, 1] so far."""
        self._middle = 0.0
        self._reach = 1.0

    def scale(self, reward: float) -> float:
        reward = min(max(reward, -1e300), 1e300)  # so that differences stay finite
        self._rewards.append(reward)
        n = len(self._rewards)
        outside = not -self._slack <= reward <= 1.0 + self._slack
        if (self.fitted and n >= 2 * self.fitted) or (not self.fitted and outside):
            self._fit()
        return float(self.curve(reward))

    def curve(self, rewards: Any) -> Any:
        """One or many rewards, on the scale as it is now."""
        if not self.fitted:
            return rewards
        distances = rewards - self._middle
        return 0.5 + 0.5 * distances / (self._reach + abs(distances))  # never divided by a tiny reach alone, which overflows

    def _fit(self) -> None:
        rewards = np.array(self._rewards)
        self.fitted = len(rewards)
        self._middle = float(np.median(rewards))
        self._reach = float(rewards.max() - self._middle) or 1.0

    def state(self) -> State:
        return {"rewards": np.array(self._rewards), "fitted": self.fitted, "middle": self._middle, "reach": self._reach}

    def load(self, state: State) -> None:
        self._rewards = state["rewards"].tolist()
        self.fitted, self._middle, self._reach = state["fitted"], state["middle"], state["reach"]
