"""How long the arm of each round is trained: the context of the contextual strategies.

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
"""The steps of the arm of round t, counted from 1."""

_RISING = 30  # rounds from the shortest training to the whole one
_WHOLE = 3  # rounds more of whole trainings


def harmonic(t: int, max_steps: int, shortest: int | None = None) -> int:
    """The steps of round t: in 30 rounds from `shortest` to `max_steps`, evenly in 1 / steps; 3 rounds of `max_steps`; again.

    Args:
        t: the round, from 1.
        max_steps: of a whole training; 243 in the paper.
        shortest: of the first; by default the same share as in the paper, which has 30.

    >>> [harmonic(t, 243) for t in (1, 2, 15, 29, 30, 31, 33, 34)]
    [30, 30, 52, 195, 243, 243, 243, 30]
    """
    low = max(1, max_steps * 30 // 243) if shortest is None else shortest
    last = _RISING - 1
    rise = min((t - 1) % (_RISING + _WHOLE), last)
    # floor(1 / (1/low - rise (1/low - 1/max) / 29)) in whole numbers. Trap: in floats the 30th value is 242.
    return last * low * max_steps // (last * max_steps - rise * (max_steps - low))


def hyperband(t: int, max_steps: int, eta: float = 1.5, ratio: int = 15) -> int:
    """The steps of round t in the order in which Hyperband would train, though here each round is a new arm.

    Args:
        t: the round, from 1.
        max_steps: of a whole training; 3000 in the paper.
        eta: from one length to the next.
        ratio: of a whole training to the shortest there may be.

    >>> [hyperband(t, 3000) for t in (1, 12, 13, 20, 21, 25, 26)]
    [263, 263, 395, 395, 592, 592, 888]
    """
    pattern = hyperband_pattern(max_steps, eta, ratio)
    place = (t - 1) % sum(arms for _, arms in pattern)
    for steps, arms in pattern:
        if place < arms:
            return steps
        place -= arms
    raise AssertionError  # the place is within the pattern


@lru_cache(maxsize=64)
def hyperband_pattern(max_steps: int, eta: float = 1.5, ratio: int = 15) -> tuple[tuple[int, int], ...]:
    """Table 3 of the paper: for each rung of each bracket its steps and its arms.

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
    """Which context each round has, and where on the unit interval it is.

    Args:
        schedule: "harmonic", "hyperband", a function of the round, or None: the user gives it with each ask.
        max_steps: the largest context.
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
        """The steps of round t where so many are left; None if the user's do not fit. A schedule's are cut to fit."""
        if self._schedule is None:
            if context is None:
                raise ValueError("context must be given, as in ask(context=27): with schedule=None the user chooses the steps")
            steps = self.checked("context", context)
            return steps if steps <= left else None
        if context is not None:
            raise ValueError(f"context must be left to the schedule, {self._schedule!r}, or schedule be None; got {context!r}")
        if isinstance(self._schedule, str):
            steps = _NAMED[self._schedule](t, self._max_steps)
        else:
            steps = self.checked(f"schedule({t})", self._schedule(t))
        return int(min(steps, left)) or None

    def checked(self, name: str, steps: Any) -> int:
        """The steps, if they are a context."""
        whole = isinstance(steps, Integral) and not isinstance(steps, bool)
        if not whole or not 1 <= steps <= self._max_steps:
            raise ValueError(f"{name} must be a whole number of steps between 1 and {self._max_steps}, got {steps!r}")
        return int(steps)

    def code(self, steps: int) -> float:
        """The context on the unit interval, as an `Int` would be: the middle of the stretch that it owns."""
        return (steps - 0.5) / self._max_steps
