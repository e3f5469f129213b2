"""How much of a training fits into the time there is, decided by what its beginning cost."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_SAFE = 0.5  # of the time left that all the rest may take, by what was measured, to be trained in one go
_FULL = 0.8  # of the time left that a part of the rest may take
_CELLS = 200_000  # in the first rows that a model is fitted on to see what it costs
_FEWEST_ROWS, _MOST_ROWS = 100, 1_000  # of these
_GROWTH = 4  # times as many rows, at most, the next time
_GUESSED, _STEEPEST = 1.5, 3.0  # powers of the number of rows that the time grows with: unless measured, and at most

Clock = Callable[[], float]
"""Gives the time in seconds, from any start."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The time that a piece of work has.

    Args:
        until: When it must have ended, by the clock.
        clock: Gives the time in seconds.
    """

    until: float = math.inf
    clock: Clock = time.monotonic

    @property
    def is_limited(self) -> bool:
        """Whether there is an end."""
        return self.until < math.inf

    def left(self) -> float:
        """The seconds that are left; negative if it is late."""
        return self.until - self.clock()


UNLIMITED = Pace()


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """The time that pulls have.

    Args:
        pull: Seconds for one pull, beside the preparation of its rows. A pull that takes longer is cut short, and scored.
        until: When all pulls should have ended, by the clock: a pull is cut short to keep it.
        end: When a pull in this process is abandoned.
        clock: Gives the time in seconds. Where pulls run in other processes, one that all of them share.
    """

    pull: float = math.inf
    until: float = math.inf
    end: float = math.inf
    clock: Clock = time.monotonic

    @property
    def is_limited(self) -> bool:
        """Whether there is one."""
        return min(self.pull, self.until) < math.inf

    def stop(self) -> float:
        """When a pull that begins now must have ended."""
        return min(self.clock() + self.pull, self.until)

    def pace(self, stop: float, parts: int) -> Pace:
        """The time of the next of so many equal parts of a pull that must have ended at `stop`."""
        if not self.is_limited:
            return UNLIMITED
        now = self.clock()
        return Pace(now + max(0.0, stop - now) / parts, self.clock)


NO_LIMIT = TimeLimit()


def next_rounds(done: int, due: int, seconds: float, left: float, first: int = 1) -> int:
    """How many rounds of a training come next; 0 ends it.

    First a few, to see what they cost. Then all the rest if they surely fit, else twice as many as so far, or as many as fit.

    Args:
        done: Rounds trained, in this many `seconds`.
        due: Rounds to train in total.
        seconds: What the rounds so far took.
        left: Seconds that are left.
        first: Rounds to begin with.

    >>> next_rounds(0, 100, 0.0, 10.0), next_rounds(1, 100, 0.01, 10.0), next_rounds(1, 100, 1.0, 10.0)
    (1, 99, 1)
    >>> next_rounds(8, 100, 8.0, 3.0), next_rounds(8, 100, 8.0, 0.5)
    (2, 0)
    """
    if done == 0:
        return min(first, due)
    rest, each = due - done, max(seconds / done, 1e-9)
    if rest * each <= _SAFE * left:
        return rest
    return max(0, min(rest, done, int(_FULL * left / each)))


def first_rows(n: int, columns: int) -> int:
    """The rows that a model is fitted on first; all of them where they are few.

    >>> first_rows(1_500, 10), first_rows(100_000, 10), first_rows(100_000, 20_000)
    (1500, 1000, 100)
    """
    some = max(_FEWEST_ROWS, min(_MOST_ROWS, _CELLS // max(columns, 1)))
    return n if n <= 2 * some else some


def next_rows(measured: Sequence[tuple[int, float]], n: int, left: float) -> int:
    """The rows that a model is fitted on next, after smaller fits; 0 if the last one is to be kept.

    Args:
        measured: The rows and the seconds of each fit so far.
        n: The rows to end with.
        left: Seconds that are left.

    >>> next_rows([(1_000, 0.01)], 20_000, left=60.0), next_rows([(1_000, 1.0)], 20_000, left=60.0)
    (20000, 4000)
    >>> next_rows([(1_000, 1.0)], 20_000, left=1.0)
    0
    """
    last = measured[-1][0]
    if last >= n:
        return 0
    if predicted_seconds(measured, n) <= _SAFE * left:
        return n
    more = min(n, _GROWTH * last)
    return more if predicted_seconds(measured, more) <= _FULL * left else 0


def predicted_seconds(measured: Sequence[tuple[int, float]], rows: int) -> float:
    """What a fit on so many rows takes, by what smaller ones took.

    >>> predicted_seconds([(1_000, 1.0), (2_000, 4.0)], 4_000)
    16.0
    """
    last, seconds = measured[-1]
    power = _GUESSED
    if len(measured) > 1 and min(seconds, measured[-2][1]) > 0:
        before, earlier = measured[-2]
        power = min(_STEEPEST, max(1.0, math.log(seconds / earlier) / math.log(last / before)))
    return float(seconds * (rows / last) ** power)
