"""Strategies made of brackets: one bracket after another within a budget, the next one early if a worker would have to wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from ...core import Arm, Pull
from .bracket import Bracket, Ladder
from .ledger import Ledger, Settled, State
from .phase import Phase
from .recommendation import Standings
from .representation import strategy_repr


def spares(cuts: int, max_steps: int, eta: int) -> list[Ladder]:
    """Ever smaller brackets for the end of a budget: eta^s arms and s cuts, down to a single arm that is fully trained."""
    return [Ladder.of(eta**s, s, max_steps, eta) for s in range(cuts, -1, -1)]


class BracketStrategy:
    """What `SuccessiveHalving`, `Hyperband` and `Harmonica` share. A subclass only chooses the brackets.

    A bracket is opened only if the budget covers all its steps, which are then reserved for it. Steps that failed arms leave
    over become free again. The oldest open bracket comes first. A new one is opened when all open ones wait for rewards.

    Args:
        ledger: The ledger of the strategy.
        ladders: The brackets, in turn, again and again.
        spares: Smaller brackets, largest first. If the budget does not cover the next ladder, the first spare that it does
            cover is used.
        draw: Makes each new arm and adds it to the ledger. By default arms are random.
    """

    settings: dict[str, Any]

    def __init__(
        self, ledger: Ledger, ladders: Sequence[Ladder], spares: Sequence[Ladder], draw: Callable[[], Arm] | None = None
    ) -> None:
        first = ladders[0]
        if ledger.budget is not None and ledger.budget < first.steps:
            raise ValueError(f"budget must be at least {first.steps}, one bracket of {first}; got {ledger.budget}")
        self.ledger = ledger
        self._draw = ledger.new_sample if draw is None else draw
        self._ladders = ladders
        self._spares = spares
        self._open: list[Bracket] = []
        self._turn = 0  # number of the next ladder
        self._standings = Standings(ledger)

    def ask(self) -> Pull | None:
        left = self.ledger.left
        for bracket in self._open:
            if bracket.waiting and bracket.steps <= left:
                return self._pull(bracket)
        due = self._ladders[self._turn]
        fitting = next(filter(self._fits, (due, *self._spares)), None)
        if fitting is due:
            self._turn = (self._turn + 1) % len(self._ladders)
        return None if fitting is None else self._start(fitting)

    def _fits(self, ladder: Ladder) -> bool:
        return ladder.steps <= self.ledger.left - sum(bracket.reserved for bracket in self._open)

    def _start(self, ladder: Ladder) -> Pull:
        self._open.append(Bracket(ladder))
        return self._pull(self._open[-1])

    def _pull(self, bracket: Bracket) -> Pull:
        steps, promoted = bracket.steps, bracket.next()
        if promoted is not None:
            return self.ledger.open(self.ledger.arms[promoted], steps)
        arm = self._draw()
        bracket.enter(arm.id)
        return self.ledger.open(arm, steps)

    def tell(self, pull: Pull, reward: float | None) -> None:
        self._settle(pull, reward)

    def _settle(self, pull: Pull, reward: float | None) -> Settled:
        settled, arm = self.ledger.settle(pull, reward), pull.arm.id
        if settled.repeated:
            return settled
        self._standings.tell(arm, settled.reward)
        bracket = next(bracket for bracket in self._open if arm in bracket)
        bracket.tell(arm, settled.reward, self.ledger.rng)
        if bracket.finished:
            self._open.remove(bracket)
        return settled

    def best(self) -> Arm:
        """The arm with the best reward, however far it was trained."""
        return self._standings.best()

    def priority(self, arm: int) -> float:
        """Largest for the arms of open brackets, by their steps, then by their rewards."""
        again = self.ledger.can_train(arm) and any(arm in bracket for bracket in self._open)
        return self._standings.priority(arm, again)

    def plan(self) -> list[Phase]:
        return self._plan(self.ledger.budget)

    def _plan(self, budget: int | None) -> list[Phase]:
        """One phase for each ladder, as often as this many steps cover it."""
        if budget is None:
            return [Phase(f"brackets of {ladder}", None, None) for ladder in self._ladders]
        rounds, left = divmod(budget, sum(ladder.steps for ladder in self._ladders))
        counts = Counter(dict.fromkeys(self._ladders, rounds))
        for ladder in self._ladders:
            if ladder.steps > left:
                break
            counts[ladder] += 1
            left -= ladder.steps
        for ladder in self._spares:
            more, left = divmod(left, ladder.steps)
            counts[ladder] += more
        rows = [(ladder, count) for ladder, count in counts.items() if count]
        return [Phase(f"{count} × {ladder}", count * ladder.sizes[0], count * ladder.steps) for ladder, count in rows]

    def warning(self) -> str | None:
        return None

    def state(self) -> State:
        brackets = [bracket.state() for bracket in self._open]
        return {"ledger": self.ledger.state(), "standings": self._standings.state(), "turn": self._turn, "open": brackets}

    def load(self, state: State) -> None:
        self.ledger.load(state["ledger"])
        self._standings.load(state["standings"])
        self._turn, self._open = state["turn"], [Bracket.of(part) for part in state["open"]]

    __repr__ = strategy_repr
