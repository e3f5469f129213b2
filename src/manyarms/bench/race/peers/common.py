"""What the adapters share: the flat space, the rungs of halving, and the cost of a failed training."""

from __future__ import annotations

from ..charged_problem import ChargedProblem
from ..flat_space import FlatSpace

ETA = 3
"""Reduction factor of halving, which is the default of all peers."""

_UNKNOWN_COST = 1e9  # cost of a failure before anything has succeeded


def flat_space(charged: ChargedProblem) -> FlatSpace:
    """The space of a problem as a flat list. For a table it is the space around its rows; the problem picks the nearest row."""
    space = charged.problem.space
    return FlatSpace(getattr(space, "around", space))


def rungs(max_steps: int) -> list[int]:
    """The numbers of steps after which halving decides: the powers of eta, and a full training.

    >>> rungs(52)
    [1, 3, 9, 27, 52]
    """
    lengths = [1]
    while lengths[-1] * ETA < max_steps:
        lengths.append(lengths[-1] * ETA)
    return lengths if lengths[-1] == max_steps else [*lengths, max_steps]


class Costs:
    """Rewards as costs, for libraries that minimize. A failed training costs as much as the worst successful one so far."""

    def __init__(self) -> None:
        self._worst: float | None = None

    def of(self, reward: float | None) -> float:
        """The cost of a reward; None means that the training failed."""
        if reward is None:
            return _UNKNOWN_COST if self._worst is None else self._worst
        self._worst = -reward if self._worst is None else max(self._worst, -reward)
        return -reward
