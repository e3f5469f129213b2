"""The score of every arm of AdaptiveMutantUCB: the reward it is predicted to reach. Arms are ranked by score plus bonus."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kit.ledger import Ledger, State
from ..kit.scaling import clipped
from ..kit.scores import Scores
from . import rules
from .arm_counts import ArmCounts
from .arm_seconds import ArmSeconds
from .grouped_ranking import GroupedRanking
from .learning_curve import LearningCurves

Array = NDArray[Any]
Leader = tuple[float, int]
"""The score plus bonus of an arm, and its number."""


class ArmScores:
    """Predicts the reward of each arm, and finds the best arm to continue and the best arm to mutate.

    An arm is *paused* after its first slice, and *complete* once it is fully trained or its curve has turned.

    Args:
        ledger: The failed arms of the search, and the random generator that breaks ties.
        n_slices: Number of slices in a full training.
        exploration: Bonus of an arm chosen once, in units of the spread.
        stop_turned: Whether an arm whose curve has turned counts as complete.

    Attributes:
        counts: The rewards of each arm.
        curves: The gains to expect from more training.
        seconds: How long the steps of each arm take; empty unless the budget is a time.
        median: The median of the scores, as last measured.
        spread: The best score minus the median, as last measured.
    """

    def __init__(self, ledger: Ledger, n_slices: int, exploration: float, stop_turned: bool) -> None:
        self._ledger, self._n_slices, self._exploration, self._stop_turned = ledger, n_slices, exploration, stop_turned
        self._max_steps = ledger.max_steps or n_slices
        self.counts = ArmCounts()
        self.curves = LearningCurves(n_slices)
        self.seconds = ArmSeconds()
        self.median, self.spread = 0.0, 0.0
        self._rewards = 0  # rewards received
        self._measured = 0  # rewards received when the spread was last measured
        # Arms are grouped by the slices they were trained; the last group is for arms whose curves have turned.
        self._turned = n_slices + 1
        self._paused, self._complete = range(1, n_slices), range(n_slices, self._turned + 1)
        self._ranking = GroupedRanking(self._turned + 1)

    def add_reward(self, arm: int, reward: float) -> None:
        """Count the next reward of an arm, and rank the arm."""
        counts, reward = self.counts, clipped(reward)
        slices = counts.slices[arm]
        lowest = self.lowest() - self.curves.gains_to_best[slices + 1]
        if slices and reward >= lowest:  # a diverged run says nothing about other arms
            self.curves.learn(slices, reward, counts.rewards[arm], counts.means[arm])
        counts.add_reward(arm, max(reward, lowest), self.spread)
        self._rewards += 1
        self._rank(arm)

    def choose(self, arm: int) -> None:
        """Count that an arm was chosen to be mutated."""
        self.counts.chosen[arm] += 1
        self._rank(arm)

    def train(self, arm: int) -> None:
        """Count that an arm was chosen to be trained. It is not ranked until its reward is counted."""
        self._ranking.drop(arm, self._group(arm))
        self.counts.chosen[arm] += 1

    def predict(self, arms: Array) -> Array:
        """The scores of these arms."""
        counts = self.counts
        corrections = np.array(self.curves.corrections)[counts.slices.all[arms]]
        return rules.predicted_rewards(
            self._averages().all[arms], counts.bests.all[arms], corrections, self._has_turned(counts.drops.all[arms])
        )

    def lowest(self) -> float:
        """The lowest score an arm can have."""
        return rules.lowest_score(self.median, self.spread)

    def trained(self) -> Array:
        """Numbers of the arms that have a reward and did not fail."""
        return self.counts.with_reward(excluded=self._ledger.failed)

    def complete(self) -> Array:
        """Numbers of the arms in use that are complete."""
        arms = self.trained()
        fully_trained = self.counts.slices.all[arms] == self._n_slices
        return np.asarray(arms[fully_trained | self._has_turned(self.counts.drops.all[arms])])

    def is_complete(self, arm: int) -> bool:
        """Whether the arm is fully trained or its curve has turned."""
        return self._group(arm) in self._complete

    def best_paused(self) -> Leader | None:
        """The arm to continue; None if no arm is paused."""
        return self._leader(self._paused)

    def best_complete(self) -> Leader | None:
        """The arm to mutate; None if no arm is complete."""
        return self._leader(self._complete)

    def best_of(self, arms: Collection[int]) -> int:
        """The arm with the largest score among these."""
        numbers = np.array(arms)
        return int(numbers[self.predict(numbers).argmax()])

    def paused(self) -> list[int]:
        """Numbers of the arms that can be continued."""
        return self._ranking.arms(self._paused)

    def recommended(self) -> int | None:
        """The arm to recommend; None if no arm has a reward. A failed arm only if there are no others."""
        counts, sound = self.counts, self.trained()
        arms = sound if len(sound) else counts.with_reward()
        if not len(arms):
            return None
        columns = counts.slices.all, counts.means.all, counts.bests.all
        complete = (counts.slices.all == self._n_slices) | self._has_turned(counts.drops.all)
        margin = rules.unfinished_margin(self._ledger.spent, self._max_steps, self.spread)
        return rules.recommended_arm(arms, *columns, complete, self.curves.stationary, margin)

    def measure(self) -> None:
        """Measure the spread of the scores again if there are enough new rewards, and update the bonus of each arm."""
        if not rules.should_measure(self._rewards, self._measured):
            return
        self._measured = self._rewards
        arms = self.trained()
        if len(arms) < 2:
            return
        changed = self.curves.decide()
        scores = self.predict(arms)
        self.median = float(np.median(scores))
        before, self.spread = self.spread, float(scores.max() - self.median)
        self._clip()
        if changed or rules.should_rerank(before, self.spread):
            for arm in self._ranking.clear():
                self._rank(arm)

    def _clip(self) -> None:
        """Clip rewards recorded before the lowest score was known. Otherwise a single diverged run would set the scale."""
        lowest, curves = self.lowest(), self.curves
        self.counts.raise_to(lowest - np.array(curves.gains_to_best), lowest - np.array(curves.increasing_corrections))

    def _averages(self) -> Any:
        return self.counts.means if self.curves.stationary else self.counts.averages

    def _has_turned(self, drops: Any) -> Any:
        return rules.curve_has_turned(drops) & (self._stop_turned and not self.curves.stationary)

    def _group(self, arm: int) -> int:
        return self._turned if self._has_turned(self.counts.drops[arm]) else int(self.counts.slices[arm])

    def _rank(self, arm: int) -> None:
        bonus = rules.exploration_bonus(self._exploration, self.spread, self.counts.chosen[arm])
        group = self._group(arm)
        value = self.counts.bests[arm] if group == self._turned else self._averages()[arm]
        self._ranking.put(arm, group, value + bonus - self.spread * self.seconds.penalty(arm), self._ledger.rng.random())

    def _leader(self, groups: range) -> Leader | None:
        return self._ranking.leader(groups, [*self.curves.corrections, 0.0])

    def priority(self, arm: int) -> float:
        """The score of one arm; -inf if it failed or has no reward."""
        if arm in self._ledger.failed or not self.counts.slices[arm]:
            return -math.inf
        return float(self.predict(np.array([arm]))[0])

    def scores(self) -> Scores:
        """The predicted reward and the bonus of each arm that has a reward and did not fail."""
        arms = self.trained()
        bonuses = [rules.exploration_bonus(self._exploration, self.spread, self.counts.chosen[arm]) for arm in arms]
        values = self.predict(arms) if len(arms) else np.zeros(0)
        return Scores("arm", tuple(map(str, arms)), "predicted reward", values, "exploration bonus", np.array(bonuses))

    def state(self) -> State:
        """The counts, the learning curves, the ranking and the measured spread."""
        return {
            "counts": self.counts.state(),
            "curves": self.curves.state(),
            "seconds": self.seconds.state(),
            "ranking": self._ranking.state(),
            "measured": [self._rewards, self._measured, self.median, self.spread],
        }

    def load(self, state: State) -> None:
        """Restore a state that `state` returned."""
        self.counts.load(state["counts"])
        self.curves.load(state["curves"])
        self.seconds.load(state["seconds"])
        self._ranking.load(state["ranking"])
        self._rewards, self._measured, self.median, self.spread = state["measured"]
