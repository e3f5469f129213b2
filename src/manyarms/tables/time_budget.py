"""How the time for a fit is divided between reading the table, the search, and writing the results."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

_LEAST_SEARCH = 0.2  # share of the time for the search, even if reading took long
_WRITING = 0.1  # share of the time for writing the results
_LEAST_WRITING, _MOST_WRITING = 1.5, 20.0  # seconds


@dataclass(frozen=True)
class TimeBudget:
    """The time for everything that a fit does.

    Args:
        seconds: Total time; None for no limit.
        clock: Returns the time in seconds.
        began: When the fit began, by the clock.
    """

    seconds: float | None
    clock: Callable[[], float] = time.monotonic
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def since(cls, began: float | None, seconds: float | None) -> TimeBudget:
        """The time for a fit that began then; now if that is None."""
        return cls(seconds) if began is None else cls(seconds, began=began)

    def left(self) -> float:
        """Seconds that are left; infinite without a limit."""
        return math.inf if self.seconds is None else self.seconds - (self.clock() - self.began)

    def search_seconds(self) -> float | None:
        """The time for the search: what is left, minus the time for writing the results."""
        if self.seconds is None:
            return None
        writing = min(_MOST_WRITING, max(_LEAST_WRITING, _WRITING * self.seconds))
        return max(_LEAST_SEARCH * self.seconds, self.left() - writing)

    def ending_within(self, seconds: float) -> TimeBudget:
        """The same time, but at most this much of it is left.

        >>> TimeBudget(600.0, clock=lambda: 10.0, began=2.0).ending_within(1.0).left()
        1.0
        """
        end = self.clock() - self.began + seconds
        return replace(self, seconds=end if self.seconds is None else min(self.seconds, end))
