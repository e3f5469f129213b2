"""Measures the best and the typical value of a problem: first with random configs, then with mutants of the best ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ... import checks

_PARENTS = 20


class Measurable(Protocol):
    """A problem that returns the values of many configs at once."""

    space: Any

    def values(self, configs: Sequence[Any]) -> NDArray[np.float64]:
        """The value of each config."""


@dataclass(frozen=True, slots=True)
class Survey:
    """Reference values of a problem.

    Attributes:
        best: The largest value that was found, which is a lower bound of the best value.
        typical: The median value of the random configs.
        config: The config with the largest value.
    """

    best: float
    typical: float
    config: Any


def survey(problem: Measurable, n: int, rounds: int = 10, seed: int = 0) -> Survey:
    """Measure the best and the typical value of a problem.

    Args:
        problem: A problem with `values`.
        n: Number of random configs.
        rounds: Rounds of local search. Each tries ten mutants of each of the twenty best configs so far.
        seed: Random seed.
    """
    rng = np.random.default_rng([checks.whole("seed", seed, 0), 2])  # another stream than that of strategies with this seed
    configs = [problem.space.sample(rng) for _ in range(checks.whole("n", n, 1))]
    values = problem.values(configs)
    typical = float(np.median(values))
    for _ in range(checks.whole("rounds", rounds, 0)):
        configs, values = _fittest(configs, values)
        mutants = [problem.space.mutate(config, rng) for config in configs for _ in range(10)]
        configs, values = configs + mutants, np.concatenate([values, problem.values(mutants)])
    top = int(values.argmax())
    return Survey(float(values[top]), typical, configs[top])


def _fittest(configs: list[Any], values: NDArray[np.float64]) -> tuple[list[Any], NDArray[np.float64]]:
    order = np.argsort(-values, kind="stable")[:_PARENTS]
    return [configs[i] for i in order], values[order]
