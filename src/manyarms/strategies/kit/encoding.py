"""Spaces that map their configs to the unit cube."""

from __future__ import annotations

from typing import Any

from ... import checks


def dimension_of(space: Any) -> int:
    """Number of coordinates of an encoded config. Raises `TypeError` if the space does not encode its configs."""
    for part in ("encode", "decode", "dimension"):
        if not hasattr(space, part):
            culprit = _without_encoding(space)
            why = f"its parameter {culprit!r} has no encoding" if culprit is not None else f"it has no {part}"
            raise TypeError(
                "space must map its configs to the unit cube, with encode(config), decode(vector) and dimension; "
                f"got {space!r}: {why}"
            )
    return checks.whole("the dimension of space", space.dimension, 0)


def _without_encoding(space: Any) -> str | None:
    """The first parameter that cannot be encoded, if the space shows its parameters."""
    for name, parameter in getattr(space, "parameters", {}).items():
        if not (hasattr(parameter, "encode") and hasattr(parameter, "decode")):
            return str(name)
    return None
