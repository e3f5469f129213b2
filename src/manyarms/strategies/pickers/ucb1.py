"""UCB1: picks the arm with the largest upper bound of its mean."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .picker import Floats, Picker


def upper_bounds(means: Floats, trials: Floats, total: float) -> Floats:
    """The mean of each arm plus sqrt(2 ln t / T_i)."""
    return np.asarray(means + np.sqrt(2.0 * math.log(total) / trials))


class UCB1(Picker):
    """The arm with the largest upper bound of its mean. It finds the arm with the best mean, not the one with the best reward.

    Args:
        n: Number of arms. A `Cascade` sets it.

    >>> import numpy as np
    >>> picker, rng = UCB1(n=2), np.random.default_rng(0)
    >>> for _ in range(100):
    ...     arm = picker.pick(rng)
    ...     picker.update(arm, (0.2, 0.9)[arm])
    >>> picker.trials.tolist()
    [9.0, 91.0]
    """

    def __init__(self, *, n: int | None = None) -> None:
        super().__init__(n)

    def _decide(self, arms: NDArray[np.int64], rng: np.random.Generator) -> int:
        return int(upper_bounds(self.means(arms), self.trials[arms], self.trials.sum()).argmax())
