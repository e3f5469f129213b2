"""Contextual PartitionUCB: the boxes are of the cube of contexts and arms, and the context is how long an arm is trained.

Wang, Geng and Rudin, "A Practical Bandit Method with Advantages in Neural Network Tuning", algorithm 2.
"""

from __future__ import annotations

from typing import Any

from .. import checks
from ..core import Arm, Pull
from .cube.legal import LegalSplits, confidence
from .cube.partition import Floats, Region
from .cube.rounds import Rounds
from .cube.schedules import Contexts, Schedule
from .kit.ledger import State
from .kit.representation import strategy_repr
from .kit.settings import remember_settings
from .protocol import Phase


class ContextualPartitionUCB:
    """`PartitionUCB` where a schedule says how many steps the arm of each round is trained: short trainings, which are cheap,
    tell where longer ones are worth while. Boxes span steps and configs; only those that hold the round's steps are compared.

    Each round is a new arm, trained from 0 in one pull. A scheduled training that the budget no longer holds is cut to what is
    left; one that the user asks for gives None.

    Args:
        space: makes the arms; it must encode.
        budget: steps in all; None goes on until the study stops it.
        max_steps: the most steps an arm may get, and the largest context.
        schedule: "harmonic" rises to `max_steps` in 30 rounds, again and again; "hyperband" goes through the lengths that
            Hyperband would; or a function of the round, from 1, that gives the steps; None: `ask(context=27)` gives them.
        alpha, l, c, s, factor: as in `PartitionUCB`.
        seed: of its generator.

    >>> from manyarms import ContextualPartitionUCB, Float, Space
    >>> search = ContextualPartitionUCB(Space(x=Float(0, 1)), budget=1000, max_steps=9, seed=0)
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
        alpha: float = 1.0,
        l: float = 0.5,  # noqa: E741  the paper's letter
        c: float = 1.0,
        s: float = 0.1,
        factor: float = 0.1,
        seed: int | None = None,
    ) -> None:
        self.alpha, self.l = checks.positive("alpha", alpha), checks.positive("l", l)
        self.c, self.s = checks.between("c", c, 0), checks.between("s", s, 0)
        self.factor = checks.between("factor", factor, 0)
        self._rounds = Rounds(space, budget, max_steps, seed, given=1)
        self.ledger, self.max_steps = self._rounds.ledger, max_steps
        self._contexts = Contexts(schedule, max_steps)
        self._splits = LegalSplits(self._rounds.partition, self.alpha, self.l)

    def ask(self, context: int | None = None) -> Pull | None:
        steps = self._contexts.steps(self._rounds.number, context, self.ledger.left)
        return None if steps is None else self._rounds.play(self._beta(), steps, (self._contexts.code(steps),))

    def _beta(self) -> float:
        return self.factor * confidence(self._rounds.number, self.alpha, self.c, self.s)

    def tell(self, pull: Pull, reward: float | None) -> None:
        if self._rounds.settle(pull, reward):
            self._splits.refine(len(self.ledger.arms), self.ledger.rng)

    def best(self) -> Arm:
        """The arm with the best reward, however far it was trained."""
        return self._rounds.best()

    def regions(self, context: int | None = None) -> list[Region]:
        """The boxes as they are now, with the bounds of the next round; the first coordinate is the context, from 0 to 1.

        Args:
            context: only the boxes that hold it.
        """
        given = () if context is None else (self._contexts.code(self._contexts.checked("context", context)),)
        return self._rounds.partition.regions(self._beta(), given)

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
        return self._rounds.state()

    def load(self, state: State) -> None:
        self._rounds.load(state)
        self._splits.measure()

    __repr__ = strategy_repr
