"""What a partly trained arm will become, learned from all arms that were trained further."""

from __future__ import annotations

import math

import numpy as np

from ..kit.ledger import State
from .repeats import Repeats

_MIN_REWARD_WEIGHT = 0.4  # least weight of the newest reward in the running average of an arm
_MIN_GAIN_WEIGHT = 0.02  # least weight of the newest gain in the mean gain between two slices


def slice_stops(max_steps: int, slices: int) -> list[int]:
    """The steps at which the slices of a full training end: nearly equal parts of at least one step.

    >>> slice_stops(52, 10)
    [6, 11, 16, 21, 26, 32, 37, 42, 47, 52]
    """
    slices = min(slices, max_steps)
    return [math.ceil(max_steps * i / slices) for i in range(1, slices + 1)]


def averaging_weight(number: int) -> float:
    """The weight of an arm's n-th reward in its running average."""
    return max(1.0 / number, _MIN_REWARD_WEIGHT)


class LearningCurves:
    """Learns how rewards change with training, and whether they do.

    *Increasing* rewards are points of a learning curve: an arm is predicted to gain what other arms gained from the same slice
    on, and late rewards count more than early ones. *Stationary* rewards are repeated measurements of one value: all of them
    count the same.

    Args:
        slices: Number of slices in a full training.

    Attributes:
        stationary: Whether rewards are treated as stationary. Only `decide` changes it.
        gains_to_best: By number of slices trained: the gain expected from there to the best reward still to come, for
            increasing rewards.
        increasing_corrections: By number of slices trained: what to add to the running average of an arm to predict that best
            reward.
        corrections: The same for rewards as they are treated now: zeros if they are stationary.
    """

    def __init__(self, slices: int) -> None:
        self._weights = [0.0, *map(averaging_weight, range(1, slices + 1))]
        self._gains = [0.0] * (slices + 1)  # by number of slices: the mean gain from there to the next
        self._counts = [0] * (slices + 1)
        self._repeats = Repeats(slices)
        self.stationary = False
        self.gains_to_best = [0.0] * (slices + 1)
        self.increasing_corrections = [0.0] * (slices + 1)
        self.corrections = [0.0] * (slices + 1)

    def learn(self, slices: int, reward: float, last: float, mean: float) -> None:
        """Learn from the next reward of an arm.

        Args:
            slices: Number of rewards that the arm had before.
            reward: The new reward.
            last, mean: The last and the mean of the rewards before it.
        """
        self._repeats.learn(slices, reward, last, mean)
        self._counts[slices] += 1
        self._gains[slices] += max(_MIN_GAIN_WEIGHT, 1.0 / self._counts[slices]) * (reward - last - self._gains[slices])
        self._correct()

    def decide(self) -> bool:
        """Decide from the rewards so far whether they are stationary; return whether that changed."""
        before, self.stationary = self.stationary, self._repeats.decide()
        self._correct()
        return before != self.stationary

    def _correct(self) -> None:
        """Compute the corrections by the recursion of the running average: it lags behind the curve by `lag`."""
        gains_to_end = [0.0] * len(self.gains_to_best)
        for slices in range(len(gains_to_end) - 2, -1, -1):
            gains_to_end[slices] = gains_to_end[slices + 1] + self._gains[slices]
            self.gains_to_best[slices] = max(0.0, self.gains_to_best[slices + 1] + self._gains[slices])
        lag = 0.0
        for slices, weight in enumerate(self._weights):
            lag += weight * (gains_to_end[slices] - lag)
            self.increasing_corrections[slices] = lag + (self.gains_to_best[slices] - gains_to_end[slices])
        self.corrections = [0.0] * len(self._gains) if self.stationary else self.increasing_corrections

    def state(self) -> State:
        """The gains, and how rewards are treated."""
        return {
            "gains": np.array(self._gains),
            "counts": np.array(self._counts, dtype=np.int64),
            "repeats": self._repeats.state(),
            "stationary": self.stationary,
        }

    def load(self, state: State) -> None:
        """Restore what `state` returned."""
        self._gains, self._counts = state["gains"].tolist(), state["counts"].tolist()
        self._repeats.load(state["repeats"])
        self.stationary = state["stationary"]
        self._correct()
