"""The parameters of a space. Each maps its values to coordinates of the unit cube and back."""

from __future__ import annotations

import copy
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .. import checks

MUTATION_SIZE = 0.1
"""The standard deviation of a mutation, as a share of the range of a parameter."""

Coordinates = Sequence[float] | NDArray[np.float64]
"""Consecutive coordinates of a point in the unit cube."""

_LARGEST_LOG = math.log(sys.float_info.max)
_ON_STEP = 1e-8  # how far a number may be from an allowed value and still count as that value, as a share of the step
_FINEST = 1e-12  # the smallest step, as a share of the larger bound: below it, rounding would confuse values


@runtime_checkable
class Parameter(Protocol):
    """A parameter of a config."""

    @property
    def dimension(self) -> int:
        """Number of coordinates of its encoding."""

    @property
    def varies(self) -> bool:
        """Whether the parameter has more than one value."""

    def sample(self, rng: np.random.Generator) -> Any:
        """A random value."""

    def mutate(self, value: Any, rng: np.random.Generator, size: float = MUTATION_SIZE) -> Any:
        """A different value near this one; the same value if there is no other."""

    def crossover(self, a: Any, b: Any, rng: np.random.Generator) -> Any:
        """A value made from two others."""

    def contains(self, value: Any) -> bool:
        """Whether this is one of its values."""

    def encode(self, value: Any) -> Coordinates:
        """The value as coordinates in [0, 1]."""

    def decode(self, coordinates: Coordinates) -> Any:
        """The value at these coordinates."""

    def describe(self) -> Any:
        """The parameter as JSON, for `restore`."""


def copy_of(value: Any) -> Any:
    """A copy of a value, so that the caller may change it."""
    return copy.deepcopy(value) if isinstance(value, (dict, list)) else value


def plain(name: str, value: Any) -> Any:
    """The value of a constant or option after a round trip through JSON, which must not change it."""
    value = value.item() if isinstance(value, np.generic) else value
    try:
        returned = json.loads(json.dumps(value, allow_nan=False))
        same = bool(returned == value)
    except (TypeError, ValueError):
        same = False
    if not same:
        hint = f"; write {list(value)!r}" if isinstance(value, tuple) else ""
        raise TypeError(f"{name} must survive JSON unchanged (string, number, bool, None, list, dict), got {value!r}{hint}")
    return (
        returned  # not the value itself: an IntEnum, for example, equals the number that JSON makes of it, but differs in type
    )


def _reflect(u: float) -> float:
    """Reflect a number into [0, 1], so that mutations near a bound do not accumulate there."""
    u = abs(u) % 2.0
    return 2.0 - u if u > 1.0 else u


def _bounds(low: float, high: float, log: bool) -> None:
    checks.flag("log", log)
    if low > high:
        raise ValueError(f"low must not exceed high, got low={low!r} and high={high!r}")
    if log and low <= 0:
        raise ValueError(f"low must be above 0 with log=True, got {low!r}")


def _no_log(step: float, log: bool) -> None:
    if log:
        raise ValueError(f"step must be None with log=True, got {step!r}; use a Choice of the values instead")


def _written(kind: str, low: float, high: float, log: bool, step: float | None) -> str:
    """A number parameter as the user writes it."""
    parts = [_short(low), _short(high)] + ["log=True"] * log + ([] if step is None else [f"step={_short(step)}"])
    return f"{kind}({', '.join(parts)})"


def _short(number: float) -> str:
    """1 instead of 1.0."""
    return repr(int(number)) if abs(number) < 1e16 and number == int(number) else repr(number)


@dataclass(frozen=True, repr=False)
class Float:
    """A real number in [low, high], uniform or, with `log`, uniform in its logarithm.

    Args:
        low: The smallest value.
        high: The largest value.
        log: Draw the logarithm uniformly.
        step: Distance between values: low, low + step, low + 2 * step, and so on. If the last of these is below `high`, it is
            replaced by `high`. Cannot be combined with `log`.

    >>> rate = Float(1e-5, 1e-1, log=True)
    >>> round(rate.decode([0.5]), 6)
    0.001
    >>> dropout = Float(0, 1, step=0.3)
    >>> dropout, [dropout.decode([u]) for u in (0, 0.3, 0.6, 1)]
    (Float(0, 0.9, step=0.3), [0.0, 0.3, 0.6, 0.9])
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None
    _base: float = field(init=False, compare=False)
    _span: float = field(init=False, compare=False)
    _places: Int | None = field(init=False, compare=False, default=None)  # with a step: the number of each value, from 0
    _exact: tuple[int, int, int] = field(init=False, compare=False, default=(0, 1, 1))  # low and step, in parts of 1 / the last

    def __post_init__(self) -> None:
        low, high = checks.finite("low", self.low), checks.finite("high", self.high)
        _bounds(low, high, self.log)
        if self.step is not None:
            high = self._count_steps(low, high, checks.positive("step", self.step))
        base = math.log(low) if self.log else low
        span = (math.log(high) if self.log else high) - base
        if not math.isfinite(span):
            raise ValueError(f"high - low must be finite, got low={low!r} and high={high!r}")
        vars(self).update(low=low, high=high, _base=base, _span=span)

    def _count_steps(self, low: float, high: float, step: float) -> float:
        """Number the values from 0, and return the last one."""
        _no_log(step, self.log)
        if step < _FINEST * max(abs(low), abs(high)):
            raise ValueError(f"step must be at least {_FINEST:g} of the larger bound, got {step!r}")
        first, stride = Fraction(repr(low)), Fraction(repr(step))  # as written: 0.1 is one tenth
        last = math.floor((Fraction(repr(high)) - first) / stride + Fraction(_ON_STEP))
        following = first + (last + 1) * stride
        last += following <= sys.float_info.max and float(following) <= high  # a large `high` may be rounded by more than that
        parts = math.lcm(first.denominator, stride.denominator)
        vars(self).update(step=step, _places=Int(0, last), _exact=(int(first * parts), int(stride * parts), parts))
        return self._value(last)

    def _value(self, place: int) -> float:
        """The value with this number. The third step of 0.1 is 0.3, not 0.30000000000000004."""
        first, stride, parts = self._exact
        return (first + place * stride) / parts  # integers, so that only the result is rounded

    def _place(self, value: float) -> int:
        """The number of the value nearest to this one."""
        assert self.step is not None and self._places is not None
        return min(max(round((value - self.low) / self.step), 0), self._places.high)

    @property
    def n_values(self) -> float:
        """Number of values; infinite without a step."""
        if self._places is not None:
            return self._places.n_values
        return math.inf if self.varies else 1

    def around(self, value: float) -> list[float]:
        """With a step, the value and its neighbors in ascending order; without one, the value."""
        return [value] if self._places is None else [self._value(near) for near in self._places.around(self._place(value))]

    @property
    def dimension(self) -> int:
        return 1

    @property
    def varies(self) -> bool:
        return self.low < self.high

    def _at(self, u: float) -> float:
        if self._places is not None:
            return self._value(self._places._at(u))
        x = self._base + u * self._span
        if self.log:
            x = math.exp(min(x, _LARGEST_LOG))  # rounding can carry x past the logarithm of `high`
        return min(max(x, self.low), self.high)

    def _unit(self, value: float) -> float:
        if self._places is not None:
            return self._places._unit(self._place(value))
        if self._span == 0.0:
            return 0.5
        u = ((math.log(value) if self.log else value) - self._base) / self._span
        return min(max(u, 0.0), 1.0)

    def sample(self, rng: np.random.Generator) -> float:
        return self._at(rng.random())

    def mutate(self, value: float, rng: np.random.Generator, size: float = MUTATION_SIZE) -> float:
        if self._places is not None:
            return self._value(self._places.mutate(self._place(value), rng, size))
        new = self._at(_reflect(self._unit(value) + size * rng.standard_normal()))
        if new != value:
            return new
        return math.nextafter(value, self.low if value > self.low else self.high)

    def crossover(self, a: float, b: float, rng: np.random.Generator) -> float:
        return a if rng.random() < 0.5 else b

    def contains(self, value: Any) -> bool:
        slack = 0.0 if self.step is None else _ON_STEP * self.step
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return False
        if not self.low - slack <= value <= self.high + slack:
            return False
        return self.step is None or abs(value - self._value(self._place(value))) <= slack

    def encode(self, value: float) -> list[float]:
        return [self._unit(value)]

    def decode(self, coordinates: Coordinates) -> float:
        return self._at(min(max(float(coordinates[0]), 0.0), 1.0))

    def describe(self) -> Any:
        return {"float": [self.low, self.high, self.log] + ([] if self.step is None else [self.step])}

    def __repr__(self) -> str:
        return _written("Float", self.low, self.high, self.log, self.step)


@dataclass(frozen=True, repr=False)
class Int:
    """A whole number in [low, high], both included, uniform or, with `log`, nearly uniform in its logarithm.

    Each value gets a part of the unit interval, and is encoded as the midpoint of that part.

    Args:
        low: The smallest value.
        high: The largest value.
        log: Draw the logarithm nearly uniformly.
        step: Distance between values: low, low + step, low + 2 * step, and so on. If the last of these is below `high`, it is
            replaced by `high`. Cannot be combined with `log`. 1 is the same as None.

    >>> Int(1, 4).encode(1), Int(1, 4).decode([0.99])
    ([0.125], 4)
    >>> Int(8, 60, step=8), Int(8, 60, step=8).decode([0.5])
    (Int(8, 56, step=8), 32)
    """

    low: int
    high: int
    log: bool = False
    step: int | None = None
    _base: float = field(init=False, compare=False)
    _span: float = field(init=False, compare=False)

    def __post_init__(self) -> None:
        low, high = checks.whole("low", self.low), checks.whole("high", self.high)
        _bounds(low, high, self.log)
        if max(-low, high) > 2**53:
            raise ValueError(f"low and high must be within 2**53 of 0, got low={low!r} and high={high!r}")
        step = None if self.step is None or checks.whole("step", self.step, 1) == 1 else int(self.step)
        if step is not None:
            _no_log(step, self.log)
            high -= (high - low) % step
        base = math.log(low - 0.5) if self.log else low
        span = math.log(high + 0.5) - base if self.log else high - low + 1
        vars(self).update(low=low, high=high, step=step, _base=base, _span=span)

    @property
    def dimension(self) -> int:
        return 1

    @property
    def varies(self) -> bool:
        return self.low < self.high

    @property
    def n_values(self) -> int:
        """Number of values."""
        return (self.high - self.low) // (self.step or 1) + 1

    def around(self, value: int) -> list[int]:
        """The value and its neighbors, in ascending order."""
        step = self.step or 1
        return [near for near in (value - step, value, value + step) if self.low <= near <= self.high]

    def _at(self, u: float) -> int:
        if self.step is not None:
            return min(self.low + math.floor(u * self.n_values) * self.step, self.high)
        x = self._base + u * self._span
        x = math.floor(math.exp(x) + 0.5) if self.log else math.floor(x)
        return int(min(max(x, self.low), self.high))

    def _unit(self, value: int) -> float:
        if self.step is not None:
            return ((value - self.low) / self.step + 0.5) / self.n_values
        u = ((math.log(value) if self.log else value + 0.5) - self._base) / self._span
        return min(max(u, 0.0), 1.0)

    def sample(self, rng: np.random.Generator) -> int:
        return self._at(rng.random())

    def mutate(self, value: int, rng: np.random.Generator, size: float = MUTATION_SIZE) -> int:
        move = size * rng.standard_normal()
        new = self._at(_reflect(self._unit(value) + move))
        if new != value or not self.varies:
            return new
        near = value + (1 if move > 0 else -1) * (
            self.step or 1
        )  # the move was too short to reach another number, so take the neighbor
        return near if self.low <= near <= self.high else 2 * value - near

    def crossover(self, a: int, b: int, rng: np.random.Generator) -> int:
        return a if rng.random() < 0.5 else b

    def contains(self, value: Any) -> bool:
        if not isinstance(value, int) or isinstance(value, bool):
            return False
        return self.low <= value <= self.high and (value - self.low) % (self.step or 1) == 0

    def encode(self, value: int) -> list[float]:
        return [self._unit(value)]

    def decode(self, coordinates: Coordinates) -> int:
        return self._at(min(max(float(coordinates[0]), 0.0), 1.0))

    def describe(self) -> Any:
        return {"int": [self.low, self.high, self.log] + ([] if self.step is None else [self.step])}

    def __repr__(self) -> str:
        return _written("Int", self.low, self.high, self.log, self.step)


@dataclass(frozen=True)
class Constant:
    """A value that every config has."""

    value: Any

    def __post_init__(self) -> None:
        vars(self).update(value=plain("a constant", self.value))

    @property
    def dimension(self) -> int:
        return 0

    @property
    def varies(self) -> bool:
        return False

    def sample(self, rng: np.random.Generator) -> Any:
        return copy_of(self.value)

    def mutate(self, value: Any, rng: np.random.Generator, size: float = MUTATION_SIZE) -> Any:
        return copy_of(self.value)

    def crossover(self, a: Any, b: Any, rng: np.random.Generator) -> Any:
        return copy_of(self.value)

    def contains(self, value: Any) -> bool:
        return bool(type(value) is type(self.value) and value == self.value)

    def encode(self, value: Any) -> list[float]:
        return []

    def decode(self, coordinates: Coordinates) -> Any:
        return copy_of(self.value)

    def describe(self) -> Any:
        return {"constant": self.value}
