"""Restore spaces and parameters from their descriptions."""

from __future__ import annotations

from typing import Any

from .choice import Choice
from .joint import Joint
from .parameters import Constant, Float, Int
from .space import Space


def restore(description: Any) -> Any:
    """The parameter or space with this description, as returned by `describe`.

    >>> restore(Space(x=Float(0, 1)).describe())
    Space(x=Float(0, 1))
    """
    ((kind, content),) = [(k, v) for k, v in description.items() if k not in ("ordered", "first")]
    if kind == "float":
        return Float(*content)
    if kind == "int":
        return Int(*content)
    if kind == "constant":
        return Constant(content)
    if kind == "choice":
        return Choice(list(map(_option, content)), ordered=description["ordered"])
    if kind == "space":
        return Space(**{name: restore(part) for name, part in content.items()}).first(*description.get("first", ()))
    if kind == "joint":
        return Joint({name: restore(part) for name, part in content.items()})
    raise ValueError(f"description must be of a float, int, constant, choice, space or joint, got {kind!r}")


def restorable(description: Any) -> bool:
    """Whether `restore` knows this kind of description. Other spaces may describe themselves in another format.

    >>> restorable({"graph": []})
    False
    """
    if "joint" in description:
        return all(map(restorable, description["joint"].values()))
    return bool(description.keys() & {"float", "int", "constant", "choice", "space"})


def _option(description: Any) -> Any:
    option = restore(description)
    return option.value if isinstance(option, Constant) else option
