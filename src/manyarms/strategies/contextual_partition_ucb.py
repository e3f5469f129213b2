"""ContextualPartitionUCB: PartitionUCB on the cube of contexts and arms. The context is the number of training steps.

Wang, Geng and Rudin, "A Practical Bandit Method with Advantages in Neural Network Tuning", algorithm 2.
"""

from __future__ import annotations

from typing import Any

from .cube.box_sizes import PartitionRule
from .cube.contextual_strategy import ContextualCubeStrategy
from .cube.schedules import Schedule
from .kit.settings import remember_settings


class ContextualPartitionUCB(ContextualCubeStrategy):
    """`PartitionUCB` in which a schedule decides how many steps each new arm is trained for.

    Short training runs are cheap, and show where longer ones are worth their cost. Boxes span steps and configs; only the boxes
    that contain the steps of the round are compared.

    Each round is a new arm, trained from the start in one pull. If the remaining budget does not cover a scheduled training
    run, the run is shortened. If it does not cover a context that the user passes, `ask` returns None.

    Args:
        space: Search space. It must have `encode` and `decode`.
        budget: Total number of steps; None runs until the study stops it.
        max_steps: Maximum number of steps per arm, which is also the largest context.
        schedule: "harmonic" increases to `max_steps` in 30 rounds, and repeats; "hyperband" uses the lengths that Hyperband
            would use. A function is called with the number of the round, from 1, and returns the steps. With None, you pass the
            steps yourself, as in `ask(context=27)`.
        alpha, l, c, s, factor: As in `PartitionUCB`.
        seed: Random seed. The same seed gives the same search.

    >>> from manyarms import ContextualPartitionUCB, Float, Space
    >>> search = ContextualPartitionUCB(Space(x=Float(0, 1)), budget=1000, max_steps=9, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, (1 - abs(pull.config["x"] - 0.3)) * (1 - 0.5**pull.stop))
    >>> round(search.best().config["x"], 1)
    0.3
    """

    @remember_settings
    def __init__(
        self,
        space: Any,
        *,
        budget: int | None = None,
        max_steps: int = 27,
        schedule: str | Schedule | None = "harmonic",
        alpha: float = 1.0,
        l: float = 0.5,  # noqa: E741  the paper's letter
        c: float = 1.0,
        s: float = 0.1,
        factor: float = 0.1,
        seed: int | None = None,
    ) -> None:
        self._rule = PartitionRule(alpha, l, c, s, factor)
        super().__init__(space, budget, max_steps, seed, self._rule.splitter, schedule)

    def _beta(self, steps: int) -> float:
        return self._rule.beta(self._round)
