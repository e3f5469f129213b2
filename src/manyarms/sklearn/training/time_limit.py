"""Time limits of training, and how much of a training fits into the time left."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_SAFE = 0.5  # share of the time left that the predicted rest may take to be trained in one go
_FULL = 0.8  # share of the time left that a part of the rest may take
_CELLS = 200_000  # in the first rows that a model is fitted on, to measure the time
_FEWEST_ROWS, _MOST_ROWS = 100, 1_000  # first rows
_GROWTH = 4  # largest factor between the numbers of rows of successive fits
_GUESSED, _STEEPEST = 1.5, 3.0  # exponents of the time in the number of rows: without a measurement, and at most

Clock = Callable[[], float]
"""Returns the time in seconds, from an arbitrary start."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a piece of work must end.

    Args:
        until: When it must end, by the clock.
        clock: Returns the time in seconds.
    """

    until: float = math.inf
    clock: Clock = time.monotonic

    @property
    def is_limited(self) -> bool:
        """Whether there is a deadline."""
        return self.until < math.inf

    def left(self) -> float:
        """Seconds left; negative after the deadline."""
        return self.until - self.clock()


UNLIMITED = Deadline()


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """The time limit of pulls.

    Args:
        pull: Seconds for one pull, besides preparing its rows. A longer pull is cut short and scored.
        until: When all pulls should end, by the clock. Pulls are cut short to meet it.
        end: When a pull in this process is aborted.
        clock: Returns the time in seconds. If pulls run in other processes, they must share it.
    """

    pull: float = math.inf
    until: float = math.inf
    end: float = math.inf
    clock: Clock = time.monotonic

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return min(self.pull, self.until) < math.inf

    def stop(self, factor: float = 1.0) -> float:
        """When a pull that begins now must end. The factor multiplies its limit."""
        return min(self.clock() + factor * self.pull, self.until)

    def deadline(self, stop: float, parts: int) -> Deadline:
        """The deadline of the next of several equal parts of a pull that must end at `stop`."""
        if not self.is_limited:
            return UNLIMITED
        now = self.clock()
        return Deadline(now + max(0.0, stop - now) / parts, self.clock)


NO_LIMIT = TimeLimit()


def next_rounds(done: int, due: int, seconds: float, left: float, first: int = 1) -> int:
    """How many rounds to train next; 0 to stop.

    The first few measure the time. Then it is all remaining rounds if they certainly fit, else as many as so far or as fit.

    Args:
        done: Number of rounds trained so far.
        due: Total number of rounds.
        seconds: Time of the rounds so far.
        left: Seconds left.
        first: Number of rounds to start with.

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
    """The number of rows of the first fit; all rows if they are few.

    >>> first_rows(1_500, 10), first_rows(100_000, 10), first_rows(100_000, 20_000)
    (1500, 1000, 100)
    """
    some = max(_FEWEST_ROWS, min(_MOST_ROWS, _CELLS // max(columns, 1)))
    return n if n <= 2 * some else some


def next_rows(measured: Sequence[tuple[int, float]], n: int, left: float) -> int:
    """The number of rows of the next fit; 0 to keep the last one.

    Args:
        measured: Number of rows and seconds of each fit so far.
        n: Total number of rows.
        left: Seconds left.

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
    """Predict the time of a fit from the times of smaller fits.

    >>> predicted_seconds([(1_000, 1.0), (2_000, 4.0)], 4_000)
    16.0
    """
    last, seconds = measured[-1]
    power = _GUESSED
    if len(measured) > 1 and min(seconds, measured[-2][1]) > 0:
        before, earlier = measured[-2]
        power = min(_STEEPEST, max(1.0, math.log(seconds / earlier) / math.log(last / before)))
    return float(seconds * (rows / last) ** power)
