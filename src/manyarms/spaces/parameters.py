"""The parameters a space is made of. Each maps its values to coordinates of the unit cube and back."""

from __future__ import annotations

import copy
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .. import checks

MUTATION_SIZE = 0.1
"""How far a mutation moves: the standard deviation of the step, as a share of a parameter's range."""

Coordinates = Sequence[float] | NDArray[np.float64]
"""A stretch of a point of the unit cube."""

_LARGEST_LOG = math.log(sys.float_info.max)


@runtime_checkable
class Parameter(Protocol):
    """One named part of a config."""

    @property
    def dimension(self) -> int:
        """How many coordinates its encoding takes."""

    @property
    def varies(self) -> bool:
        """Whether it has more than one value."""

    def sample(self, rng: np.random.Generator) -> Any:
        """A random value."""

    def mutate(self, value: Any, rng: np.random.Generator, size: float = MUTATION_SIZE) -> Any:
        """A value near this one, and a different one wherever there is one."""

    def crossover(self, a: Any, b: Any, rng: np.random.Generator) -> Any:
        """A value made of two."""

    def contains(self, value: Any) -> bool:
        """Whether this is one of its values."""

    def encode(self, value: Any) -> Coordinates:
        """The value as coordinates in [0, 1]."""

    def decode(self, coordinates: Coordinates) -> Any:
        """The value at these coordinates."""

    def describe(self) -> Any:
        """The parameter as JSON, for `restore`."""


def copy_of(value: Any) -> Any:
    """A value that the caller may change without changing ours."""
    return copy.deepcopy(value) if isinstance(value, (dict, list)) else value


def plain(name: str, value: Any) -> Any:
    """A constant or an option as it comes back from JSON; what would come back as something else is refused."""
    value = value.item() if isinstance(value, np.generic) else value
    try:
        returned = json.loads(json.dumps(value, allow_nan=False))
        same = bool(returned == value)
    except (TypeError, ValueError):
        same = False
    if not same:
        hint = f"; write {list(value)!r}" if isinstance(value, tuple) else ""
        raise TypeError(f"{name} must survive JSON unchanged (text, number, bool, None, list, dict), got {value!r}{hint}")
    return returned  # not the value itself: an IntEnum, say, equals the number that JSON makes of it but is another type


def _reflect(u: float) -> float:
    """Fold the real line into [0, 1], so that mutations near a bound do not pile up on it."""
    u = abs(u) % 2.0
    return 2.0 - u if u > 1.0 else u


def _bounds(low: float, high: float, log: bool) -> None:
    checks.flag("log", log)
    if low > high:
        raise ValueError(f"low must not exceed high, got low={low!r} and high={high!r}")
    if log and low <= 0:
        raise ValueError(f"low must be above 0 with log=True, got {low!r}")


@dataclass(frozen=True)
class Float:
    """A real number in [low, high], uniform or, with `log`, uniform in its logarithm.

    >>> rate = Float(1e-5, 1e-1, log=True)
    >>> round(rate.decode([0.5]), 6)
    0.001
    """

    low: float
    high: float
    log: bool = False
    _base: float = field(init=False, repr=False, compare=False)
    _span: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        low, high = checks.finite("low", self.low), checks.finite("high", self.high)
        _bounds(low, high, self.log)
        base = math.log(low) if self.log else low
        span = (math.log(high) if self.log else high) - base
        if not math.isfinite(span):
            raise ValueError(f"high - low must be finite, got low={low!r} and high={high!r}")
        vars(self).update(low=low, high=high, _base=base, _span=span)

    @property
    def dimension(self) -> int:
        return 1

    @property
    def varies(self) -> bool:
        return self.low < self.high

    def _at(self, u: float) -> float:
        x = self._base + u * self._span
        if self.log:
            x = math.exp(min(x, _LARGEST_LOG))  # rounding can carry x past the logarithm of `high`
        return min(max(x, self.low), self.high)

    def _unit(self, value: float) -> float:
        if self._span == 0.0:
            return 0.5
        u = ((math.log(value) if self.log else value) - self._base) / self._span
        return min(max(u, 0.0), 1.0)

    def sample(self, rng: np.random.Generator) -> float:
        return self._at(rng.random())

    def mutate(self, value: float, rng: np.random.Generator, size: float = MUTATION_SIZE) -> float:
        new = self._at(_reflect(self._unit(value) + size * rng.standard_normal()))
        if new != value:
            return new
        return math.nextafter(value, self.low if value > self.low else self.high)

    def crossover(self, a: float, b: float, rng: np.random.Generator) -> float:
        return a if rng.random() < 0.5 else b

    def contains(self, value: Any) -> bool:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and self.low <= value <= self.high

    def encode(self, value: float) -> list[float]:
        return [self._unit(value)]

    def decode(self, coordinates: Coordinates) -> float:
        return self._at(min(max(float(coordinates[0]), 0.0), 1.0))

    def describe(self) -> Any:
        return {"float": [self.low, self.high, self.log]}


@dataclass(frozen=True)
class Int:
    """A whole number in [low, high], both included, uniform or, with `log`, nearly uniform in its logarithm.

    Each value owns a stretch of the unit interval; its code is the middle of it.

    >>> Int(1, 4).encode(1), Int(1, 4).decode([0.99])
    ([0.125], 4)
    """

    low: int
    high: int
    log: bool = False
    _base: float = field(init=False, repr=False, compare=False)
    _span: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        low, high = checks.whole("low", self.low), checks.whole("high", self.high)
        _bounds(low, high, self.log)
        if max(-low, high) > 2**53:
            raise ValueError(f"low and high must be within 2**53 of 0, got low={low!r} and high={high!r}")
        base = math.log(low - 0.5) if self.log else low
        span = math.log(high + 0.5) - base if self.log else high - low + 1
        vars(self).update(low=low, high=high, _base=base, _span=span)

    @property
    def dimension(self) -> int:
        return 1

    @property
    def varies(self) -> bool:
        return self.low < self.high

    def _at(self, u: float) -> int:
        x = self._base + u * self._span
        x = math.floor(math.exp(x) + 0.5) if self.log else math.floor(x)
        return int(min(max(x, self.low), self.high))

    def _unit(self, value: int) -> float:
        u = ((math.log(value) if self.log else value + 0.5) - self._base) / self._span
        return min(max(u, 0.0), 1.0)

    def sample(self, rng: np.random.Generator) -> int:
        return self._at(rng.random())

    def mutate(self, value: int, rng: np.random.Generator, size: float = MUTATION_SIZE) -> int:
        step = size * rng.standard_normal()
        new = self._at(_reflect(self._unit(value) + step))
        if new != value or not self.varies:
            return new
        near = value + 1 if step > 0 else value - 1  # too short a step for one whole number: take the neighbour
        return near if self.low <= near <= self.high else 2 * value - near

    def crossover(self, a: int, b: int, rng: np.random.Generator) -> int:
        return a if rng.random() < 0.5 else b

    def contains(self, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high

    def encode(self, value: int) -> list[float]:
        return [self._unit(value)]

    def decode(self, coordinates: Coordinates) -> int:
        return self._at(min(max(float(coordinates[0]), 0.0), 1.0))

    def describe(self) -> Any:
        return {"int": [self.low, self.high, self.log]}


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
