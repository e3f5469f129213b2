"""Uniform: picks a random arm."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .picker import Picker


class Uniform(Picker):
    """A random arm, all equally likely: a baseline.

    Args:
        n: Number of arms. A `Cascade` sets it.
    """

    def __init__(self, *, n: int | None = None) -> None:
        super().__init__(n)

    def _decide(self, arms: NDArray[np.int64], rng: np.random.Generator) -> int:
        return int(rng.random() * len(arms))
