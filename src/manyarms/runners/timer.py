"""Measures how long a pull has run, and decides when to end it."""

from __future__ import annotations

import math
from collections.abc import Callable


class Timer:
    """Measures one pull from its start.

    Args:
        clock: Returns the time in seconds, from any start.
        limit: Seconds after which the pull should end at its next report.
        kill_after: Seconds after which the runner ends the pull, so that it fails.
    """

    def __init__(self, clock: Callable[[], float], limit: float = math.inf, kill_after: float = math.inf) -> None:
        self._clock, self._limit, self._kill_after = clock, limit, kill_after
        self._began = clock()
        self._marked = self._longest = 0.0

    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._began

    def left(self) -> float:
        """Seconds until the pull should end, at least 0; infinity if there is no limit."""
        return max(0.0, min(self._limit, self._kill_after) - self.elapsed())

    def mark(self) -> float:
        """Measure the time to the next report from now. Returns the seconds since the last mark."""
        before, self._marked = self._marked, self.elapsed()
        return self._marked - before

    def is_last_report(self) -> bool:
        """Whether the pull ends at this report. Call it once for each report."""
        self._longest = max(self._longest, self.mark())
        return should_stop(self._marked, self._longest, self._limit, self._kill_after)


def should_stop(now: float, between: float, limit: float, kill_after: float) -> bool:
    """Whether the time is up, or the next report would come too late.

    Args:
        now: Seconds since the start of the pull.
        between: The longest time between two reports so far.
        limit: When the pull should end.
        kill_after: When the runner ends it, and its state is lost.

    >>> should_stop(now=50, between=20, limit=60, kill_after=math.inf)
    False
    >>> should_stop(now=50, between=20, limit=math.inf, kill_after=60)
    True
    """
    return now >= limit or now + between >= kill_after
