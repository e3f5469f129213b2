"""ExtremeUCB: ER-UCB that looks at the best reward of each arm, instead of foretelling it from mean and spread."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ... import checks
from .er_ucb import doubts
from .picker import Picker


class ExtremeUCB(Picker):
    """The arm with the largest sum of its best reward and the exploration of ER-UCB:

        gamma best_i + e + sqrt(e / theta),   e = sqrt(2 ln t / T_i)

    `ERUCB` foretells an arm's best rewards from the mean and the spread of all. That misleads where many are bad, since
    these count as spread too. The best reward itself is not misled so, and needs no origin `beta`. But noise misleads it: where
    a pull says little about its config, use `UCB1`.

    Args:
        theta: how much exploration counts: less explores more.
        gamma: how much the best reward counts beside it.
        n: how many arms.

    >>> import numpy as np
    >>> picker, rng = ExtremeUCB(n=2), np.random.default_rng(0)
    >>> for _ in range(500):
    ...     arm = picker.pick(rng)
    ...     picker.update(arm, rng.normal((0.84, 0.88)[arm], (0.07, 0.01)[arm]))
    >>> picker.trials.argmax()  # the mean is lower, the best are higher
    np.int64(0)
    """

    def __init__(self, *, theta: float = 0.01, gamma: float = 50.0, n: int | None = None) -> None:
        self.theta = checks.between("theta", checks.positive("theta", theta), 0, 1)
        self.gamma = checks.between("gamma", gamma, 0)
        super().__init__(n, theta=theta, gamma=gamma)

    def _decide(self, arms: NDArray[np.int64], rng: np.random.Generator) -> int:
        worst = self._worst if math.isfinite(self._worst) else 0.0
        bests = np.maximum(self._bests[arms], worst)  # where all trials failed
        return int((self.gamma * bests + doubts(self.trials[arms], self.trials.sum(), self.theta)).argmax())
