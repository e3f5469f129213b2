"""A conditional space as a flat list of parameters, from which the spaces of other libraries are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...spaces import Choice, Float, Int, Space
from ...spaces.parameters import Constant, copy_of


@dataclass(frozen=True, slots=True)
class Leaf:
    """A parameter: a number, or a choice whose value is the index of an option.

    A number with a step size is an index too, because not every library has step sizes.

    Attributes:
        name: Path of the parameter in the space.
        parameter: Its type and range.
        parent: Choice that the parameter depends on; None if it is always active.
        option: Index of the option of the parent with which it is active.
    """

    name: str
    parameter: Float | Int | Choice
    parent: str | None
    option: int | None


class FlatSpace:
    """The parameters of a space in a list, parents before children. Parameters with a single value are left out.

    >>> flat = FlatSpace(Space(C=Float(0.1, 10), kernel=Choice("linear", Space(name="rbf", gamma=Float(0, 1)))))
    >>> [(leaf.name, leaf.parent, leaf.option) for leaf in flat.leaves]
    [('C', None, None), ('kernel', None, None), ('kernel/1/gamma', 'kernel', 1)]
    >>> flat.config({"C": 1.0, "kernel": 1, "kernel/1/gamma": 0.5})
    {'C': 1.0, 'kernel': {'name': 'rbf', 'gamma': 0.5}}
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self.leaves = [leaf for name, part in space.parameters.items() for leaf in _leaves(part, name, None, None)]

    def config(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The config with these values. Values of inactive parameters are ignored and may be missing."""
        return {name: _value(part, name, values) for name, part in self._space.parameters.items()}


def _leaves(part: Any, path: str, parent: str | None, option: int | None) -> Iterator[Leaf]:
    if isinstance(part, Space):
        for name, inner in part.parameters.items():
            yield from _leaves(inner, f"{path}/{name}", parent, option)
    elif isinstance(part, Choice):
        decides = len(part.options) > 1
        if decides:
            yield Leaf(path, part, parent, option)
        for number, choice in enumerate(part.options):
            above = (path, number) if decides else (parent, option)
            yield from _leaves(choice, f"{path}/{number}", *above)
    elif isinstance(part, (Float, Int)) and part.varies:
        yield Leaf(path, _indices(part) if part.step is not None else part, parent, option)


def _indices(part: Float | Int) -> Int:
    """The indices of the values of a number with a step size."""
    return Int(0, int(part.n_values) - 1)


def _value(part: Any, path: str, values: Mapping[str, Any]) -> Any:
    if isinstance(part, Space):
        return {name: _value(inner, f"{path}/{name}", values) for name, inner in part.parameters.items()}
    if isinstance(part, Choice):
        number = int(values[path]) if len(part.options) > 1 else 0
        return _value(part.options[number], f"{path}/{number}", values)
    if isinstance(part, (Float, Int)):
        if part.step is not None:
            return part.decode(_indices(part).encode(int(values[path]) if part.varies else 0))
        kind = int if isinstance(part, Int) else float
        value = kind(values[path]) if part.varies else part.low
        return min(max(value, part.low), part.high)  # rounding in the other library may exceed the bounds slightly
    return copy_of(part.value if isinstance(part, Constant) else part)
