"""What a half-trained arm should become, learned from all arms that were trained on."""

from __future__ import annotations

import math

import numpy as np

from ..kit.ledger import State
from .repeats import Repeats

_MEMORY = 0.4  # least weight of the newest reward in an arm's running average
_DRIFT = 0.02  # least weight of the newest increment in a rung's


def rung_stops(max_steps: int, slices: int) -> list[int]:
    """Where the slices of a training end: nearly equal parts, at most one a step.

    >>> rung_stops(52, 10)
    [6, 11, 16, 21, 26, 32, 37, 42, 47, 52]
    """
    slices = min(slices, max_steps)
    return [math.ceil(max_steps * i / slices) for i in range(1, slices + 1)]


def gain(number: int) -> float:
    """The weight of an arm's n-th reward in its running average."""
    return max(1.0 / number, _MEMORY)


class Outlook:
    """Two views of rewards, and which of them holds.

    *Rising*: an arm gains what the others gained from where it stands on; late rewards count more than early ones.
    *Level*: an arm's rewards are draws about one value, and all of them count the same.

    Args:
        rungs: how many slices a full training has.
    """

    def __init__(self, rungs: int) -> None:
        self._gains = [0.0, *map(gain, range(1, rungs + 1))]
        self._increments = [0.0] * (rungs + 1)  # by rung: the mean gain from it to the next
        self._counts = [0] * (rungs + 1)
        self._repeats = Repeats(rungs)
        self.level = False
        """Which of the views is held; `decide` may change it."""
        self.to_best = [0.0] * (rungs + 1)
        """By rung: the gain expected from it to the best reward from there on, for rising rewards."""
        self.rising = [0.0] * (rungs + 1)
        """By rung: what to add to the running average of an arm that stands there, to get that reward."""
        self.corrections = [0.0] * (rungs + 1)
        """By rung: what to add to the average of the view that is held."""

    def learn(self, rung: int, reward: float, last: float, mean: float) -> None:
        """An arm at this rung got its next reward; before, it had these: the last, and their mean."""
        self._repeats.learn(rung, reward, last, mean)
        self._counts[rung] += 1
        self._increments[rung] += max(_DRIFT, 1.0 / self._counts[rung]) * (reward - last - self._increments[rung])
        self._correct()

    def decide(self) -> bool:
        """Hold the view that the rewards so far speak for; whether that is a change."""
        before, self.level = self.level, self._repeats.decide()
        self._correct()
        return before != self.level

    def _correct(self) -> None:
        """Each correction follows from the one before, as the running average does."""
        to_end = [0.0] * len(self.to_best)
        for rung in range(len(to_end) - 2, -1, -1):
            to_end[rung] = to_end[rung + 1] + self._increments[rung]
            self.to_best[rung] = max(0.0, self.to_best[rung + 1] + self._increments[rung])  # it may stop where it is best
        lag = 0.0
        for rung, weight in enumerate(self._gains):
            lag += weight * (to_end[rung] - lag)
            self.rising[rung] = lag + (self.to_best[rung] - to_end[rung])
        self.corrections = [0.0] * len(self.rising) if self.level else self.rising

    def state(self) -> State:
        """What it learned."""
        return {
            "increments": np.array(self._increments),
            "counts": np.array(self._counts, dtype=np.int64),
            "repeats": self._repeats.state(),
            "level": self.level,
        }

    def load(self, state: State) -> None:
        """Take that back."""
        self._increments, self._counts = state["increments"].tolist(), state["counts"].tolist()
        self._repeats.load(state["repeats"])
        self.level = state["level"]
        self._correct()
