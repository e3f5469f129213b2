"""Decides how many pulls each worker gets at once, from how long pulls take."""

from __future__ import annotations

import math

_SHORT = 0.5  # seconds: the time to ask for a pull and send it matters for shorter pulls
_WEIGHT = 0.2  # of the newest pull in the typical length


class Pace:
    """The typical length of a pull. If pulls are short, a worker gets its next pull before it has finished the last one.

    Otherwise it would wait for the next pull about as long as it trains: a message to a cluster takes several milliseconds. The
    decision about that pull then does not use the reward of the last one yet.

    >>> pace = Pace()
    >>> pace.depth
    1
    >>> pace.note(0.05)
    >>> pace.depth
    2
    """

    def __init__(self) -> None:
        self._typical = math.inf

    def note(self, seconds: float) -> None:
        """Note how long a pull took."""
        self._typical = seconds if self._typical == math.inf else (1 - _WEIGHT) * self._typical + _WEIGHT * seconds

    @property
    def depth(self) -> int:
        """Number of pulls for each slot of a worker: one that runs, and one that waits if pulls are short."""
        return 2 if self._typical < _SHORT else 1


def in_flight(slots: int, limit: int | None, depth: int) -> int:
    """Number of pulls that can be in flight, at least 1.

    Args:
        slots: Number of pulls that the cluster runs at once.
        limit: Maximum number of pulls that may run at once; None means no limit.
        depth: Number of pulls for each slot.

    >>> in_flight(slots=4, limit=None, depth=2)
    8
    >>> in_flight(slots=4, limit=2, depth=2)  # not 4, because all of them would run
    2
    """
    if limit is not None and limit < slots:
        return limit
    return max(1, limit or 0, slots * depth)
