"""What all pickers share. A picker chooses among a few arms that are known in advance."""

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


class Picker:
    """Base class of pickers: `pick` an arm, then `update` it with the reward. Every arm is picked once at the start.

    Many picks may be in flight. Each counts as a trial at once, so that the next picks are spread over the arms. An arm without
    a reward is not picked again while another arm has one. A failure (None, NaN or infinity) counts as the worst reward of any
    arm.

    Decisions are made for rewards from 0 to 1. Rewards on another scale are mapped there, all of them again whenever the scale
    changes.

    To write your own picker, subclass this and define `_decide`.

    Args:
        n: Number of arms. A `Cascade` sets it.
        settings: The other arguments as given.

    Attributes:
        trials: Number of trials of each arm, including those in flight.
    """

    def __init__(self, n: int | None = None, **settings: Any) -> None:
        self.settings = settings
        self.n = 0
        if n is not None:
            self.start(n)

    def start(self, n: int) -> None:
        """Forget everything, and choose among `n` arms from now on."""
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
        """The arm to try next, one of `among`. It is not counted until `open`."""
        if not self.n:
            raise ValueError(f"n must be given, the number of arms: {type(self).__name__}(n=7)")
        arms = np.array(among, dtype=np.int64)
        with_result = arms[self._rewarded[arms] + self._failed[arms] > 0]
        fewest = int(arms[self.trials[arms].argmin()])
        if not self.trials[fewest] or not len(with_result):
            return fewest
        return int(with_result[self._decide(with_result, rng)])

    def open(self, arm: int) -> None:
        """Count a trial that starts."""
        self.trials[arm] += 1

    def update(self, arm: int, reward: float | None) -> None:
        """Learn the reward of a trial; None means that it failed."""
        if not 0 <= checks.whole("arm", arm) < self.n:
            raise ValueError(f"arm must be between 0 and {self.n - 1}, got {arm}")
        if reward is None or not math.isfinite(reward):
            self._failed[arm] += 1
        elif self._rewards.tell(arm, reward):
            self._count_again()
        else:
            value = self._rewards.value(reward)
            self._rewarded[arm] += 1
            self._sums[arm] += value
            self._squares[arm] += value * value
            self._bests[arm] = max(self._bests[arm], value)
            self._worst = min(self._worst, value)
        # A reward may come for an arm that was not picked.
        self.trials[arm] = max(self.trials[arm], self._rewarded[arm] + self._failed[arm])

    def _count_again(self) -> None:
        """Sum up the values of all rewards on the new scale."""
        arms, values = self._rewards.arms.all, self._rewards.values
        self._rewarded[:] = np.bincount(arms, minlength=self.n)
        self._sums[:] = np.bincount(arms, values, self.n)
        self._squares[:] = np.bincount(arms, values * values, self.n)
        self._bests[:] = -math.inf
        np.maximum.at(self._bests, arms, values)
        self._worst = float(values.min(initial=math.inf))

    def worst(self) -> float:
        """The worst value of any arm, which a failure counts as; 0 if there is no reward yet."""
        return self._worst if math.isfinite(self._worst) else 0.0

    def means(self, arms: NDArray[np.int64]) -> Floats:
        """The mean values of arms that have a result, failures included."""
        failed = self._failed[arms]
        return np.asarray((self._sums[arms] + failed * self.worst()) / (self._rewarded[arms] + failed))

    def _decide(self, arms: NDArray[np.int64], rng: np.random.Generator) -> int:
        """The position in `arms`, all of which have a result, of the arm to try next."""
        raise NotImplementedError

    def state(self) -> State:
        """The trials, failures and rewards."""
        return {"trials": self.trials.copy(), "failed": self._failed.copy(), "rewards": self._rewards.state()}

    def load(self, state: State) -> None:
        """Restore what `state` returned."""
        self.trials[:], self._failed[:] = state["trials"], state["failed"]
        self._rewards.load(state["rewards"])
        self._count_again()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.settings.items())})"
