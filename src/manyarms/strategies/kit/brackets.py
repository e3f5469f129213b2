"""One bracket after another, within a budget, and the next one early where a worker would have to wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from ...core import Arm, Pull
from ..protocol import Phase
from .bracket import Bracket, Ladder
from .ledger import Ledger, Settled, State
from .recommendation import Standings


def spares(cuts: int, max_steps: int, eta: int) -> list[Ladder]:
    """Ever smaller brackets for the end of a budget: eta^s arms and s cuts, down to one arm trained to the end."""
    return [Ladder.of(eta**s, s, max_steps, eta) for s in range(cuts, -1, -1)]


class Brackets:
    """The brackets of a search.

    A bracket opens only if the budget holds all its steps, which are then kept for it; what its failed arms leave is free
    again. The oldest open bracket comes first. A new one opens when every open one waits for rewards.

    Args:
        ledger: of the search.
        ladders: of the brackets, in turn, again and again.
        spares: of smaller ones, largest first: where the budget does not hold the next ladder, the first that it holds.
        draw: makes each new arm, one that the ledger has just added; by default at random.
    """

    def __init__(
        self, ledger: Ledger, ladders: Sequence[Ladder], spares: Sequence[Ladder], draw: Callable[[], Arm] | None = None
    ) -> None:
        first = ladders[0]
        if ledger.budget is not None and ledger.budget < first.steps:
            raise ValueError(f"budget must be at least {first.steps}, one bracket of {first}; got {ledger.budget}")
        self._ledger = ledger
        self._draw = ledger.fresh if draw is None else draw
        self._ladders = ladders
        self._spares = spares
        self._open: list[Bracket] = []
        self._turn = 0  # of the ladders
        self._standings = Standings(ledger)

    def ask(self) -> Pull | None:
        left = self._ledger.left
        for bracket in self._open:
            if bracket.waiting and bracket.steps <= left:
                return self._pull(bracket)
        due = self._ladders[self._turn]
        fitting = next(filter(self._fits, (due, *self._spares)), None)
        if fitting is due:
            self._turn = (self._turn + 1) % len(self._ladders)
        return None if fitting is None else self._start(fitting)

    def beside(self, ladder: Ladder) -> Pull | None:
        """The first pull of a bracket that is out of turn; None if the budget does not hold it."""
        return self._start(ladder) if self._fits(ladder) else None

    def _fits(self, ladder: Ladder) -> bool:
        return ladder.steps <= self._ledger.left - sum(bracket.reserved for bracket in self._open)

    def _start(self, ladder: Ladder) -> Pull:
        self._open.append(Bracket(ladder))
        return self._pull(self._open[-1])

    def _pull(self, bracket: Bracket) -> Pull:
        steps, promoted = bracket.steps, bracket.next()
        if promoted is not None:
            return self._ledger.open(self._ledger.arms[promoted], steps)
        arm = self._draw()
        bracket.enter(arm.id)
        return self._ledger.open(arm, steps)

    def tell(self, pull: Pull, reward: float | None) -> Settled:
        settled, arm = self._ledger.settle(pull, reward), pull.arm.id
        if settled.repeated:
            return settled
        self._standings.tell(arm, settled.reward)
        bracket = next(bracket for bracket in self._open if arm in bracket)
        bracket.tell(arm, settled.reward, self._ledger.rng)
        if bracket.finished:
            self._open.remove(bracket)
        return settled

    def best(self) -> Arm:
        return self._standings.best()

    def priority(self, arm: int) -> float:
        again = self._ledger.can_train(arm) and any(arm in bracket for bracket in self._open)
        return self._standings.priority(arm, again)

    def plan(self, apart: int = 0) -> list[Phase]:
        """A phase for each ladder, as often as the budget holds it, with so many steps set apart."""
        budget = self._ledger.budget
        if budget is None:
            return [Phase(f"brackets of {ladder}", None, None) for ladder in self._ladders]
        rounds, left = divmod(budget - apart, sum(ladder.steps for ladder in self._ladders))
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

    def state(self) -> State:
        brackets = [bracket.state() for bracket in self._open]
        return {"ledger": self._ledger.state(), "standings": self._standings.state(), "turn": self._turn, "open": brackets}

    def load(self, state: State) -> None:
        self._ledger.load(state["ledger"])
        self._standings.load(state["standings"])
        self._turn, self._open = state["turn"], [Bracket.of(part) for part in state["open"]]
