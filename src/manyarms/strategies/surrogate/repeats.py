"""Whether an arm's rewards are repeated measurements of one value, or points of a learning curve."""

from __future__ import annotations

import numpy as np

from ..kit.ledger import State

_FEWEST = 16  # rewards to judge by
_SLOPE = (
    0.45  # of the next reward on the last, both as differences from the mean: near 0 for measurements, on curves 0.5 and more
)
_SHARED = 0.5  # how much of the differences all arms may have in common, as a multiple of the rest: up to 0.3 for measurements


class Repeats:
    """Compares how much the last reward of an arm says about its next one with what the rewards before it say.

    Repeated measurements can be told in any order: each of them says as much as any other. That holds whichever arms are
    trained on, since the choice depends on the rewards before. On a curve the last one says more. And the curves of all arms
    may go up or down together, far more than any of them differs from the others.

    Args:
        rungs: How many slices a full training has.
    """

    def __init__(self, rungs: int) -> None:
        self._sums = np.zeros((rungs + 1, 5))  # by rung: count, sums of last, next, last squared, and next times last

    def learn(self, rung: int, reward: float, last: float, mean: float) -> None:
        """An arm with so many rewards, the last and the mean of them being these, got its next one."""
        if rung < 2:
            return
        before = last - (mean * rung - last) / (rung - 1)
        after = reward - mean
        with np.errstate(over="ignore", invalid="ignore"):
            self._sums[rung] += np.array([1.0, before, after, before * before, after * before])

    def decide(self) -> bool:
        """Whether they are repeated measurements, as far as can be told."""
        count, before, after, squares, products = self._sums.T
        if count.sum() < _FEWEST:
            return False
        with np.errstate(over="ignore", invalid="ignore"):
            each = np.maximum(count, 1.0)
            shared = float((before * before / each).sum())
            spread = float(squares.sum()) - shared
            slope = float((products - before * after / each).sum())
        return bool(spread > 0.0 and slope <= _SLOPE * spread and shared <= _SHARED * spread)

    def state(self) -> State:
        """What it learned."""
        return {"sums": self._sums.copy()}

    def load(self, state: State) -> None:
        """Take that back."""
        self._sums = np.array(state["sums"]).reshape(self._sums.shape)
