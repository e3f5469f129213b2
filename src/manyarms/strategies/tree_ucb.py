"""TreeUCB: a bandit on the unit cube that treats the leaves of a regression tree as its arms.

Wang, Geng and Rudin, "A Practical Bandit Method with Advantages in Neural Network Tuning", algorithm 3.
"""

from __future__ import annotations

import math
from typing import Any

from .. import checks
from ..core import Arm, Pull
from .cube.partition import Floats, Region
from .cube.regression_tree import RegressionTree
from .cube.rounds import Rounds
from .kit.ledger import State
from .kit.representation import strategy_repr
from .kit.settings import remember_settings
from .protocol import Phase


def tree_confidence(t: int, v: float) -> float:
    """beta_t in round t: v sqrt(ln t) (section 3.3.1)."""
    return v * math.sqrt(math.log(t))


class TreeUCB:
    """Draw each arm at random from the leaf of a regression tree with the largest upper bound, mean + v sqrt(ln t) / sqrt(n),
    and train it to the end; then split its leaf while that makes the rewards in it more alike.

    Args:
        space: makes the arms; it must encode.
        budget: steps in all; None goes on until the study stops it.
        max_steps: steps of each arm.
        v: how much the bound is above the mean.
        eta: a leaf is split while this lowers the mean absolute error about its mean by so much.
        min_leaf: the fewest rewards a leaf may have. With 1, as in the paper, all bounds are equally far above the means, and
            the search is greedy: often worse than random.
        min_split: the fewest rewards a leaf must have to be split; by default 5 `min_leaf`. With 2 `min_leaf`, the least,
            leaves are split as soon as they can: all hold about as many, so that their bounds are about as far above the means,
            and the search is greedy again.
        refit: grow another tree from all rewards after each, as the paper says, instead of growing on the one there is; the
            time that takes grows with the arms. "doubling" does so whenever there are twice as many rewards.
        seed: of its generator.

    >>> from manyarms import Float, Space, TreeUCB
    >>> search = TreeUCB(Space(x=Float(0, 1)), budget=200, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, 1 - abs(pull.config["x"] - 0.3))
    >>> round(search.best().config["x"], 2)
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
        v: float = 0.1,
        eta: float = 1e-4,
        min_leaf: int = 3,
        min_split: int | None = None,
        refit: bool | str = False,
        seed: int | None = None,
    ) -> None:
        self.v = checks.between("v", v, 0)
        self._rounds = Rounds(space, budget, max_steps, seed)
        self.ledger, self.max_steps = self._rounds.ledger, max_steps
        self._tree = RegressionTree(self._rounds.partition, eta, min_leaf, min_split, refit)

    def ask(self) -> Pull | None:
        if self.ledger.left < self.max_steps:
            return None
        return self._rounds.play(tree_confidence(self._rounds.number, self.v), self.max_steps)

    def tell(self, pull: Pull, reward: float | None) -> None:
        if self._rounds.settle(pull, reward):
            self._tree.learn(pull.arm.id, self.ledger.rng)

    def best(self) -> Arm:
        """The arm with the largest reward."""
        return self._rounds.best()

    def regions(self) -> list[Region]:
        """The leaves as they are now, with the bounds of the next round."""
        return self._rounds.partition.regions(tree_confidence(self._rounds.number, self.v))

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
        return {**self._rounds.state(), **self._tree.state()}

    def load(self, state: State) -> None:
        self._rounds.load(state)
        self._tree.load(state)

    __repr__ = strategy_repr
