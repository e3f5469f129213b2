"""Hyperband: brackets of successive halving, from many arms trained briefly to few arms trained long.

Li, Jamieson, DeSalvo, Rostamizadeh and Talwalkar, "Hyperband: A Novel Bandit-Based Approach to Hyperparameter Optimization",
JMLR 2018, algorithm 1.
"""

from __future__ import annotations

from typing import Any

from .. import checks
from .kit.bracket import Ladder, halvings
from .kit.brackets import BracketStrategy, spares
from .kit.ledger import Ledger
from .kit.settings import remember_settings


def ladders(max_steps: int, eta: int) -> list[Ladder]:
    """The brackets s = s_max .. 0, with n = ceil((s_max + 1) / (s + 1) eta^s) arms each.

    >>> [ladder.sizes[0] for ladder in ladders(81, 3)]
    [81, 34, 15, 8, 5]
    """
    most = halvings(max_steps, eta)
    return [Ladder.of(-(-(most + 1) * eta**s // (s + 1)), s, max_steps, eta) for s in range(most, -1, -1)]


class Hyperband(BracketStrategy):
    """Runs the brackets of `SuccessiveHalving` in turn, from the one with the most cuts to the one where all arms are fully
    trained, then starts again. Failures and the end of the budget are handled as there.

    Args:
        space: Makes the arms.
        budget: Total number of steps of all brackets, enough for the first one; None runs until the study stops it.
        max_steps: Steps of the arms that reach the last rung (R in the paper).
        eta: One of `eta` arms is promoted at each rung.
        seed: Random seed. The same seed gives the same search.

    >>> from manyarms import Float, Hyperband, Space
    >>> search = Hyperband(Space(x=Float(0, 1)), budget=600, max_steps=27, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, -abs(pull.config["x"] - 0.3) / pull.stop)
    >>> round(search.best().config["x"], 1)
    0.3
    """

    @remember_settings
    def __init__(self, space: Any, *, budget: int | None = None, max_steps: int, eta: int = 3, seed: int | None = None) -> None:
        self.max_steps = checks.whole("max_steps", max_steps, 1)
        self.eta = checks.whole("eta", eta, 2)
        smaller = spares(halvings(max_steps, eta), max_steps, eta)
        super().__init__(Ledger(space, budget, max_steps, seed), ladders(max_steps, eta), smaller)
