"""What every peer is told: the space, the rungs, and what a failure counts for where it has no word for it."""

from __future__ import annotations

from ..flat import Flat
from ..track import Track

ETA = 3
"""How many times longer each rung of halving is than the one before; what all peers take by default."""

_NOTHING_SEEN = 1e9  # cost of a failure before anything has succeeded


def flat_space(track: Track) -> Flat:
    """What is searched, as plain parameters: for a table the space around its rows, from which the track snaps."""
    space = track.problem.space
    return Flat(getattr(space, "around", space))


def rungs(max_steps: int) -> list[int]:
    """The lengths of training after which halving decides: the powers of eta, and a full training.

    >>> rungs(52)
    [1, 3, 9, 27, 52]
    """
    lengths = [1]
    while lengths[-1] * ETA < max_steps:
        lengths.append(lengths[-1] * ETA)
    return lengths if lengths[-1] == max_steps else [*lengths, max_steps]


class Costs:
    """Rewards as costs, for peers that minimise. A failure costs as much as the worst success so far."""

    def __init__(self) -> None:
        self._worst: float | None = None

    def of(self, reward: float | None) -> float:
        """The cost of what the track returned."""
        if reward is None:
            return _NOTHING_SEEN if self._worst is None else self._worst
        self._worst = -reward if self._worst is None else max(self._worst, -reward)
        return -reward
