"""What AdaptiveMutantUCB counts for each arm."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kit.arrays import Column
from ..kit.ledger import State
from .learning_curve import averaging_weight
from .rules import drops_in_a_row

_COLUMNS = ("averages", "means", "rewards", "bests", "drops", "slices")


class ArmCounts:
    """The rewards of every arm, summed up in a few columns.

    Attributes:
        averages: The running average of the rewards of each arm, in which late rewards count more.
        means: Their mean.
        rewards: The last one.
        bests: The best one.
        drops: How many of the last rewards in a row are well below the best one.
        slices: How many there are: the slices of training that are complete.
        chosen: How often each arm was trained or mutated, including pulls in flight.
    """

    def __init__(self) -> None:
        self.averages, self.means, self.rewards, self.bests = Column(float), Column(float), Column(float), Column(float)
        self.drops, self.slices = Column(np.int64), Column(np.int64)
        self.chosen: list[int] = []

    def __len__(self) -> int:
        return len(self.chosen)

    def append(self) -> None:
        """Add an arm without rewards."""
        self.averages.append(0.0)
        self.means.append(0.0)
        self.rewards.append(-math.inf)
        self.bests.append(-math.inf)
        self.drops.append(0)
        self.slices.append(0)
        self.chosen.append(0)

    def add_reward(self, arm: int, reward: float, spread: float) -> None:
        """Count the next reward of an arm. The spread of the scores decides whether it is a drop."""
        slices = self.slices[arm] + 1
        average, mean = self.averages[arm], self.means[arm]
        self.averages[arm] = average + averaging_weight(slices) * (reward - average)
        self.means[arm] = mean + (reward - mean) / slices
        self.rewards[arm] = reward
        self.bests[arm] = best = reward if slices == 1 else max(self.bests[arm], reward)
        self.drops[arm] = drops_in_a_row(self.drops[arm], reward, best, spread)
        self.slices[arm] = slices

    def raise_to(self, lowest_rewards: NDArray[Any], lowest_averages: NDArray[Any]) -> None:
        """Raise lower rewards and averages to these, given by number of slices."""
        slices = self.slices.all
        for column in (self.means, self.rewards, self.bests):
            np.maximum(column.all, lowest_rewards[slices], out=column.all)
        np.maximum(self.averages.all, lowest_averages[slices], out=self.averages.all)

    def with_reward(self, excluded: Collection[int] = ()) -> NDArray[Any]:
        """Numbers of the arms that have a reward, except the excluded ones."""
        has_reward = self.slices.all > 0
        if excluded:
            has_reward[list(excluded)] = False
        return np.flatnonzero(has_reward)

    def state(self) -> State:
        """The columns as arrays."""
        columns = {name: getattr(self, name).all.copy() for name in _COLUMNS}
        return columns | {"chosen": np.array(self.chosen, dtype=np.int64)}

    def load(self, state: State) -> None:
        """Restore what `state` returned."""
        for name in _COLUMNS:
            setattr(self, name, Column.of(state[name]))
        self.chosen = state["chosen"].tolist()
