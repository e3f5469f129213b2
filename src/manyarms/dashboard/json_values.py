"""Prepares values from a storage, which may come from someone else, for JSON that any browser can read and show."""

from __future__ import annotations

import json
import math
from typing import Any

from ..safe_text import safe_text

_EXACT = 2**53  # larger whole numbers lose digits in JavaScript
_LONGEST_NAME, _LONGEST_CELL, _LONGEST_REASON, _LONGEST_TEXT = 120, 160, 500, 200_000  # characters


def number(value: Any) -> float | int | None:
    """A finite number; anything else is None.

    >>> number(0.5), number(float("nan")), number("0.5"), number(True)
    (0.5, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:  # a whole number with hundreds of digits
        return None


def name(text: object) -> str:
    """A name on one line, without control characters."""
    return _cut(safe_text(text), _LONGEST_NAME)


def reason(text: object) -> str:
    """The reason for a failure, on one line. Failures with the same reason are grouped."""
    return _cut(safe_text(text), _LONGEST_REASON)


def text(value: object) -> str:
    """Text of several lines, such as a traceback, without control characters."""
    return _cut(safe_text(value, keep="\n\t"), _LONGEST_TEXT)


def cell(value: Any) -> float | int | bool | str | None:
    """A value for a cell of a table: a number, a Boolean, or short text. Lists and dicts become JSON text.

    >>> cell(0.5), cell([1, {"a": None}]), cell(2**60), cell(float("inf"))
    (0.5, '[1, {"a": null}]', '1152921504606846976', 'Infinity')
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        exact = math.isfinite(value) if isinstance(value, float) else abs(value) <= _EXACT
        return value if exact else _cut(json.dumps(value), _LONGEST_CELL)
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return _cut(safe_text(shown[: 2 * _LONGEST_CELL]), _LONGEST_CELL)


def document(value: Any) -> str:
    """A config or another value as indented JSON text."""
    return text(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def _cut(shown: str, longest: int) -> str:
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"
