"""ER-UCB: picks the arm whose best rewards are largest, not the arm with the largest mean.

"Cascaded algorithm selection and hyper-parameter optimization with extreme-region upper confidence bound bandit".
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ... import checks
from .picker import Floats, Picker


def exploration_bonuses(trials: Floats, total: float, theta: float) -> Floats:
    """The exploration bonus of each arm: e + sqrt(e / theta), where e = sqrt(2 ln t / T_i)."""
    e = np.sqrt(2.0 * math.log(total) / trials)
    return np.asarray(e + np.sqrt(e / theta))


def indices(mean_y: Floats, mean_z: Floats, trials: Floats, total: float, theta: float, gamma: float) -> Floats:
    """Equation 17: the expected reward in the extreme region of each arm, plus the exploration bonus."""
    return np.asarray(gamma * (mean_y + np.sqrt(mean_z / theta)) + exploration_bonuses(trials, total, theta))


def automatic_beta(means: Floats) -> float:
    """The mean of the arms' means. All arms count equally, so it does not depend on how often each was picked."""
    return float(means.mean())


class ERUCB(Picker):
    """The arm with the largest index of the ER-UCB paper:

        gamma (mean_Y + sqrt(mean_Z / theta)) + e + sqrt(e / theta),   e = sqrt(2 ln t / T_i)

    with Y = X - beta and Z = (X - beta)^2 of the rewards X of the arm, T_i of the t trials so far.

    The paper estimates mean + sqrt(variance / theta) (equation 4). Z stands for the variance, and beta keeps the mean out of
    it. A fixed beta must be near the means of the best arms, but not much above the mean of any arm: the further an arm lies
    below it, the larger its Z, until a hopeless arm looks best. Therefore "auto" sets beta to the mean of the arms' means, and
    uses the variance as Z for arms below it.

    A failure lowers mean_Y like the worst reward, and adds nothing to mean_Z.

    Args:
        theta: How rare the extreme region is. With smaller values, the spread of an arm's rewards counts more.
        gamma: Weight of the extreme region relative to exploration.
        beta: The origin of rewards, on their own scale, or "auto".
        n: Number of arms. A `Cascade` sets it.

    >>> import numpy as np
    >>> picker, rng = ERUCB(n=2), np.random.default_rng(0)
    >>> for _ in range(500):
    ...     arm = picker.pick(rng)
    ...     picker.update(arm, rng.normal((0.84, 0.88)[arm], (0.07, 0.01)[arm]))
    >>> int(picker.trials.argmax())  # its mean is lower, but its best rewards are higher
    0
    """

    def __init__(self, *, theta: float = 0.01, gamma: float = 20.0, beta: float | str = "auto", n: int | None = None) -> None:
        self.theta = checks.between("theta", checks.positive("theta", theta), 0, 1)
        self.gamma = checks.between("gamma", gamma, 0)
        if isinstance(beta, str):
            checks.one_of("beta", beta, ("auto",))
        else:
            checks.finite("beta", beta)
        self.beta = beta
        super().__init__(n, theta=theta, gamma=gamma, beta=beta)

    def _decide(self, arms: NDArray[np.int64], rng: np.random.Generator) -> int:
        mean_y, mean_z = self._moments(arms)
        return int(indices(mean_y, mean_z, self.trials[arms], self.trials.sum(), self.theta, self.gamma).argmax())

    def _moments(self, arms: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """The means of Y and Z of each arm, computed from the sums of X and X^2 because beta may change."""
        means, rewarded = self.means(arms), self._rewarded[arms]
        own = self._sums[arms] / np.maximum(rewarded, 1.0)  # without failures
        variances = np.maximum(self._squares[arms] / np.maximum(rewarded, 1.0) - own * own, 0.0)
        if isinstance(self.beta, str):
            beta = automatic_beta(means)
            above = np.maximum(own - beta, 0.0)
        else:
            beta = self._rewards.value(self.beta)  # mapped like the rewards if these are not from 0 to 1
            above = own - beta
        succeeded = rewarded / (rewarded + self._failed[arms])
        return means - beta, succeeded * (variances + above * above)
