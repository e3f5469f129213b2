"""Hyperband: brackets of successive halving, from many arms trained briefly to few arms trained long.

Li, Jamieson, DeSalvo, Rostamizadeh and Talwalkar, "Hyperband: A Novel Bandit-Based Approach to Hyperparameter Optimization",
JMLR 2018, algorithm 1.
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


def ladders(max_steps: int, eta: int) -> list[Ladder]:
    """The brackets s = s_max .. 0, with n = ceil((s_max + 1) / (s + 1) eta^s) arms each.

    >>> [ladder.sizes[0] for ladder in ladders(81, 3)]
    [81, 34, 15, 8, 5]
    """
    most = halvings(max_steps, eta)
    return [Ladder.of(-(-(most + 1) * eta**s // (s + 1)), s, max_steps, eta) for s in range(most, -1, -1)]


class Hyperband:
    """Brackets of `SuccessiveHalving` in turn, from the one that cuts most often to arms that are all trained to the end; then
    from the first again. They run, end and fail as those do.

    Args:
        space: makes the arms.
        budget: steps in all (not of a bracket), enough for the first bracket; None goes on until the study stops it.
        max_steps: steps of the arms that win (R in the paper).
        eta: of so many arms, one is promoted.
        seed: of its generator.

    >>> from manyarms import Float, Hyperband, Space
    >>> search = Hyperband(Space(x=Float(0, 1)), budget=600, max_steps=27, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, -abs(pull.config["x"] - 0.3) / pull.stop)
    >>> round(search.best().config["x"], 1)
    0.3
    """

    settings: dict[str, Any]

    @remember_settings
    def __init__(self, space: Any, *, budget: int | None = None, max_steps: int, eta: int = 3, seed: int | None = None) -> None:
        self.max_steps = checks.whole("max_steps", max_steps, 1)
        self.eta = checks.whole("eta", eta, 2)
        self.ledger = Ledger(space, budget, max_steps, seed)
        smaller = spares(halvings(max_steps, eta), max_steps, eta)
        self._brackets = Brackets(self.ledger, ladders(max_steps, eta), smaller)

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
