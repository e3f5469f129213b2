"""ER-UCB: picks the arm whose best rewards are the largest, rather than its mean.

"Cascaded algorithm selection and hyper-parameter optimization with extreme-region upper confidence bound bandit".
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ... import checks
from .picker import Floats, Picker


def doubts(trials: Floats, total: float, theta: float) -> Floats:
    """How little is known of each arm: e + sqrt(e / theta), where e = sqrt(2 ln t / T_i)."""
    e = np.sqrt(2.0 * math.log(total) / trials)
    return np.asarray(e + np.sqrt(e / theta))


def indices(mean_y: Floats, mean_z: Floats, trials: Floats, total: float, theta: float, gamma: float) -> Floats:
    """Equation 17: what is expected of an arm's extreme region, and how little is known of that."""
    return np.asarray(gamma * (mean_y + np.sqrt(mean_z / theta)) + doubts(trials, total, theta))


def automatic_beta(means: Floats) -> float:
    """The mean of the arms' means: each arm counts alike, so that it does not follow the picks."""
    return float(means.mean())


class ERUCB(Picker):
    """The arm with the largest index of the ER-UCB paper:

        gamma (mean_Y + sqrt(mean_Z / theta)) + e + sqrt(e / theta),   e = sqrt(2 ln t / T_i)

    with Y = X - beta and Z = (X - beta)^2 of the rewards X of the arm, T_i of the t trials so far.

    What the paper is after is mean + sqrt(variance / theta) (equation 4). Z stands for the variance, and beta keeps the mean
    out of it. A beta that is given must be near the means of the best arms, yet hardly above that of any arm: the further an
    arm lies below it, the larger its Z, until a hopeless arm looks best. Hence "auto": beta is the mean of the arms' means, and
    for an arm below it Z is the variance.

    A failure lowers mean_Y as the worst reward, and adds nothing to mean_Z.

    Args:
        theta: how rare the extreme region is; the smaller, the more the spread of an arm's rewards counts.
        gamma: how much that counts beside exploration.
        beta: the origin of rewards, or "auto".
        n: how many arms.

    >>> import numpy as np
    >>> picker, rng = ERUCB(n=2), np.random.default_rng(0)
    >>> for _ in range(500):
    ...     arm = picker.pick(rng)
    ...     picker.update(arm, rng.normal((0.84, 0.88)[arm], (0.07, 0.01)[arm]))
    >>> picker.trials.argmax()  # the mean is lower, the best are higher
    np.int64(0)
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
        """Of Y and Z, by arm, from the sums of X and X^2: so beta may change."""
        means, rewarded = self.means(arms), self._rewarded[arms]
        own = self._sums[arms] / np.maximum(rewarded, 1.0)  # without failures
        variances = np.maximum(self._squares[arms] / np.maximum(rewarded, 1.0) - own * own, 0.0)
        if isinstance(self.beta, str):
            beta = automatic_beta(means)
            above = np.maximum(own - beta, 0.0)
        else:
            beta = self.beta
            above = own - beta
        succeeded = rewarded / (rewarded + self._failed[arms])
        return means - beta, succeeded * (variances + above * above)
