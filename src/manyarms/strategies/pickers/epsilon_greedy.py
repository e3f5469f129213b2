"""Epsilon-greedy: picks the arm with the largest mean, and sometimes a random one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ... import checks
from .picker import Picker


class EpsilonGreedy(Picker):
    """The arm with the largest mean or, with probability epsilon, a random arm.

    Args:
        epsilon: Probability of a random arm.
        n: Number of arms. A `Cascade` sets it.
    """

    def __init__(self, epsilon: float = 0.1, *, n: int | None = None) -> None:
        self.epsilon = checks.between("epsilon", epsilon, 0, 1)
        super().__init__(n, epsilon=epsilon)

    def _decide(self, arms: NDArray[np.int64], rng: np.random.Generator) -> int:
        if rng.random() < self.epsilon:
            return int(rng.random() * len(arms))
        return int(self.means(arms).argmax())
