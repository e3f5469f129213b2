"""Synthetic learning curves that converge fast, slowly or crossing each other to a landscape over the unit cube."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import checks
from ...spaces import Float, Space

_SPEEDS = {"fast": (2.0, 2.0), "slow": (0.08, 0.08), "crossing": (0.05, 0.6)}  # rates of the best and of the worst arms


class CurveWorld:
    """Arms are points of a cube, and nearby points have similar values, so that mutants are similar to their parents.

    The reward of an arm with value v is v (1 - exp(-rate n)) / (1 - exp(-rate N)) after n of N steps. With crossing curves,
    good arms are slow, so that the first steps are misleading.

    Args:
        kind: "fast", "slow" or "crossing".
        dimensions: Dimensions of the cube.
        max_steps: Steps of a full training.
        noise: Standard deviation of the noise of each reward.
        seed: Random seed of the landscape.

    >>> problem = CurveWorld("fast", seed=1)
    >>> config = problem.space.decode([0.5] * 5)
    >>> problem.reward(config, 1, seed=0) < problem.reward(config, 10, seed=0)
    True
    """

    def __init__(
        self, kind: str = "fast", dimensions: int = 5, max_steps: int = 10, noise: float = 0.005, seed: int = 0
    ) -> None:
        self._best_rate, self._worst_rate = _SPEEDS[checks.one_of("kind", kind, _SPEEDS)]
        self.name = f"{kind} curves"
        self.max_steps = checks.whole("max_steps", max_steps, 1)
        self.space = Space(**{f"x{i}": Float(0, 1) for i in range(checks.whole("dimensions", dimensions, 1))})
        self._noise = checks.between("noise", noise, 0)
        rng = np.random.default_rng([seed, 1])  # another stream than that of a strategy with the same seed
        self._peaks = rng.random((8, dimensions))
        self._heights = np.sort(0.5 + 0.45 * rng.random(8))
        self._widths = (0.15 + 0.25 * rng.random(8)) * math.sqrt(dimensions)
        points = rng.random((2000, dimensions))
        values = np.array([self._value(point) for point in points])
        self.typical = float(np.median(values))
        self.best = float(max(self._value(peak) for peak in self._peaks))

    def _value(self, point: Any) -> float:
        distances = np.sqrt(((self._peaks - point) ** 2).sum(axis=1))
        return float((0.1 + (self._heights - 0.1) * np.exp(-0.5 * (distances / self._widths) ** 2)).max())

    def value(self, config: Any) -> float:
        """The height of the landscape at the config."""
        return self._value([config[name] for name in self.space.parameters])  # JSON may have changed their order

    def reward(self, config: Any, step: int, seed: int) -> float:
        """A point of the curve, with noise."""
        value = self.value(config)
        share = min(max((self.best - value) / self.best, 0.0), 1.0)
        rate = self._best_rate + (self._worst_rate - self._best_rate) * share
        level = -math.expm1(-rate * step) / -math.expm1(-rate * self.max_steps)
        return value * level + self._noise * float(np.random.default_rng(seed).standard_normal())
