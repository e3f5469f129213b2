"""Rewards and searches in which step n of an arm is its n-th repeated measurement, such as another split."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

import manyarms as ma
from manyarms.bench.problems import Problem, Reservoir, evaluate
from manyarms.bench.problems.protocol import noise_seed

AVERAGING = (ma.DTTTS, ma.InfiniteUCBE)  # these average the rewards of an arm themselves, the others use the last one


class Repeats(Reservoir):
    """A reservoir whose arms are drawn at most ten times each. Ten draws count as a full training."""

    max_steps = 10


def reward(problem: Problem, pull: ma.Pull, seed: int) -> float | None:
    """The mean of the draws of a pull if every step is a draw, or else the point of the curve."""
    if not isinstance(problem, Repeats):
        return evaluate(problem, pull, seed)
    draws = [evaluate(problem, ma.Pull(pull.arm, step, step + 1), seed) for step in range(pull.start, pull.stop)]
    return float(np.mean(draws))  # type: ignore[arg-type]  # no draw fails


def search(strategy: ma.Strategy, draw: Callable[[Any, int], float], seed: int) -> Any:
    """Run a strategy to its end and return the config that it recommends.

    Args:
        strategy: A new strategy. If it averages itself, its reward is the new draw, or else the mean of all draws of the arm.
        draw: Returns one measurement of a config, given a seed.
        seed: Random seed of the draws.
    """
    draws: dict[int, list[float]] = defaultdict(list)
    while (pull := strategy.ask()) is not None:
        of_arm = draws[pull.arm.id]
        for repeat in range(pull.start, pull.stop):
            of_arm.append(draw(pull.config, noise_seed(seed, pull.arm.id, repeat)))
        strategy.tell(pull, of_arm[-1] if isinstance(strategy, AVERAGING) else sum(of_arm) / len(of_arm))
    return strategy.best().config
