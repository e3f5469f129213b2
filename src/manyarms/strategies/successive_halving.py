"""Successive halving: train many arms a little, the best of them more, and the best of those fully.

Jamieson and Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter Optimization", 2016.
"""

from __future__ import annotations

from typing import Any

from .. import checks
from .kit.bracket import Ladder, halvings
from .kit.brackets import BracketStrategy, spares
from .kit.ledger import Ledger
from .kit.settings import remember_settings


class SuccessiveHalving(BracketStrategy):
    """Trains `initial` random arms a little, the best 1/eta of them eta times as long, and so on; then starts again.

    A promoted arm continues from where it was paused. A worker that would have to wait for the last rewards of a rung gets an
    arm of the next bracket instead. Steps left at the end go to smaller brackets, with a power of eta arms, down to single
    arms that are fully trained, until fewer than `max_steps` remain. A failed arm is the worst of its rung.

    Args:
        space: Makes the arms.
        budget: Total number of steps, enough for one bracket; None runs until the study stops it.
        max_steps: Steps of the arms that reach the last rung.
        eta: One of `eta` arms is promoted at each rung.
        min_steps: The fewest steps after which arms are compared. The rungs are max_steps, max_steps / eta, and so on, rounded
            down, but not below this.
        initial: Number of random arms in a bracket. By default one of them reaches the last rung. With fewer, the first rungs
            are left out.
        seed: Random seed. The same seed gives the same search.

    >>> from manyarms import Float, Space, SuccessiveHalving
    >>> search = SuccessiveHalving(Space(x=Float(0, 1)), budget=300, max_steps=27, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, -abs(pull.config["x"] - 0.3) / pull.stop)
    >>> round(search.best().config["x"], 1)
    0.3
    """

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
        ladder = Ladder.of(self.initial, cuts, max_steps, eta)
        super().__init__(Ledger(space, budget, max_steps, seed), [ladder], spares(cuts, max_steps, eta))
