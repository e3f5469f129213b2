"""What a test problem is: a space, a curve for each of its configs, and the best that can be had."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ...core import Pull


class Problem(Protocol):
    """A world in which strategies can be compared, in microseconds a pull. Rewards are larger for better arms.

    Attributes:
        name: for tables and plots.
        space: makes the configs.
        max_steps: of a full training.
    """

    name: str
    space: Any
    max_steps: int

    @property
    def best(self) -> float:
        """The largest value any config has, or the largest known."""

    @property
    def typical(self) -> float:
        """The value of a middling random config; with `best` it makes regrets of different problems comparable."""

    def reward(self, config: Any, step: int, seed: int) -> float | None:
        """What a pull that ends after `step` steps returns; None where the training diverges. `seed` is of the noise."""

    def value(self, config: Any) -> float:
        """What the config is truly worth, after a full training and without noise."""


def regret(problem: Problem, config: Any) -> float:
    """How far a config is from the best, in percent: 0 is the best there is, 100 a middling random one."""
    return 100.0 * (problem.best - problem.value(config)) / (problem.best - problem.typical)


def evaluate(problem: Problem, pull: Pull, seed: int) -> float | None:
    """The reward of a pull: the noise depends on seed, arm and step alone."""
    return problem.reward(pull.config, pull.stop, noise_seed(seed, pull.arm.id, pull.stop))


def noise_seed(*address: int) -> int:
    """A seed for one draw of noise."""
    return int(np.random.SeedSequence(address).generate_state(1)[0])
