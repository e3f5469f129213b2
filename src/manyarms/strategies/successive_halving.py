"""Successive halving: many arms a little, the best of them more, the best of those to the end.

Jamieson and Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter Optimization", 2016.
"""

from __future__ import annotations

from typing import Any

from .. import checks
from ..core import Arm, Pull
from .kit.bracket import Ladder, halvings
from .kit.brackets import Brackets, spares
from .kit.ledger import Ledger, State
from .kit.representation import strategy_repr
from .kit.settings import remember_settings
from .protocol import Phase


class SuccessiveHalving:
    """Train `initial` random arms a little, the best 1/eta of them eta times as long, and so on to the end; then begin anew.

    A promoted arm goes on from where it stands. A worker that would wait for the last rewards of a rung gets an arm of the
    next bracket instead. Steps left at the end go to smaller brackets, of a power of eta arms, down to single arms trained
    to the end: less than max_steps remain. A failed arm is the worst of its rung.

    Args:
        space: makes the arms.
        budget: steps in all, enough for one bracket; None goes on until the study stops it.
        max_steps: steps of the arms that win.
        eta: of so many arms, one is promoted.
        min_steps: the fewest steps after which arms are compared. The rungs are max_steps, max_steps / eta, and so on, rounded
            down, but not below this.
        initial: random arms of a bracket; by default as many as leave one at the end. With fewer, the first rungs are left out.
        seed: of its generator.

    >>> from manyarms import Float, Space, SuccessiveHalving
    >>> search = SuccessiveHalving(Space(x=Float(0, 1)), budget=300, max_steps=27, seed=0)
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
        initial: int | None = None,
        seed: int | None = None,
    ) -> None:
        self.max_steps = checks.whole("max_steps", max_steps, 1)
        self.eta = checks.whole("eta", eta, 2)
        self.min_steps = checks.whole("min_steps", min_steps, 1)
        if min_steps > max_steps:
            raise ValueError(f"min_steps must be at most max_steps={max_steps}, got {min_steps}")
        cuts = halvings(max_steps, eta, min_steps)
        self.initial = eta**cuts if initial is None else checks.whole("initial", initial, 1)
        cuts = min(cuts, halvings(self.initial, eta))
        self.ledger = Ledger(space, budget, max_steps, seed)
        self._brackets = Brackets(self.ledger, [Ladder.of(self.initial, cuts, max_steps, eta)], spares(cuts, max_steps, eta))

    def ask(self) -> Pull | None:
        return self._brackets.ask()

    def tell(self, pull: Pull, reward: float | None) -> None:
        self._brackets.tell(pull, reward)

    def best(self) -> Arm:
        """The arm with the best reward, however far it was trained."""
        return self._brackets.best()

    def priority(self, arm: int) -> float:
        """Highest for the arms of open brackets, by their steps, then by their rewards."""
        return self._brackets.priority(arm)

    def plan(self) -> list[Phase]:
        return self._brackets.plan()

    def warning(self) -> str | None:
        return None

    def state(self) -> State:
        return self._brackets.state()

    def load(self, state: State) -> None:
        self._brackets.load(state)

    __repr__ = strategy_repr
