"""Arms ranked by an upper bound of what they may be worth."""

from __future__ import annotations

import math

import numpy as np

from ..errors import NoResult
from .book import Book, State
from .ranking import Ranking


def upper_bound(mean: float, chosen: int, exploration: float) -> float:
    """Equation 3 of the Mutant-UCB paper: what the arm may be worth, given how often it was chosen."""
    return mean + math.sqrt(exploration / chosen)


class UpperBounds:
    """The rewards and choices of every arm, and the arms that may be chosen by their upper bounds.

    Args:
        book: the strategy's own: how often each arm was trained, which failed, and the generator that breaks ties.
        exploration: E of the upper bound.
    """

    def __init__(self, book: Book, exploration: float) -> None:
        self.exploration = exploration
        self.sums: list[float] = []  # by arm: of its rewards
        self.chosen: list[int] = []  # by arm: N_k, the choices in flight included
        self._book = book
        self._ranking = Ranking()

    def choose(self, arm: int) -> None:
        """Count a choice of the arm, which may be a new one. Its rank stays as it is."""
        if arm == len(self.sums):
            self.sums.append(0.0)
            self.chosen.append(0)
        self.chosen[arm] += 1

    def rank(self, arm: int) -> None:
        """Put an arm that has a reward where its upper bound belongs."""
        bound = upper_bound(self.sums[arm] / self._book.steps[arm], self.chosen[arm], self.exploration)
        self._ranking.put(arm, bound, self._book.rng.random())

    def drop(self, arm: int) -> None:
        """Leave the arm out until it is ranked again."""
        self._ranking.drop(arm)

    def first(self) -> int | None:
        """The ranked arm with the largest upper bound; None if there is none."""
        return self._ranking.first()

    def mean(self, arm: int) -> float:
        """Of the rewards of an arm that has one."""
        return self.sums[arm] / self._book.steps[arm]

    def largest_mean(self) -> int:
        """The arm to recommend, of those that never failed, if any has a reward."""
        rewarded = [arm for arm, steps in enumerate(self._book.steps) if steps]
        sound = [arm for arm in rewarded if arm not in self._book.failed]
        if not rewarded:
            raise NoResult("no pull has succeeded yet")
        return max(sound or rewarded, key=self.mean)

    def promise(self, arm: int) -> float:
        """The upper bound, ranked or not; none for an arm that failed or has no reward yet."""
        if arm in self._book.failed or not self._book.steps[arm]:
            return -math.inf
        return upper_bound(self.mean(arm), self.chosen[arm], self.exploration)

    def state(self) -> State:
        """The counts and the ranking."""
        return {
            "ranking": self._ranking.state(),
            "sums": np.array(self.sums),
            "chosen": np.array(self.chosen, dtype=np.int64),
        }

    def load(self, state: State) -> None:
        """Take back what `state` gave."""
        self._ranking.load(state["ranking"])
        self.sums, self.chosen = state["sums"].tolist(), state["chosen"].tolist()
