"""PartitionUCB: a bandit on the unit cube that treats the boxes of an ever finer partition as its arms.

Wang, Geng and Rudin, "A Practical Bandit Method with Advantages in Neural Network Tuning", algorithm 1.
"""

from __future__ import annotations

from typing import Any

from .. import checks
from ..core import Arm, Pull
from .cube.legal import LegalSplits, confidence
from .cube.partition import Floats, Region
from .cube.rounds import Rounds
from .kit.ledger import State
from .kit.representation import strategy_repr
from .kit.settings import remember_settings
from .protocol import Phase


class PartitionUCB:
    """Draw each arm at random from the box with the largest upper bound, mean + factor beta_t / sqrt(n), and train it to the
    end; then split the boxes that are too large for the pulls they hold. Made for rewards that change smoothly.

    beta_t = alpha c + sqrt((1/2 + 2 s^2)(4 ln t + ln 2)) in round t. A box whose longest side exceeds l (t+1)^(-1/(d+2)) +
    alpha / sqrt(n) is cut in half across it, unless its halves would be smaller than the first of these.

    Args:
        space: makes the arms; it must encode.
        budget: steps in all; None goes on until the study stops it.
        max_steps: steps of each arm.
        alpha: how much larger a box with one pull may be than one with many: less splits earlier.
        l: the size of the smallest boxes at the beginning, as a share of the cube's side; they shrink with the rounds.
        c: how much rewards differ at most from one end of a parameter to the other (the Lipschitz constant).
        s: the standard deviation of the rewards' noise.
        factor: of beta_t. The theory has 1; in practice that explores too much.
        seed: of its generator.

    >>> from manyarms import Float, PartitionUCB, Space
    >>> search = PartitionUCB(Space(x=Float(0, 1)), budget=200, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, 1 - abs(pull.config["x"] - 0.3))
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
        max_steps: int = 1,
        alpha: float = 1.0,
        l: float = 0.5,  # noqa: E741  the paper's letter
        c: float = 1.0,
        s: float = 0.1,
        factor: float = 0.1,
        seed: int | None = None,
    ) -> None:
        self.max_steps = max_steps
        self.alpha, self.l = checks.positive("alpha", alpha), checks.positive("l", l)
        self.c, self.s = checks.between("c", c, 0), checks.between("s", s, 0)
        self.factor = checks.between("factor", factor, 0)
        self._rounds = Rounds(space, budget, max_steps, seed)
        self.ledger = self._rounds.ledger
        self._splits = LegalSplits(self._rounds.partition, self.alpha, self.l)

    def ask(self) -> Pull | None:
        if self.ledger.left < self.max_steps:
            return None
        return self._rounds.play(self._beta(), self.max_steps)

    def _beta(self) -> float:
        return self.factor * confidence(self._rounds.number, self.alpha, self.c, self.s)

    def tell(self, pull: Pull, reward: float | None) -> None:
        if self._rounds.settle(pull, reward):
            self._splits.refine(len(self.ledger.arms), self.ledger.rng)

    def best(self) -> Arm:
        """The arm with the largest reward."""
        return self._rounds.best()

    def regions(self) -> list[Region]:
        """The boxes as they are now, with the bounds of the next round."""
        return self._rounds.partition.regions(self._beta())

    def observations(self) -> tuple[Floats, Floats]:
        """Where on the unit cube each arm is, and its reward from 0 to 1: NaN in flight, the worst so far where it failed."""
        return self._rounds.partition.points.all.copy(), self._rounds.partition.values.all.copy()

    def priority(self, arm: int) -> float:
        return self._rounds.priority(arm)

    def plan(self) -> list[Phase]:
        return [self._rounds.whole_trainings()]

    def warning(self) -> str | None:
        return None

    def state(self) -> State:
        return self._rounds.state()

    def load(self, state: State) -> None:
        self._rounds.load(state)
        self._splits.measure()

    __repr__ = strategy_repr
