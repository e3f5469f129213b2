"""ExtremeUCB: ER-UCB that uses the best reward of each arm instead of predicting it from the mean and the spread."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ... import checks
from .er_ucb import exploration_bonuses
from .picker import Picker


class ExtremeUCB(Picker):
    """The arm with the largest sum of its best reward and the exploration bonus of ER-UCB:

        gamma best_i + e + sqrt(e / theta),   e = sqrt(2 ln t / T_i)

    `ERUCB` predicts the best rewards of an arm from the mean and the spread of all its rewards. If many rewards are bad, they
    inflate the spread and make that prediction wrong. The best reward itself is not affected, and needs no origin `beta`. But
    it is sensitive to noise: if a single reward says little about its config, use `UCB1`.

    Args:
        theta: Smaller values explore more.
        gamma: Weight of the best reward relative to exploration.
        n: Number of arms. A `Cascade` sets it.

    >>> import numpy as np
    >>> picker, rng = ExtremeUCB(n=2), np.random.default_rng(0)
    >>> for _ in range(500):
    ...     arm = picker.pick(rng)
    ...     picker.update(arm, rng.normal((0.84, 0.88)[arm], (0.07, 0.01)[arm]))
    >>> int(picker.trials.argmax())  # its mean is lower, but its best rewards are higher
    0
    """

    def __init__(self, *, theta: float = 0.01, gamma: float = 50.0, n: int | None = None) -> None:
        self.theta = checks.between("theta", checks.positive("theta", theta), 0, 1)
        self.gamma = checks.between("gamma", gamma, 0)
        super().__init__(n, theta=theta, gamma=gamma)

    def _decide(self, arms: NDArray[np.int64], rng: np.random.Generator) -> int:
        bests = np.maximum(self._bests[arms], self.worst())  # if all trials of an arm failed
        return int((self.gamma * bests + exploration_bonuses(self.trials[arms], self.trials.sum(), self.theta)).argmax())
