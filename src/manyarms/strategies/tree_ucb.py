"""TreeUCB: a bandit on the unit cube whose arms are the leaves of a regression tree.

Wang, Geng and Rudin, "A Practical Bandit Method with Advantages in Neural Network Tuning", algorithm 3.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from .. import checks
from .cube.cube_strategy import CubeStrategy
from .cube.regression_tree import RegressionTree
from .kit.settings import remember_settings


def tree_confidence(t: int, v: float) -> float:
    """beta_t in round t: v sqrt(ln t) (section 3.3.1)."""
    return v * math.sqrt(math.log(t))


class TreeUCB(CubeStrategy):
    """Draws each arm from the leaf of a regression tree with the largest upper bound, and splits leaves whose rewards differ.

    Each arm is drawn uniformly from its leaf and fully trained. The upper bound of a leaf with n pulls is
    mean + v sqrt(ln t) / sqrt(n) in round t. A leaf is split while that makes the rewards within it more alike.

    Args:
        space: Makes the arms; it must encode its configs.
        budget: Total number of steps; None runs until the study stops it.
        max_steps: Steps of each arm.
        v: Factor of the bonus in the upper bound.
        min_gain: A leaf is split while this lowers the mean absolute error about its mean by at least so much (eta in the
            paper).
        min_leaf: The fewest rewards a leaf may have. With 1, as in the paper, all bonuses are equal, and the search is greedy:
            often worse than random search.
        min_split: The fewest rewards a leaf must have to be split; 5 `min_leaf` by default. With 2 `min_leaf`, the smallest
            value allowed, all leaves have about the same number of rewards, so that the search is greedy again.
        refit: True grows a new tree from all rewards after each reward, as in the paper; this takes more time the more arms
            there are. "doubling" does so whenever the number of rewards has doubled. False only grows the tree further.
        seed: Random seed. The same seed gives the same search.

    >>> from manyarms import Float, Space, TreeUCB
    >>> search = TreeUCB(Space(x=Float(0, 1)), budget=200, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, 1 - abs(pull.config["x"] - 0.3))
    >>> round(search.best().config["x"], 2)
    0.3
    """

    @remember_settings
    def __init__(
        self,
        space: Any,
        *,
        budget: int | None = None,
        max_steps: int = 1,
        v: float = 0.1,
        min_gain: float = 1e-4,
        min_leaf: int = 3,
        min_split: int | None = None,
        refit: bool | str = False,
        seed: int | None = None,
    ) -> None:
        self.v = checks.between("v", v, 0)
        tree = partial(RegressionTree, min_gain=min_gain, min_leaf=min_leaf, min_split=min_split, refit=refit)
        super().__init__(space, budget, max_steps, seed, tree)

    def _beta(self, steps: int) -> float:
        return tree_confidence(self._round, self.v)
