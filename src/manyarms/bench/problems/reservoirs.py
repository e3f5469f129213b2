"""Reservoirs: arms whose means follow a distribution, and rewards that are drawn independently at every pull."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import checks


@dataclass(frozen=True)
class BetaMeans:
    """A space whose configs are means: low + (high - low) x Beta(a, b). Mutants are similar to their parents."""

    a: float
    b: float
    low: float = 0.0
    high: float = 1.0

    def sample(self, rng: np.random.Generator) -> dict[str, float]:
        """A mean from the distribution."""
        return {"mean": self.low + (self.high - self.low) * float(rng.beta(self.a, self.b))}

    def mutate(self, config: dict[str, float], rng: np.random.Generator) -> dict[str, float]:
        """A similar mean."""
        step = 0.1 * (self.high - self.low) * rng.standard_normal()
        mean = float(np.clip(config["mean"] + step, self.low, self.high))
        if mean == config["mean"]:  # at a bound: step in the other direction
            mean = float(np.clip(mean - step, self.low, self.high))
        return {"mean": mean}


class Reservoir:
    """Infinitely many arms with means from a shifted Beta distribution: Beta(1, 1) is uniform, Beta(1, b) has few good arms.

    Args:
        a, b: Parameters of the Beta distribution of the means.
        low, high: Interval that the distribution is scaled to.
        noise: "bernoulli", or the standard deviation of Gaussian noise.

    >>> problem = Reservoir(1, 3)
    >>> config = problem.space.sample(np.random.default_rng(0))
    >>> problem.reward(config, step=1, seed=0) in (0.0, 1.0)
    True
    """

    max_steps = 1

    def __init__(
        self, a: float = 1, b: float = 1, low: float = 0.0, high: float = 1.0, noise: str | float = "bernoulli"
    ) -> None:
        self.space = BetaMeans(
            checks.between("a", a, 1e-3), checks.between("b", b, 1e-3), *checks.interval("low and high", (low, high))
        )
        if isinstance(noise, str):
            checks.one_of("noise", noise, ("bernoulli",))
            if low < 0 or high > 1:
                raise ValueError(f"noise must be a number where means leave [0, 1], got {noise!r}")
        else:
            checks.between("noise", noise, 0)
        self._noise = noise
        shift = "" if (low, high) == (0.0, 1.0) else f" on [{low:g}, {high:g}]"
        self.name = f"Beta({a:g}, {b:g}){shift}"
        self.best = high
        self.typical = low + (high - low) * a / (a + b)

    def reward(self, config: Any, step: int, seed: int) -> float:
        """An independent draw around the mean of the arm, regardless of the step."""
        rng = np.random.default_rng(seed)
        if isinstance(self._noise, str):
            return float(rng.random() < config["mean"])
        return float(config["mean"] + self._noise * rng.standard_normal())

    def value(self, config: Any) -> float:
        """The mean of the arm."""
        return float(config["mean"])
