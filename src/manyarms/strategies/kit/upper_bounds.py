"""Arms ranked by an upper bound of what they may be worth."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...errors import NoResult
from .ledger import Ledger, State
from .ranking import Ranking


def upper_bound(mean: float, chosen: int, exploration: float, scale: float = 1.0) -> float:
    """Equation 3 of the Mutant-UCB paper: what the arm may be worth, given how often it was chosen.

    The paper's rewards lie in [0, 1]; `scale` is the width of the range that others lie in.
    """
    return mean + scale * math.sqrt(exploration / chosen)


def reward_scale(means: Sequence[float]) -> float:
    """The range that rewards lie in, by the arms' means: twice from the median to the best, so that bad outliers do not count.

    >>> reward_scale([-1e9, -0.7, -0.69, -0.6, -0.5])
    0.38
    """
    return round(2.0 * float(max(means) - np.median(means)), 12)


class UpperBounds:
    """The rewards and choices of every arm, and the arms that may be chosen by their upper bounds.

    While all rewards lie in [0, 1] the bounds are the paper's. Otherwise the bonus is stretched to the range of the rewards,
    which is measured again each time their number has doubled; means are kept as they are.

    Args:
        ledger: the strategy's own: how often each arm was trained, which failed, and the generator that breaks ties.
        exploration: E of the upper bound.
    """

    def __init__(self, ledger: Ledger, exploration: float) -> None:
        self.exploration = exploration
        self.sums: list[float] = []  # by arm: of its rewards
        self.chosen: list[int] = []  # by arm: N_k, the choices in flight included
        self.scale = 1.0
        self._ledger = ledger
        self._ranking = Ranking()
        self._rewards = 0  # how many there were
        self._measure_at: int | None = None  # so many; None while all lie in [0, 1]

    def choose(self, arm: int) -> None:
        """Count a choice of the arm, which may be a new one. Its rank stays as it is."""
        if arm == len(self.sums):
            self.sums.append(0.0)
            self.chosen.append(0)
        self.chosen[arm] += 1

    def add(self, arm: int, reward: float) -> None:
        """Count a reward. The arm's rank stays as it is."""
        self.sums[arm] += reward
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
        """Put an arm that has a reward where its upper bound belongs."""
        bound = upper_bound(self.sums[arm] / self._ledger.steps[arm], self.chosen[arm], self.exploration, self.scale)
        self._ranking.put(arm, bound, self._ledger.rng.random())

    def drop(self, arm: int) -> None:
        """Leave the arm out until it is ranked again."""
        self._ranking.drop(arm)

    def first(self) -> int | None:
        """The ranked arm with the largest upper bound; None if there is none."""
        return self._ranking.first()

    def mean(self, arm: int) -> float:
        """Of the rewards of an arm that has one."""
        return self.sums[arm] / self._ledger.steps[arm]

    def largest_mean(self) -> int:
        """The arm to recommend, of those that never failed, if any has a reward."""
        rewarded = [arm for arm, steps in enumerate(self._ledger.steps) if steps]
        sound = [arm for arm in rewarded if arm not in self._ledger.failed]
        if not rewarded:
            raise NoResult("no pull has succeeded yet")
        return max(sound or rewarded, key=self.mean)

    def priority(self, arm: int) -> float:
        """The upper bound, ranked or not; none for an arm that failed or has no reward yet."""
        if arm in self._ledger.failed or not self._ledger.steps[arm]:
            return -math.inf
        return upper_bound(self.mean(arm), self.chosen[arm], self.exploration, self.scale)

    def state(self) -> State:
        """The counts and the ranking."""
        return {
            "ranking": self._ranking.state(),
            "sums": np.array(self.sums),
            "chosen": np.array(self.chosen, dtype=np.int64),
            "scale": [self.scale, self._rewards, self._measure_at],
        }

    def load(self, state: State) -> None:
        """Take back what `state` gave."""
        self._ranking.load(state["ranking"])
        self.sums, self.chosen = state["sums"].tolist(), state["chosen"].tolist()
        self.scale, self._rewards, self._measure_at = state["scale"]
