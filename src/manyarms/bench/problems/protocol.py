"""What a test problem is: a space, a learning curve for each config, and the best value."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ...core import Pull


class Problem(Protocol):
    """A problem on which strategies can be compared. Larger rewards are better.

    Attributes:
        name: Name in tables and plots.
        space: Space of the configs.
        max_steps: Steps of a full training.
    """

    name: str
    space: Any
    max_steps: int

    @property
    def best(self) -> float:
        """The largest value of any config, or the largest known one."""

    @property
    def typical(self) -> float:
        """The value of the median random config, which makes regrets of different problems comparable."""

    def reward(self, config: Any, step: int, seed: int) -> float | None:
        """The reward of a pull that ends after `step` steps; None if the training diverges. `seed` determines the noise."""

    def value(self, config: Any) -> float:
        """The reward of a config after a full training, without noise."""


def regret(problem: Problem, config: Any) -> float:
    """The regret of a config in percent: 0 is the best config, 100 the median random config."""
    return 100.0 * (problem.best - problem.value(config)) / (problem.best - problem.typical)


def evaluate(problem: Problem, pull: Pull, seed: int) -> float | None:
    """The reward of a pull. The noise depends only on the seed, the arm and the step."""
    return problem.reward(pull.config, pull.stop, noise_seed(seed, pull.arm.id, pull.stop))


def noise_seed(*address: int) -> int:
    """A seed for one value of the noise."""
    return int(np.random.SeedSequence(address).generate_state(1)[0])
