"""What a half-trained arm should become: the mean gain from each rung to the next, over all arms."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .book import State

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


def reward_weights(rungs: int) -> NDArray[np.float64]:
    """Row n: the weights that the running average of n rewards gives to each of them. Columns count from 1."""
    weights = np.zeros((rungs + 1, rungs + 1))
    for n in range(1, rungs + 1):
        weights[n] = weights[n - 1] * (1.0 - gain(n))
        weights[n, n] = gain(n)
    return weights


class Outlook:
    """The gain still to come after each rung, learned from every arm that was trained on.

    Args:
        rungs: how many slices a full training has.
    """

    def __init__(self, rungs: int) -> None:
        self._weights = reward_weights(rungs)
        self._increments = np.zeros(rungs + 1)  # by rung: the mean gain from it to the next
        self._counts = np.zeros(rungs + 1)
        self.corrections: list[float] = [0.0] * (rungs + 1)
        """By rung: what to add to the running average of an arm that stands there."""

    def learn(self, rung: int, increment: float) -> None:
        """An arm gained so much from this rung to the next."""
        self._counts[rung] += 1
        self._increments[rung] += max(_DRIFT, 1.0 / self._counts[rung]) * (increment - self._increments[rung])
        self._correct()

    def _correct(self) -> None:
        to_come = np.zeros_like(self._increments)
        to_come[:-1] = np.cumsum(self._increments[:-1][::-1])[::-1]  # off_n = inc_n + .. + inc_(N-1)
        self.corrections = (self._weights @ to_come).tolist()

    def to_come(self, rung: int) -> float:
        """The gain expected from this rung to the end."""
        return float(self._increments[rung:-1].sum())

    def state(self) -> State:
        """What it learned."""
        return {"increments": self._increments.copy(), "counts": self._counts.copy()}

    def load(self, state: State) -> None:
        """Take that back."""
        self._increments, self._counts = state["increments"].copy(), state["counts"].copy()
        self._correct()
