"""Where the best and the middling values of a problem can only be measured: random configs first, then mutants of the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ... import checks

_PARENTS = 20


class Measurable(Protocol):
    """A problem whose values can be asked for many at a time."""

    space: Any

    def values(self, configs: Sequence[Any]) -> NDArray[np.float64]:
        """What each config is worth."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found: an estimate from below of the best value, and the median of the random configs."""

    best: float
    typical: float
    config: Any
    """The one that is worth most."""


def survey(problem: Measurable, n: int, rounds: int = 10, seed: int = 0) -> Survey:
    """The best and the middling value of a problem.

    Args:
        problem: with `values`.
        n: random configs.
        rounds: of local search after them: each tries ten mutants of each of the twenty best configs so far.
        seed: of the configs.
    """
    rng = np.random.default_rng([checks.whole("seed", seed, 0), 2])  # not the stream that strategies draw arms from
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
