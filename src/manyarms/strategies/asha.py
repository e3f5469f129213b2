"""ASHA: successive halving that never waits.

Li, Jamieson, Rostamizadeh, Gonina, Ben-tzur, Hardt, Recht and Talwalkar, "A System for Massively Parallel Hyperparameter
Tuning", MLSys 2020, algorithm 2: the variant that promotes arms, not the one that only stops them.
"""

from __future__ import annotations

from typing import Any

from .. import checks
from ..core import Arm, Pull
from .kit.asha_rung import Rung
from .kit.bracket import Ladder, halvings
from .kit.ledger import Ledger, State, check_one_training
from .kit.phase import Phase
from .kit.recommendation import Standings
from .kit.representation import strategy_repr
from .kit.settings import remember_settings


class ASHA:
    """Promotes any arm in the top 1/eta of its rung, starting at the highest rung; otherwise starts a new random arm.

    An arm that is not promoted is paused, not stopped: it may be promoted later, when more arms have reached its rung. A failed
    arm counts as the worst of the rung that it was trained for. Near the end of the budget, the highest promotion that still
    fits comes first, then new arms, until the remaining steps do not cover the first rung.

    Args:
        space: Search space.
        budget: Total number of steps, at least `max_steps`; None runs until the study stops it.
        max_steps: Steps of the arms that reach the last rung.
        eta: One of `eta` arms is promoted at each rung.
        min_steps: Minimum number of steps before arms are compared. The rungs are those of `SuccessiveHalving`.
        seed: Random seed. The same seed gives the same search.

    >>> from manyarms import ASHA, Float, Space
    >>> search = ASHA(Space(x=Float(0, 1)), budget=300, max_steps=27, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, -abs(pull.config["x"] - 0.3) / pull.stop)
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
        max_steps: int,
        eta: int = 3,
        min_steps: int = 1,
        seed: int | None = None,
    ) -> None:
        self.max_steps = checks.whole("max_steps", max_steps, 1)
        self.eta = checks.whole("eta", eta, 2)
        self.min_steps = checks.whole("min_steps", min_steps, 1)
        if min_steps > max_steps:
            raise ValueError(f"min_steps must be at most max_steps={max_steps}, got {min_steps}")
        self.ledger = Ledger(space, budget, max_steps, seed)
        check_one_training(budget, max_steps)
        cuts = halvings(max_steps, eta, min_steps)
        self._ladder = Ladder.of(eta**cuts, cuts, max_steps, eta)
        self._first, *self._climbs = self._ladder.slices  # steps to the first rung, and from each rung to the next
        self._rungs = [Rung(eta) for _ in self._climbs]  # all rungs but the last, from which no arm is promoted
        self._level = {stop: level for level, stop in enumerate(self._ladder.stops[:-1])}
        self._standings = Standings(self.ledger)

    def ask(self) -> Pull | None:
        ledger = self.ledger
        left = ledger.left
        for rung, steps in zip(reversed(self._rungs), reversed(self._climbs), strict=True):
            if steps <= left and (arm := rung.candidate()) is not None:
                rung.promote()
                return ledger.open(ledger.arms[arm], steps)
        return ledger.open(ledger.new_sample(), self._first) if self._first <= left else None

    def tell(self, pull: Pull, reward: float | None) -> None:
        settled = self.ledger.settle(pull, reward)
        if settled.repeated:
            return
        self._standings.tell(pull.arm.id, settled.reward)
        if (level := self._level.get(pull.stop)) is not None:
            self._rungs[level].add(pull.arm.id, settled.reward, self.ledger.rng.random())

    def best(self) -> Arm:
        """The arm with the best reward, regardless of how long it was trained."""
        return self._standings.best()

    def priority(self, arm: int) -> float:
        """Largest for paused arms, which may still be promoted: by rung, then by reward."""
        return self._standings.priority(arm, again=self.ledger.steps[arm] < self.max_steps)

    def plan(self) -> list[Phase]:
        budget, stops = self.ledger.budget, ", ".join(map(str, self._level))
        name = f"random arms, promoted at {stops} of {self.max_steps} steps" if stops else "random arms, each fully trained"
        return [Phase(name, None if budget is None else budget // self._first, budget)]

    def warning(self) -> str | None:
        """Warns if no arm was fully trained. With a small budget, too few arms reach a rung for one to be promoted."""
        ledger = self.ledger
        if ledger.left >= self._first or not ledger.arms or max(ledger.steps) == self.max_steps:
            return None
        return (
            f"No arm was fully trained ({self.max_steps} steps). Use a budget of at least {self._ladder.steps}, "
            "or a larger min_steps, so that there are fewer rungs."
        )

    def state(self) -> State:
        rungs = [rung.state() for rung in self._rungs]
        return {"ledger": self.ledger.state(), "standings": self._standings.state(), "rungs": rungs}

    def load(self, state: State) -> None:
        self.ledger.load(state["ledger"])
        self._standings.load(state["standings"])
        for rung, part in zip(self._rungs, state["rungs"], strict=True):
            rung.load(part)

    __repr__ = strategy_repr
