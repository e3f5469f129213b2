"""ContextualTreeUCB: TreeUCB on the cube of contexts and arms, where the context is how long an arm is trained.

Wang, Geng and Rudin, "A Practical Bandit Method with Advantages in Neural Network Tuning", algorithm 4.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from .. import checks
from .cube.contextual_strategy import ContextualCubeStrategy
from .cube.regression_tree import RegressionTree
from .cube.schedules import Schedule
from .kit.settings import remember_settings
from .tree_ucb import tree_confidence


def contextual_confidence(t: int, z: int, v1: float, v2: float, v3: float) -> float:
    """beta_t in round t, where an arm is trained z steps: v1 sqrt(ln t) + v2 z^v3 (section 3.3.1)."""
    return tree_confidence(t, v1) + v2 * math.pow(z, v3)


class ContextualTreeUCB(ContextualCubeStrategy):
    """`TreeUCB` where a schedule decides how many steps the arm of each round is trained.

    Short trainings are cheap, and show where longer ones are worth their cost. Leaves span steps and configs; only the leaves
    that contain the steps z of the round are compared, by mean + (v1 sqrt(ln t) + v2 z^v3) / sqrt(n). Rounds and the budget are
    as in `ContextualPartitionUCB`.

    Args:
        space: Makes the arms; it must encode its configs.
        budget: Total number of steps; None runs until the study stops it.
        max_steps: The most steps an arm may get, and the largest context.
        schedule: As in `ContextualPartitionUCB`.
        v1: Factor of the bonus that grows with the rounds.
        v2: Factor of the bonus for short trainings, whose rewards may still change.
        v3: How that bonus changes with the steps: -2 divides it by their square.
        min_gain, min_leaf, min_split, refit: As in `TreeUCB`.
        seed: Random seed. The same seed gives the same search.

    >>> from manyarms import ContextualTreeUCB, Float, Space
    >>> search = ContextualTreeUCB(Space(x=Float(0, 1)), budget=1000, max_steps=9, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, (1 - abs(pull.config["x"] - 0.3)) * (1 - 0.5**pull.stop))
    >>> round(search.best().config["x"], 1)
    0.3
    """

    @remember_settings
    def __init__(
        self,
        space: Any,
        *,
        budget: int | None = None,
        max_steps: int = 27,
        schedule: str | Schedule | None = "harmonic",
        v1: float = 0.1,
        v2: float = 1.0,
        v3: float = -2.0,
        min_gain: float = 1e-4,
        min_leaf: int = 3,
        min_split: int | None = None,
        refit: bool | str = False,
        seed: int | None = None,
    ) -> None:
        self.v1, self.v2 = checks.between("v1", v1, 0), checks.between("v2", v2, 0)
        self.v3 = checks.finite("v3", v3)
        tree = partial(RegressionTree, min_gain=min_gain, min_leaf=min_leaf, min_split=min_split, refit=refit)
        super().__init__(space, budget, max_steps, seed, tree, schedule)

    def _beta(self, steps: int) -> float:
        return contextual_confidence(self._round, steps, self.v1, self.v2, self.v3)
