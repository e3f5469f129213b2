"""Contextual TreeUCB: the leaves are of the cube of contexts and arms, and the context is how long an arm is trained.

Wang, Geng and Rudin, "A Practical Bandit Method with Advantages in Neural Network Tuning", algorithm 4.
"""

from __future__ import annotations

import math
from typing import Any

from .. import checks
from ..core import Arm, Pull
from .cube.partition import Floats, Region
from .cube.regression_tree import RegressionTree
from .cube.rounds import Rounds
from .cube.schedules import Contexts, Schedule
from .kit.ledger import State
from .kit.representation import strategy_repr
from .kit.settings import remember_settings
from .protocol import Phase
from .tree_ucb import tree_confidence


def contextual_confidence(t: int, z: int, v1: float, v2: float, v3: float) -> float:
    """beta_t in round t, where an arm is trained z steps: v1 sqrt(ln t) + v2 z^v3 (section 3.3.1)."""
    return tree_confidence(t, v1) + v2 * math.pow(z, v3)


class ContextualTreeUCB:
    """`TreeUCB` where a schedule says how many steps the arm of each round is trained: short trainings, which are cheap, tell
    where longer ones are worth while. Leaves span steps and configs; only those that hold the round's steps z are compared, by
    mean + (v1 sqrt(ln t) + v2 z^v3) / sqrt(n). Rounds and the budget are as in `ContextualPartitionUCB`.

    Args:
        space: makes the arms; it must encode.
        budget: steps in all; None goes on until the study stops it.
        max_steps: the most steps an arm may get, and the largest context.
        schedule: as in `ContextualPartitionUCB`.
        v1: how much the bound is above the mean.
        v2: how much it is more above it, since rewards of an arm trained for one step may still change so much.
        v3: how that shrinks with the steps: -2 is with their square.
        eta, min_leaf, min_split, refit: as in `TreeUCB`.
        seed: of its generator.

    >>> from manyarms import ContextualTreeUCB, Float, Space
    >>> search = ContextualTreeUCB(Space(x=Float(0, 1)), budget=1000, max_steps=9, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, (1 - abs(pull.config["x"] - 0.3)) * (1 - 0.5**pull.stop))
    >>> round(search.best().config["x"], 1)
    0.3
    """

    settings: dict[str, Any]

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
        eta: float = 1e-4,
        min_leaf: int = 3,
        min_split: int | None = None,
        refit: bool | str = False,
        seed: int | None = None,
    ) -> None:
        self.v1, self.v2 = checks.between("v1", v1, 0), checks.between("v2", v2, 0)
        self.v3 = checks.finite("v3", v3)
        self._rounds = Rounds(space, budget, max_steps, seed, given=1)
        self.ledger, self.max_steps = self._rounds.ledger, max_steps
        self._contexts = Contexts(schedule, max_steps)
        self._tree = RegressionTree(self._rounds.partition, eta, min_leaf, min_split, refit)

    def ask(self, context: int | None = None) -> Pull | None:
        steps = self._contexts.steps(self._rounds.number, context, self.ledger.left)
        return None if steps is None else self._rounds.play(self._beta(steps), steps, (self._contexts.code(steps),))

    def _beta(self, steps: int) -> float:
        return contextual_confidence(self._rounds.number, steps, self.v1, self.v2, self.v3)

    def tell(self, pull: Pull, reward: float | None) -> None:
        if self._rounds.settle(pull, reward):
            self._tree.learn(pull.arm.id, self.ledger.rng)

    def best(self) -> Arm:
        """The arm with the best reward, however far it was trained."""
        return self._rounds.best()

    def regions(self, context: int | None = None) -> list[Region]:
        """The leaves as they are now, with the bounds of the next round; the first coordinate is the context, from 0 to 1.

        Args:
            context: only the leaves that hold it, with the bounds it gives them; by default all, for `max_steps`.
        """
        steps = self.max_steps if context is None else self._contexts.checked("context", context)
        given = () if context is None else (self._contexts.code(steps),)
        return self._rounds.partition.regions(self._beta(steps), given)

    def observations(self) -> tuple[Floats, Floats]:
        """Where on the cube of contexts and arms each pull is, and its value from 0 to 1: NaN in flight."""
        return self._rounds.partition.points.all.copy(), self._rounds.partition.values.all.copy()

    def priority(self, arm: int) -> float:
        return self._rounds.priority(arm)

    def plan(self) -> list[Phase]:
        return [Phase("new arms, each trained as long as the schedule says", self.ledger.budget, self.ledger.budget)]

    def warning(self) -> str | None:
        return None

    def state(self) -> State:
        return {**self._rounds.state(), **self._tree.state()}

    def load(self, state: State) -> None:
        self._rounds.load(state)
        self._tree.load(state)

    __repr__ = strategy_repr
