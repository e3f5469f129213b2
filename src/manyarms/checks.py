"""Argument checks. Each returns the value, or raises an error that names the argument, the rule and the value.

Also finds the name that a user may have meant.
"""

from __future__ import annotations

import inspect
import math
import os
import re
from collections.abc import Callable, Collection, Iterable
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, TypeVar

Called = TypeVar("Called", bound=Callable[..., Any])

_LAZY = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}


def between(name: str, value: float, low: float, high: float = math.inf) -> float:
    """A finite number in [low, high]."""
    number = _number(name, value)
    if not low <= number <= high:  # written this way so that NaN fails too
        raise ValueError(f"{name} must be {_range(low, high)}, got {value!r}")
    return finite(name, value)


def positive(name: str, value: float) -> float:
    """A finite number above 0."""
    number = finite(name, value)
    if number <= 0:
        raise ValueError(f"{name} must be above 0, got {value!r}")
    return number


def finite(name: str, value: float) -> float:
    """A number that is neither NaN nor infinite."""
    number = _number(name, value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return number


def whole(name: str, value: int, low: int | None = None) -> int:
    """An integer that is at least `low`. Neither 3.0 nor True is accepted."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if low is not None and value < low:
        raise ValueError(f"{name} must be at least {low}, got {value!r}")
    return int(value)


def interval(name: str, value: tuple[float, float]) -> tuple[float, float]:
    """Two numbers, the first below the second, whose difference is finite."""
    try:
        low, high = value
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be two numbers, got {value!r}") from None
    if not finite(name, low) < finite(name, high):
        raise ValueError(f"{name} must be two numbers, the first below the second, got {value!r}")
    finite(f"the distance between {name}", float(high) - float(low))
    return low, high


def flag(name: str, value: bool) -> bool:
    """True or False; no other value, such as 1, is accepted."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return value


def one_of(name: str, value: str, options: Collection[str]) -> str:
    """One of the given words."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, got {value!r}")
    return value


def seconds(name: str, value: float | str) -> float:
    """A positive duration: a number of seconds, or a string such as "90s", "10m", "1.5h", "2d"."""
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*(s|m|min|h|d)\s*", value)
        if match is None:
            raise ValueError(f'{name} must be a number of seconds or a string such as "90s", "10m", "8h", "2d", got {value!r}')
        number = finite(name, float(match[1]) * _UNITS[match[2]])
    else:
        number = between(name, value, 0)
    if number == 0:
        raise ValueError(f"{name} must be above 0, got {value!r}")
    return number


def size(name: str, value: int | str) -> int:
    """A positive number of bytes: an integer, or a string such as "500MB" or "5GiB"."""
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?I?B?)\s*", value.upper())
        if match is None or match[2] not in _BYTES:
            raise ValueError(f'{name} must be a number of bytes or a string such as "500MB" or "5GB", got {value!r}')
        value = int(Decimal(match[1]) * _BYTES[match[2]])
    return whole(name, value, 1)


def path(name: str, value: str | os.PathLike[str]) -> str:
    """The path of a file or directory as a string: not blank, and without NUL characters, which no file system allows."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a path, got {value!r}")
    if not text.strip() or "\0" in text:
        raise ValueError(f"{name} must be a path that is not blank and has no NUL characters, got {value!r}")
    return text


def function(name: str, value: Called, *arguments: str) -> Called:
    """A function that can be called with these positional arguments. Built-ins without a signature are not checked.

    Functions with `async def` or `yield` are refused, because calling them runs nothing.
    """
    rule = f"{name} must be callable as {name}({', '.join(arguments)}), got {value!r}"
    if not callable(value):
        raise TypeError(rule)
    if any(is_lazy(called) for called in (value, value.__call__) for is_lazy in _LAZY):  # type: ignore[operator]
        raise TypeError(f"{name} must be a function without async or yield, got {value!r}")
    try:
        signature = inspect.signature(value, follow_wrapped=False)  # the arguments of a wrapper may differ
    except (TypeError, ValueError):
        return value
    try:
        signature.bind(*arguments)
    except TypeError as error:
        raise TypeError(f"{rule}: {error}") from None
    return value


def closest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names that are spelled like this one, ignoring case and surrounding spaces."""
    import difflib  # here: only errors need it

    plain: dict[str, str] = {}
    for other in known:
        plain.setdefault(other.strip().casefold(), other)
    return [plain[key] for key in difflib.get_close_matches(name.strip().casefold(), plain, most, cutoff=0.6)]


def _number(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        return float(value)
    except OverflowError:  # an integer above the largest float
        return math.inf if value > 0 else -math.inf


def _range(low: float, high: float) -> str:
    if high == math.inf:
        return f"at least {low:g}"
    return f"at most {high:g}" if low == -math.inf else f"between {low:g} and {high:g}"
