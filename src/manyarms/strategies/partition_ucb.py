"""PartitionUCB: a bandit on the unit cube whose arms are the boxes of an ever finer partition.

Wang, Geng and Rudin, "A Practical Bandit Method with Advantages in Neural Network Tuning", algorithm 1.
"""

from __future__ import annotations

from typing import Any

from .cube.box_sizes import PartitionRule
from .cube.cube_strategy import CubeStrategy
from .kit.settings import remember_settings


class PartitionUCB(CubeStrategy):
    """Draws each arm from the box with the largest upper bound, and splits boxes that are too large for their number of pulls.

    It is meant for rewards that change smoothly with the config. Each arm is drawn uniformly from its box and fully trained.
    The upper bound of a box with n pulls is mean + factor beta_t / sqrt(n), where beta_t = alpha c + sqrt((1/2 + 2 s^2)(4 ln t
    + ln 2)) in round t. A box is halved across its longest side if that side exceeds l (t+1)^(-1/(d+2)) + alpha / sqrt(n),
    unless the halves would be smaller than the first term.

    Args:
        space: Search space. It must have `encode` and `decode`.
        budget: Total number of steps; None runs until the study stops it.
        max_steps: Steps of each arm.
        alpha: How much larger a box with one pull may be than a box with many pulls. Smaller values split earlier.
        l: Size of the smallest boxes at the start, as a share of the cube's side. It decreases with the number of rounds.
        c: Lipschitz constant: the largest difference in reward between the two ends of a parameter's range.
        s: Standard deviation of the noise in the rewards.
        factor: Factor of beta_t. The theory uses 1, which explores too much in practice.
        seed: Random seed. The same seed gives the same search.

    >>> from manyarms import Float, PartitionUCB, Space
    >>> search = PartitionUCB(Space(x=Float(0, 1)), budget=200, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, 1 - abs(pull.config["x"] - 0.3))
    >>> round(search.best().config["x"], 1)
    0.3
    """

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
        self._rule = PartitionRule(alpha, l, c, s, factor)
        super().__init__(space, budget, max_steps, seed, self._rule.splitter)

    def _beta(self, steps: int) -> float:
        return self._rule.beta(self._round)
