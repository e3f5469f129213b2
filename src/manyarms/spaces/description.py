"""Restore spaces and parameters from their descriptions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .choice import Choice
from .joint import Joint
from .parameters import Constant, Float, Int
from .space import Space, written


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
    """Whether `restore` knows this kind of description. Custom spaces may use a different format.

    >>> restorable({"graph": []})
    False
    """
    if "joint" in description:
        return all(map(restorable, description["joint"].values()))
    return bool(description.keys() & {"float", "int", "constant", "choice", "space"})


def differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """How two descriptions of spaces differ, with parameters as they are written in Python.

    Args:
        old: The stored description.
        new: The description of the space that was given.
        path: Path of the part that they describe, such as "model.depth"; empty for the whole space.

    >>> list(differences(Space(x=Float(0, 1), y=3).describe(), Space(x=Float(0, 2)).describe()))
    ["parameter 'x': Float(0, 1) was stored, got Float(0, 2)", "parameter 'y': 3 was stored, got none"]
    """
    before, after = _parts(old), _parts(new)
    if before is None or after is None or old.keys() - {"first"} != new.keys() - {"first"}:
        yield f"{f'parameter {path!r}' if path else 'the space'}: {_written(old)} was stored, got {_written(new)}"
        return
    for name in {**before, **after}:
        place = path + name if name.startswith("[") or not path else f"{path}.{name}"
        if name not in before or name not in after:
            yield f"parameter {place!r}: {_written(before.get(name))} was stored, got {_written(after.get(name))}"
        elif json.dumps(before[name]) != json.dumps(after[name]):
            yield from differences(before[name], after[name], place)
    if before.keys() == after.keys() and list(before) != list(after):
        yield f"the order of the parameters: {', '.join(map(repr, before))} was stored, got {', '.join(map(repr, after))}"
    if old.get("first") != new.get("first"):
        yield f"first: {old.get('first')!r} was stored, got {new.get('first')!r}"


def _parts(description: Any) -> dict[str, Any] | None:
    """The parts of a space by name, or those of a choice among spaces by number; None for any other parameter."""
    if "choice" in description and any("space" in option for option in description["choice"]):
        return {f"[{number}]": option for number, option in enumerate(description["choice"])}
    parts: dict[str, Any] | None = description.get("space", description.get("joint"))
    return parts


def _written(description: Any) -> str:
    return "none" if description is None else written(restore(description))


def _option(description: Any) -> Any:
    option = restore(description)
    return option.value if isinstance(option, Constant) else option
