"""Random search: every arm is random and gets a whole training."""

from __future__ import annotations

from typing import Any

from .. import checks
from ..core import Arm, Pull
from ..errors import NoResult
from .kit.ledger import Ledger, State
from .kit.representation import strategy_repr
from .kit.settings import remember_settings
from .protocol import Phase


class RandomSearch:
    """Draw budget / max_steps arms at random and train each to the end, in one pull.

    Args:
        space: makes the arms.
        budget: steps in all; None goes on until the study stops it.
        max_steps: steps of each arm.
        seed: of its generator.

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
        if budget is not None and budget < max_steps:
            raise ValueError(f"budget must be at least {max_steps}, one whole training of max_steps, got {budget}")
        self._best: tuple[int, float] | None = None

    def ask(self) -> Pull | None:
        if self.ledger.left < self.max_steps:
            return None
        return self.ledger.open(self.ledger.sample(), self.max_steps)

    def tell(self, pull: Pull, reward: float | None) -> None:
        reward = self.ledger.settle(pull, reward).reward
        if reward is not None and (self._best is None or reward > self._best[1]):
            self._best = pull.arm.id, reward

    def best(self) -> Arm:
        if self._best is None:
            raise NoResult("no pull has succeeded yet")
        return self.ledger.arms[self._best[0]]

    def priority(self, arm: int) -> float:
        return 0.0  # no arm is pulled twice

    def plan(self) -> list[Phase]:
        budget = self.ledger.budget
        arms = None if budget is None else budget // self.max_steps
        return [Phase("random arms, each trained to the end", arms, None if arms is None else arms * self.max_steps)]

    def warning(self) -> str | None:
        return None

    def state(self) -> State:
        return {"ledger": self.ledger.state(), "best": self._best}

    def load(self, state: State) -> None:
        self.ledger.load(state["ledger"])
        self._best = state["best"] and tuple(state["best"])

    __repr__ = strategy_repr
