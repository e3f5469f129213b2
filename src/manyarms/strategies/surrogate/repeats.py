"""Whether an arm's rewards are repeated measurements of one value, or points of a learning curve."""

from __future__ import annotations

import numpy as np

from ..kit.ledger import State

_MIN_REWARDS = 16  # with fewer rewards, nothing is concluded
_MAX_SLOPE = 0.45  # regression slope of the next reward on the last: near 0 for repeated measurements, at least 0.5 on curves
_MAX_SHARED = 0.5  # variation that all arms share, as a multiple of the rest: at most 0.3 for repeated measurements


class Repeats:
    """Tests whether the last reward of an arm predicts its next reward better than the rewards before it do.

    Repeated measurements are exchangeable, so the last one predicts no better than any other. This holds regardless of which
    arms are continued, since that depends on earlier rewards only. On a learning curve the last reward predicts better. As a
    second sign of learning curves, the rewards of all arms may increase or decrease together.

    Args:
        slices: Number of slices in a full training.
    """

    def __init__(self, slices: int) -> None:
        self._sums = np.zeros((slices + 1, 5))  # by number of slices: count, sums of last, next, last squared, next times last

    def learn(self, slices: int, reward: float, last: float, mean: float) -> None:
        """Learn from the next reward of an arm; for the arguments see `LearningCurves.learn`."""
        if slices < 2:
            return
        before = last - (mean * slices - last) / (slices - 1)
        after = reward - mean
        with np.errstate(over="ignore", invalid="ignore"):
            self._sums[slices] += np.array([1.0, before, after, before * before, after * before])

    def decide(self) -> bool:
        """Whether the rewards so far are repeated measurements."""
        count, before, after, squares, products = self._sums.T
        if count.sum() < _MIN_REWARDS:
            return False
        with np.errstate(over="ignore", invalid="ignore"):
            each = np.maximum(count, 1.0)
            shared = float((before * before / each).sum())
            spread = float(squares.sum()) - shared
            slope = float((products - before * after / each).sum())
        return bool(spread > 0.0 and slope <= _MAX_SLOPE * spread and shared <= _MAX_SHARED * spread)

    def state(self) -> State:
        """The sums."""
        return {"sums": self._sums.copy()}

    def load(self, state: State) -> None:
        """Restore what `state` returned."""
        self._sums = np.array(state["sums"]).reshape(self._sums.shape)
