"""Random search: every arm is random and fully trained."""

from __future__ import annotations

from typing import Any

from .. import checks
from ..core import Arm, Pull
from .kit.ledger import Ledger, State, check_one_training
from .kit.phase import Phase
from .kit.recommendation import Standings
from .kit.representation import strategy_repr
from .kit.settings import remember_settings


class RandomSearch:
    """Draws budget / max_steps random arms and trains each fully, in one pull.

    Args:
        space: Makes the arms.
        budget: Total number of steps; None runs until the study stops it.
        max_steps: Steps of each arm.
        seed: Random seed. The same seed gives the same search.

    >>> from manyarms import Float, RandomSearch, Space
    >>> search = RandomSearch(Space(x=Float(0, 1)), budget=1000, max_steps=10, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, -abs(pull.config["x"] - 0.3))
    >>> round(search.best().config["x"], 1)
    0.3
    """

    settings: dict[str, Any]

    @remember_settings
    def __init__(self, space: Any, *, budget: int | None = None, max_steps: int = 1, seed: int | None = None) -> None:
        self.max_steps = checks.whole("max_steps", max_steps, 1)
        self.ledger = Ledger(space, budget, max_steps, seed)
        check_one_training(budget, max_steps)
        self._standings = Standings(self.ledger)

    def ask(self) -> Pull | None:
        if self.ledger.left < self.max_steps:
            return None
        return self.ledger.open(self.ledger.sample(), self.max_steps)

    def tell(self, pull: Pull, reward: float | None) -> None:
        settled = self.ledger.settle(pull, reward)
        if not settled.repeated:
            self._standings.tell(pull.arm.id, settled.reward)

    def best(self) -> Arm:
        """The arm with the best reward."""
        return self._standings.best()

    def priority(self, arm: int) -> float:
        return 0.0  # no arm is pulled twice

    def plan(self) -> list[Phase]:
        budget = self.ledger.budget
        arms = None if budget is None else budget // self.max_steps
        return [Phase("random arms, each fully trained", arms, None if arms is None else arms * self.max_steps)]

    def warning(self) -> str | None:
        return None

    def state(self) -> State:
        return {"ledger": self.ledger.state(), "standings": self._standings.state()}

    def load(self, state: State) -> None:
        self.ledger.load(state["ledger"])
        self._standings.load(state["standings"])

    __repr__ = strategy_repr
