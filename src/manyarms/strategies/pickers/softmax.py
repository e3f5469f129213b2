"""Softmax: picks a random arm, with probabilities that grow with the means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ... import checks
from .picker import Floats, Picker


def weights(means: Floats, temperature: float) -> Floats:
    """The probability of each arm: exp(mean / temperature), normalized to sum to 1."""
    powers = np.exp((means - means.max()) / temperature)
    return np.asarray(powers / powers.sum())


class Softmax(Picker):
    """A random arm, more likely the larger its mean.

    Args:
        temperature: Differences of means well below the temperature matter little.
        n: Number of arms. A `Cascade` sets it.
    """

    def __init__(self, temperature: float = 0.1, *, n: int | None = None) -> None:
        self.temperature = checks.positive("temperature", temperature)
        super().__init__(n, temperature=temperature)

    def _decide(self, arms: NDArray[np.int64], rng: np.random.Generator) -> int:
        return int(rng.choice(len(arms), p=weights(self.means(arms), self.temperature)))
