"""How long the steps of each arm take. AdaptiveMutantUCB prefers fast arms if the budget is a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kit.ledger import State
from . import rules

Array = NDArray[np.float64]

_NEWEST = 512  # number of newest arms from which the time of new configs is predicted
_RELEARN_FACTOR = 1.1  # growth of the number of arms after which this is learned again
_RIDGE = 1.0  # prior weight of the factors: that no parameter matters


class ArmSeconds:
    """The seconds per step of each arm, and a prediction for new configs: a linear function of their coordinates.

    Without any times, no arm is penalized.
    """

    def __init__(self) -> None:
        self._totals: dict[int, tuple[float, int]] = {}  # seconds and steps of each arm
        self._learned = 0  # arms when the function was last learned
        self._level = 0.0
        self._center: Array = np.zeros(0)
        self._factors: Array = np.zeros(0)

    def __bool__(self) -> bool:
        return bool(self._totals)

    def add(self, arm: int, steps: int, seconds: float) -> None:
        """Count the time of a pull."""
        before = self._totals.get(arm, (0.0, 0))
        self._totals[arm] = before[0] + seconds, before[1] + steps

    def penalty(self, arm: int) -> float:
        """What is subtracted from the index of an arm, in spreads."""
        return rules.slowness_penalty(*self._totals[arm]) if arm in self._totals else 0.0

    def predicted_penalties(self, candidates: Array, points: Array) -> Array:
        """What is subtracted from the bound of each candidate, in spreads.

        Args:
            candidates: The encoded configs of the candidates.
            points: The encoded configs of all arms.
        """
        if len(self._totals) >= self._learned * _RELEARN_FACTOR + 1:
            self._learn(points)
        return np.asarray(self._level + (candidates - self._center) @ self._factors)

    def _learn(self, points: Array) -> None:
        """Fit the linear function to the penalties of the newest arms."""
        self._learned = len(self._totals)
        arms = list(self._totals)[-_NEWEST:]
        penalties = np.array([self.penalty(arm) for arm in arms])
        self._center, self._level = np.asarray(points[arms].mean(axis=0)), float(penalties.mean())
        centered = points[arms] - self._center
        weights = centered.T @ centered + _RIDGE * np.eye(centered.shape[1])
        self._factors = np.asarray(np.linalg.solve(weights, centered.T @ (penalties - self._level)), dtype=np.float64)

    def state(self) -> State:
        """The times, and the function."""
        totals = [(arm, *total) for arm, total in self._totals.items()]
        return {
            "totals": np.array(totals, dtype=float).reshape(-1, 3),
            "learned": self._learned,
            "function": np.concatenate([[self._level], self._center, self._factors]),
        }

    def load(self, state: State) -> None:
        """Restore a state that `state` returned."""
        rows: Any = state["totals"].reshape(-1, 3)
        self._totals = {int(arm): (float(seconds), int(steps)) for arm, seconds, steps in rows}
        self._learned, self._level = state["learned"], float(state["function"][0])
        self._center, self._factors = np.split(state["function"][1:].copy(), 2)
