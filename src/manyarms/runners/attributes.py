"""Values other than numbers that a function returns: stored as JSON, up to a limit."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ..safe_text import storable_text

MAX_BYTES = 10_000
"""Maximum size of the attributes of one pull, in bytes of JSON."""

_LONGEST_NAME = 50  # characters of a name in the note on what was left out
_LONGEST_NOTE = 500


def attributes_of(values: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """As many of the values as fit, as JSON, and a note on those that were left out.

    None counts as no value. Tuples and arrays become lists. NaN and infinities, which JSON does not have, become text. Lone
    surrogates and NUL in text are written as escapes.

    >>> attributes_of({"stage": "warm-up", "rates": (0.1, float("nan")), "log": "x" * 20_000, "model": object()})
    ({'stage': 'warm-up', 'rates': [0.1, 'NaN']}, 'log (more than 10000 bytes in total), model (object is not JSON)')
    """
    kept: dict[str, Any] = {}
    left_out, room = [], MAX_BYTES
    for name, value in values.items():
        if value is None:
            continue
        try:
            item = _storable(json.loads(_json({name: value}, room), parse_constant=str))
            room -= len(_json(item, room))  # escapes may make it longer
            kept |= item
        except _TooLarge:
            left_out.append(f"{name[:_LONGEST_NAME]} (more than {MAX_BYTES} bytes in total)")
        except Exception:  # reading the value may run user code
            left_out.append(f"{name[:_LONGEST_NAME]} ({type(value).__name__} is not JSON)")
    return kept, ", ".join(left_out)[:_LONGEST_NOTE] or None


def _storable(value: Any) -> Any:
    """The JSON value with all text, including names, in a form that can be stored."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {storable_text(name): _storable(item) for name, item in value.items()}
    return value


class _TooLarge(Exception):
    """The text is too long."""


def _json(value: Any, room: int) -> str:
    """The value as JSON text. Stops as soon as it is too long."""
    parts = []
    for part in json.JSONEncoder(default=_listed).iterencode(value):
        room -= len(part)
        if room < 0:
            raise _TooLarge
        parts.append(part)
    return "".join(parts)


def _listed(value: Any) -> Any:
    """JSON for arrays, tensors and their numbers."""
    if not hasattr(value, "tolist"):
        raise TypeError(f"{type(value).__name__} is not JSON")
    if math.prod(getattr(value, "shape", ())) > MAX_BYTES:  # a list would take several times the memory of the array
        raise _TooLarge
    return value.tolist()
