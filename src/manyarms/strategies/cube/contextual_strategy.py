"""Strategies on the cube of contexts and arms, where the context is how long an arm is trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import Pull
from ..kit.phase import Phase
from .cube_strategy import CubeStrategy, Splitter
from .partition import Partition, Region
from .schedules import Contexts, Schedule


class ContextualCubeStrategy(CubeStrategy):
    """A `CubeStrategy` where a schedule or the user decides how many steps the arm of each round is trained.

    Args:
        space, budget, max_steps, seed, splitter: As in `CubeStrategy`.
        schedule: As in `ContextualPartitionUCB`.
    """

    def __init__(
        self,
        space: Any,
        budget: int | None,
        max_steps: int,
        seed: int | None,
        splitter: Callable[[Partition], Splitter],
        schedule: str | Schedule | None,
    ) -> None:
        super().__init__(space, budget, max_steps, seed, splitter, context=1)
        self._contexts = Contexts(schedule, max_steps)

    def ask(self, context: int | None = None) -> Pull | None:
        steps = self._contexts.steps(self._round, context, self.ledger.left)
        return None if steps is None else self._play(steps, (self._contexts.code(steps),))

    def regions(self, context: int | None = None) -> list[Region]:
        """The boxes with their bounds in the next round. Their first coordinate is the context, from 0 to 1.

        Args:
            context: Only the boxes that contain this number of steps, with the bounds for it. By default all boxes, with the
                bounds for `max_steps`.
        """
        steps = self.max_steps if context is None else self._contexts.checked("context", context)
        return self._partition.regions(self._beta(steps), () if context is None else (self._contexts.code(steps),))

    def plan(self) -> list[Phase]:
        return [Phase("new arms, each trained as long as the schedule says", self.ledger.budget, self.ledger.budget)]
