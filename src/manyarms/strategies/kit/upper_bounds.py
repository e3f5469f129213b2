"""Arms ranked by the upper bounds of Mutant-UCB."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...errors import NoResult
from .ledger import Ledger, State
from .ranking import Ranking
from .scaling import clipped
from .scores import Scores

_ROUNDING = 1e-9  # means that differ by less than this share are equal up to rounding


def upper_bound(mean: float, chosen: int, exploration: float, scale: float = 1.0) -> float:
    """Equation 3 of the Mutant-UCB paper: the mean of an arm plus a bonus that shrinks with the number of choices.

    The paper's rewards lie in [0, 1]; for other rewards, `scale` is the width of their range.
    """
    return mean + scale * math.sqrt(exploration / chosen)


def reward_scale(means: Sequence[float]) -> float:
    """The width of the range of the means: twice the distance from the median to the best, which ignores bad outliers.

    >>> reward_scale([-1e9, -0.7, -0.69, -0.6, -0.5])
    0.38
    """
    best = max(means)
    width = 2.0 * float(best - np.median(means))
    tiny = width if width > _ROUNDING * abs(best) else 0.0  # not the rounding errors of equal means
    return round(width, 12) or tiny


class UpperBounds:
    """Counts the rewards and choices of every arm, and ranks arms by their upper bounds.

    While all rewards lie in [0, 1], the bounds are the paper's. Otherwise the bonus is scaled to the range of the rewards,
    which is measured again each time their number has doubled.

    Args:
        ledger: The ledger of the strategy.
        exploration: E of the upper bound.

    Attributes:
        sums: The sum of the rewards of each arm.
        chosen: Number of times that each arm was chosen, including choices in flight (N_k in the paper).
        scale: The factor of the bonus.
    """

    def __init__(self, ledger: Ledger, exploration: float) -> None:
        self.exploration = exploration
        self.sums: list[float] = []
        self.chosen: list[int] = []
        self.scale = 1.0
        self._ledger = ledger
        self._ranking = Ranking()
        self._rewards = 0  # number of rewards
        self._measure_at: int | None = None  # number of rewards at which the range is measured; None while all lie in [0, 1]

    def choose(self, arm: int) -> None:
        """Count a choice of an arm, which may be new. Its rank does not change."""
        if arm == len(self.sums):
            self.sums.append(0.0)
            self.chosen.append(0)
        self.chosen[arm] += 1

    def add(self, arm: int, reward: float) -> None:
        """Count a reward. The rank of the arm does not change."""
        self.sums[arm] += clipped(reward)
        self._rewards += 1
        if self._measure_at is None and not 0.0 <= reward <= 1.0:
            self._measure_at = self._rewards
        if self._rewards == self._measure_at:
            self._measure()

    def _measure(self) -> None:
        self._measure_at = 2 * self._rewards
        scale = reward_scale([self.mean(arm) for arm, steps in enumerate(self._ledger.steps) if steps])
        if scale > 0:
            self.scale = scale
            for arm in self._ranking.arms():
                self.rank(arm)

    def rank(self, arm: int) -> None:
        """Rank an arm that has a reward by its upper bound."""
        bound = upper_bound(self.sums[arm] / self._ledger.steps[arm], self.chosen[arm], self.exploration, self.scale)
        self._ranking.put(arm, bound, self._ledger.rng.random())

    def drop(self, arm: int) -> None:
        """Remove the arm from the ranking until it is ranked again."""
        self._ranking.drop(arm)

    def first(self) -> int | None:
        """The ranked arm with the largest upper bound; None if there is none."""
        return self._ranking.first()

    def mean(self, arm: int) -> float:
        """The mean reward of an arm that has a reward."""
        return self.sums[arm] / self._ledger.steps[arm]

    def largest_mean(self) -> int:
        """The arm with the largest mean; a failed arm only if there are no others."""
        rewarded = [arm for arm, steps in enumerate(self._ledger.steps) if steps]
        sound = [arm for arm in rewarded if arm not in self._ledger.failed]
        if not rewarded:
            raise NoResult("no pull has succeeded yet")
        return max(sound or rewarded, key=self.mean)

    def priority(self, arm: int) -> float:
        """The upper bound of an arm; -inf if it failed or has no reward."""
        if arm in self._ledger.failed or not self._ledger.steps[arm]:
            return -math.inf
        return upper_bound(self.mean(arm), self.chosen[arm], self.exploration, self.scale)

    def scores(self) -> Scores:
        """The mean and the bonus of each arm that has a reward and did not fail."""
        arms = [arm for arm, steps in enumerate(self._ledger.steps) if steps and arm not in self._ledger.failed]
        means = np.array([self.mean(arm) for arm in arms])
        bonuses = np.array([upper_bound(0.0, self.chosen[arm], self.exploration, self.scale) for arm in arms])
        return Scores("arm", tuple(map(str, arms)), "mean reward", means, "exploration bonus", bonuses)

    def state(self) -> State:
        """The counts and the ranking."""
        return {
            "ranking": self._ranking.state(),
            "sums": np.array(self.sums),
            "chosen": np.array(self.chosen, dtype=np.int64),
            "scale": [self.scale, self._rewards, self._measure_at],
        }

    def load(self, state: State) -> None:
        """Restore a state that `state` returned."""
        self._ranking.load(state["ranking"])
        self.sums, self.chosen = state["sums"].tolist(), state["chosen"].tolist()
        self.scale, self._rewards, self._measure_at = state["scale"]
