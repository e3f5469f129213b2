"""Bandits over a few arms that are known beforehand: which of them deserves the next trial."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import checks
from ..kit.ledger import State
from ..kit.scaling import ScaledRewards

Floats = NDArray[np.float64]


def upper_bounds(means: Floats, trials: Floats, total: float) -> Floats:
    """UCB1: the mean of each arm and sqrt(2 ln t / T_i)."""
    return np.asarray(means + np.sqrt(2.0 * math.log(total) / trials))


def weights(means: Floats, temperature: float) -> Floats:
    """The probabilities of softmax: exp(mean / temperature), made to sum to 1."""
    powers = np.exp((means - means.max()) / temperature)
    return np.asarray(powers / powers.sum())


class Picker:
    """What all pickers share: `pick` an arm, then `update` it with the reward. First every arm is picked once.

    Many picks may be in flight: each counts as a trial at once, so that the next ones spread. An arm that has no reward yet is
    left alone while another has one. A failure (None, NaN or infinity) counts as the worst reward that any arm has had.

    Decisions are for rewards from 0 to 1; those of any other scale are brought there, all of them anew when the scale changes.

    A picker of your own is a subclass with `_decide`.

    Args:
        n: how many arms; a `Cascade` sets it.
        settings: its other arguments as they were given.

    Attributes:
        trials: by arm, those in flight included.
    """

    def __init__(self, n: int | None = None, **settings: Any) -> None:
        self.settings = settings
        self.n = 0
        if n is not None:
            self.start(n)

    def start(self, n: int) -> None:
        """Begin anew, with `n` arms."""
        self.n = checks.whole("n", n, 1)
        self.trials, self._rewarded, self._failed, self._sums, self._squares, self._bests = np.zeros((6, n))
        self._bests[:] = -math.inf
        self._worst = math.inf
        self._rewards = ScaledRewards()

    def pick(self, rng: np.random.Generator) -> int:
        """The arm to try next."""
        arm = self.choose(rng, range(self.n))
        self.open(arm)
        return arm

    def choose(self, rng: np.random.Generator, among: Sequence[int]) -> int:
        """The arm to try next, one of these; it is not counted until `open`."""
        if not self.n:
            raise ValueError(f"n must be given, the number of arms: {type(self).__name__}(n=7)")
        arms = np.array(among, dtype=np.int64)
        told = arms[self._rewarded[arms] + self._failed[arms] > 0]
        fewest = int(arms[self.trials[arms].argmin()])
        if not self.trials[fewest] or not len(told):
            return fewest
        return int(told[self._decide(told, rng)])

    def open(self, arm: int) -> None:
        """Count a trial that begins."""
        self.trials[arm] += 1

    def update(self, arm: int, reward: float | None) -> None:
        """Learn the reward of a trial; None means that it failed."""
        if not 0 <= checks.whole("arm", arm) < self.n:
            raise ValueError(f"arm must be between 0 and {self.n - 1}, got {arm}")
        if reward is None or not math.isfinite(reward):
            self._failed[arm] += 1
        elif self._rewards.tell(arm, reward):
            self._count()
        else:
            value = self._rewards.value(reward)
            self._rewarded[arm] += 1
            self._sums[arm] += value
            self._squares[arm] += value * value
            self._bests[arm] = max(self._bests[arm], value)
            self._worst = min(self._worst, value)
        self.trials[arm] = max(self.trials[arm], self._rewarded[arm] + self._failed[arm])  # told without having been picked

    def _count(self) -> None:
        """Add up what all rewards are worth now."""
        arms, values = self._rewards.arms.all, self._rewards.values
        self._rewarded[:] = np.bincount(arms, minlength=self.n)
        self._sums[:] = np.bincount(arms, values, self.n)
        self._squares[:] = np.bincount(arms, values * values, self.n)
        self._bests[:] = -math.inf
        np.maximum.at(self._bests, arms, values)
        self._worst = float(values.min(initial=math.inf))

    def means(self, arms: NDArray[np.int64]) -> Floats:
        """The mean values of arms that were told, failures included: valued now, so that they never look good."""
        worst = self._worst if math.isfinite(self._worst) else 0.0
        failed = self._failed[arms]
        return np.asarray((self._sums[arms] + failed * worst) / (self._rewarded[arms] + failed))

    def _decide(self, arms: NDArray[np.int64], rng: np.random.Generator) -> int:
        """The place in `arms`, which all have been told, of the one to try next."""
        raise NotImplementedError

    def state(self) -> State:
        """What it has learned."""
        return {"trials": self.trials.copy(), "failed": self._failed.copy(), "rewards": self._rewards.state()}

    def load(self, state: State) -> None:
        """Take back what `state` gave."""
        self.trials[:], self._failed[:] = state["trials"], state["failed"]
        self._rewards.load(state["rewards"])
        self._count()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.settings.items())})"


class UCB1(Picker):
    """The arm with the largest upper bound of its mean: it seeks the best mean, not the best reward.

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


class EpsilonGreedy(Picker):
    """The arm with the largest mean or, with probability epsilon, any."""

    def __init__(self, epsilon: float = 0.1, *, n: int | None = None) -> None:
        self.epsilon = checks.between("epsilon", epsilon, 0, 1)
        super().__init__(n, epsilon=epsilon)

    def _decide(self, arms: NDArray[np.int64], rng: np.random.Generator) -> int:
        if rng.random() < self.epsilon:
            return int(rng.random() * len(arms))
        return int(self.means(arms).argmax())


class Softmax(Picker):
    """Any arm, the likelier the larger its mean; differences of means well below the temperature count little."""

    def __init__(self, temperature: float = 0.1, *, n: int | None = None) -> None:
        self.temperature = checks.positive("temperature", temperature)
        super().__init__(n, temperature=temperature)

    def _decide(self, arms: NDArray[np.int64], rng: np.random.Generator) -> int:
        return int(rng.choice(len(arms), p=weights(self.means(arms), self.temperature)))


class Uniform(Picker):
    """Any arm, all alike: a baseline."""

    def __init__(self, *, n: int | None = None) -> None:
        super().__init__(n)

    def _decide(self, arms: NDArray[np.int64], rng: np.random.Generator) -> int:
        return int(rng.random() * len(arms))
