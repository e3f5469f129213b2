"""Which arm to recommend where arms are trained to different steps: the best of those trained furthest."""

from __future__ import annotations

import math

import numpy as np

from ..core import Arm
from ..errors import NoResult
from .book import Book, State


class Standings:
    """The last reward of every arm in a book. The leader is found as rewards come, without a scan."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._rewards: dict[int, float] = {}
        self._leader: int | None = None

    def tell(self, arm: int, reward: float | None) -> None:
        """Note the end of a pull that the book has settled; None means that it failed."""
        if reward is not None:
            self._rewards[arm] = reward
            if self._leader is None or self._standing(arm) > self._standing(self._leader):
                self._leader = arm
        elif arm == self._leader:
            self._leader = max(self._rewards, key=self._standing)

    def best(self) -> Arm:
        """Of the arms trained furthest the one with the largest last reward; one that failed only if there is no other."""
        if self._leader is None:
            raise NoResult("no pull has succeeded yet")
        return self._book.arms[self._leader]

    def promise(self, arm: int, again: bool) -> float:
        """The better the higher, and above all others where the arm may be trained on, by the steps it would lose."""
        if arm in self._book.failed or arm not in self._rewards:
            return -math.inf
        reward = self._rewards[arm]
        quality = 0.5 + 0.5 * reward / (1.0 + abs(reward))  # from 0 to 1
        return self._book.steps[arm] + quality if again else quality

    def _standing(self, arm: int) -> tuple[bool, int, float]:
        return arm not in self._book.failed, self._book.steps[arm], self._rewards[arm]

    def state(self) -> State:
        """The rewards, in the order in which their arms were first told."""
        return {
            "arms": np.array(list(self._rewards), dtype=np.int64),
            "rewards": np.array(list(self._rewards.values()), dtype=float),
            "leader": self._leader,
        }

    def load(self, state: State) -> None:
        """Take back what `state` gave, after the book has done so."""
        self._rewards = dict(zip(state["arms"].tolist(), state["rewards"].tolist(), strict=True))
        self._leader = state["leader"]
