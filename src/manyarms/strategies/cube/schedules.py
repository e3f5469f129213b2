"""How many steps the arm of each round is trained: the context of the contextual strategies.

Wang, Geng and Rudin, "A Practical Bandit Method with Advantages in Neural Network Tuning", sections 3.3.1 and 3.4.1.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from numbers import Integral
from typing import Any

from ... import checks

Schedule = Callable[[int], int]
"""Returns the steps of the arm of round t, counted from 1."""

_INCREASING = 30  # rounds from the shortest training to a full one
_FULL = 3  # more rounds of full trainings


def harmonic(t: int, max_steps: int, shortest: int | None = None) -> int:
    """The steps of round t: 30 rounds from `shortest` to `max_steps`, evenly in 1 / steps, then 3 of `max_steps`, repeated.

    Args:
        t: The round, from 1.
        max_steps: Steps of a full training; 243 in the paper.
        shortest: Steps of the first round. By default the same share as in the paper, which uses 30.

    >>> [harmonic(t, 243) for t in (1, 2, 15, 29, 30, 31, 33, 34)]
    [30, 30, 52, 195, 243, 243, 243, 30]
    """
    low = max(1, max_steps * 30 // 243) if shortest is None else shortest
    last = _INCREASING - 1
    rise = min((t - 1) % (_INCREASING + _FULL), last)
    # floor(1 / (1/low - rise (1/low - 1/max) / 29)) in integers. In floats the 30th value would be 242.
    return last * low * max_steps // (last * max_steps - rise * (max_steps - low))


def hyperband(t: int, max_steps: int, eta: float = 1.5, ratio: int = 15) -> int:
    """The steps of round t, in the order in which Hyperband trains. Unlike there, each round is a new arm.

    Args:
        t: The round, from 1.
        max_steps: Steps of a full training; 3000 in the paper.
        eta: Ratio of consecutive lengths, as in `Hyperband`.
        ratio: Ratio of a full training to the shortest one allowed.

    >>> [hyperband(t, 3000) for t in (1, 12, 13, 20, 21, 25, 26)]
    [263, 263, 395, 395, 592, 592, 888]
    """
    pattern = hyperband_pattern(max_steps, eta, ratio)
    place = (t - 1) % sum(arms for _, arms in pattern)
    for steps, arms in pattern:
        if place < arms:
            return steps
        place -= arms
    raise AssertionError  # not reached: the place is within the pattern


@lru_cache(maxsize=64)
def hyperband_pattern(max_steps: int, eta: float = 1.5, ratio: int = 15) -> tuple[tuple[int, int], ...]:
    """Table 3 of the paper: the steps and the number of arms for each rung of each bracket.

    >>> hyperband_pattern(3000)[:7]
    ((263, 12), (395, 8), (592, 5), (888, 3), (1333, 2), (2000, 1), (3000, 1))
    """
    growth, brackets = Fraction(eta), 0
    while growth ** (brackets + 1) <= min(ratio, max_steps):
        brackets += 1
    rows = []
    for s in range(brackets, -1, -1):
        first = -int(-((brackets + 1) // (s + 1) * growth**s) // 1)  # rounded up
        rows += [(max(1, int(max_steps / growth ** (s - i))), int(first / growth**i)) for i in range(s + 1)]
    return tuple(rows)


_NAMED: dict[str, Callable[[int, int], int]] = {"harmonic": harmonic, "hyperband": hyperband}


class Contexts:
    """The context of each round, and its point in the unit interval.

    Args:
        schedule: "harmonic", "hyperband", a function of the round, or None if the user passes the context to each ask.
        max_steps: The largest context.
    """

    def __init__(self, schedule: str | Schedule | None, max_steps: int) -> None:
        if isinstance(schedule, str):
            checks.one_of("schedule", schedule, _NAMED)
        elif schedule is not None and not callable(schedule):
            raise TypeError(f"schedule must be 'harmonic', 'hyperband', a function of the round or None, got {schedule!r}")
        elif schedule is not None:
            checks.function("schedule", schedule, "t")
        self._schedule = schedule
        self._max_steps = max_steps

    def steps(self, t: int, context: int | None, left: float) -> int | None:
        """The steps of round t. A schedule is cut to the steps that are left; if the user's context does not fit, None."""
        if self._schedule is None:
            if context is None:
                raise ValueError("context must be given, as in ask(context=27), because schedule is None")
            steps = self.checked("context", context)
            return steps if steps <= left else None
        if context is not None:
            raise ValueError(
                f"context must not be given unless schedule is None; schedule is {self._schedule!r}, got {context!r}"
            )
        if isinstance(self._schedule, str):
            steps = _NAMED[self._schedule](t, self._max_steps)
        else:
            steps = self.checked(f"schedule({t})", self._schedule(t))
        return int(min(steps, left)) or None

    def checked(self, name: str, steps: Any) -> int:
        """The steps, if they are a valid context."""
        whole = isinstance(steps, Integral) and not isinstance(steps, bool)
        if not whole or not 1 <= steps <= self._max_steps:
            raise ValueError(f"{name} must be a whole number of steps between 1 and {self._max_steps}, got {steps!r}")
        return int(steps)

    def code(self, steps: int) -> float:
        """The point of a context in the unit interval, encoded as an `Int`: the middle of its part of the interval."""
        return (steps - 0.5) / self._max_steps
