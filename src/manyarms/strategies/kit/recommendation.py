"""The arm to recommend if rewards are points of learning curves: the one with the best reward."""

from __future__ import annotations

import heapq
import math

import numpy as np

from ...core import Arm
from ...errors import NoResult
from .ledger import Ledger, State

Standing = tuple[bool, float, int, int, int]
"""Whether the arm failed, minus its best reward, minus its steps, its rank by age of the first reward, and its number.

The smallest standing is the best."""


class Standings:
    """The best reward of every arm, and the arm to recommend. Each reward costs O(log n) on average.

    As in a `Ranking`, outdated entries of the heap are removed when they reach the top.

    Args:
        ledger: The ledger of the strategy. It must settle a pull before `tell` is called with that pull.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._standings: dict[int, Standing] = {}  # in order of the first reward of each arm
        self._heap: list[Standing] = []
        self._leader: int | None = None

    def tell(self, arm: int, reward: float | None) -> None:
        """Count the reward of a pull; None means that it failed."""
        if reward is not None:
            standing = self._put(arm, max(reward, self.reward(arm)) if arm in self._standings else reward)
            if self._leader is None or standing[:3] < self._standings[self._leader][:3]:  # at a tie the leader stays the same
                self._leader = arm
        elif arm in self._standings:
            self._put(arm, self.reward(arm))
            if arm == self._leader:
                self._leader = self._first()

    def best(self) -> Arm:
        """The arm with the best reward; at a tie, the one trained longest. A failed arm only if there are no others."""
        if self._leader is None:
            raise NoResult("no pull has succeeded yet")
        return self._ledger.arms[self._leader]

    def priority(self, arm: int, again: bool) -> float:
        """The priority of an arm: larger for better arms. Arms that may be trained `again` come before others, by steps."""
        if arm in self._ledger.failed or arm not in self._standings:
            return -math.inf
        reward = self.reward(arm)
        quality = 0.5 + 0.5 * reward / (1.0 + abs(reward))  # from 0 to 1
        return self._ledger.steps[arm] + quality if again else quality

    def reward(self, arm: int) -> float:
        """The best reward of an arm that has one."""
        return -self._standings[arm][1]

    def _put(self, arm: int, reward: float) -> Standing:
        turn = self._standings[arm][3] if arm in self._standings else len(self._standings)
        standing = arm in self._ledger.failed, -reward, -self._ledger.steps[arm], turn, arm
        self._standings[arm] = standing
        heapq.heappush(self._heap, standing)
        if len(self._heap) > 2 * len(self._standings) + 64:
            self._heap = list(self._standings.values())
            heapq.heapify(self._heap)
        return standing

    def _first(self) -> int:
        """The arm with the best standing. There must be at least one arm."""
        while self._standings[self._heap[0][4]] is not self._heap[0]:
            heapq.heappop(self._heap)
        return self._heap[0][4]

    def state(self) -> State:
        """The best rewards, from which the heap is rebuilt."""
        return {
            "arms": np.array(list(self._standings), dtype=np.int64),
            "rewards": np.array([self.reward(arm) for arm in self._standings], dtype=float),
            "leader": self._leader,
        }

    def load(self, state: State) -> None:
        """Restore a state that `state` returned. The ledger must be restored first."""
        self._standings, self._heap, self._leader = {}, [], state["leader"]
        for arm, reward in zip(state["arms"].tolist(), state["rewards"].tolist(), strict=True):
            self._put(arm, reward)
