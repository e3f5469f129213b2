"""What a layer type is: a name, hyper-parameters, shapes and costs, and the module it stands for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar

from ... import checks
from ...spaces import Choice, Constant, Float, Int, Space
from ...spaces.parameters import Parameter
from .blueprint import Blueprint

Shape = tuple[int, ...]
"""Of one example: channels, then the extents: none of a vector, the length of a sequence, height and width of an image."""

Settings = Mapping[str, Any]
"""The hyper-parameters of one layer: a config of its type's space."""

EVERY = (0, 1, 2)
"""The dimensions of layers that take vectors, sequences and images."""

Rule = Callable[[str, Any], Any]
"""Given the name of a hyper-parameter and a value, it refuses the value if it is none that the layer can have."""

SIZE: Rule = functools.partial(checks.whole, low=1)
"""A whole number, at least 1."""


def is_shape(value: object, n_sizes: int) -> bool:
    """Whether it is a tuple of so many whole sizes, each at least 1."""
    if not isinstance(value, tuple) or len(value) != n_sizes:
        return False
    for size in value:  # noqa: SIM110  # every mutation comes here, and a generator takes twice as long
        if type(size) is not int or size < 1:
            return False
    return True


class Layer:
    """A type of layer. A new one is a subclass with a name and a `blueprint`; what it does not say is taken from here.

    Attributes:
        name: in configs, a Python name.
        dimensions: how many extents its inputs may have: 0 vectors, 1 sequences, 2 images.
        space: makes and mutates its hyper-parameters.
        rules: what the values of some of them must be, by name, whatever the space.

    Args:
        space: in place of the class's own, with the same names, for other ranges.

    >>> class Softsign(Layer):
    ...     name = "softsign"
    ...     def blueprint(self, shape, settings):
    ...         return Blueprint("Softsign")
    >>> Softsign().output_shape((16, 8, 8), {}), str(Softsign().blueprint((16, 8, 8), {}))
    ((16, 8, 8), 'nn.Softsign()')
    """

    name: str = ""
    dimensions: Collection[int] = EVERY
    space: Space = Space()
    rules: ClassVar[Mapping[str, Rule]] = {}

    def __init__(self, space: Space | None = None) -> None:
        if space is not None:
            self.space = _like(self.name, space, type(self).space)
        for name, parameter in self.space.parameters.items():
            for value in values_of(parameter) if name in self.rules else ():
                self.rules[name](f"{name} of layer {self.name!r}", value)

    def output_shape(self, shape: Shape, settings: Settings) -> Shape:
        """What becomes of an input of this shape: as many sizes, each at least 1."""
        return shape

    def n_parameters(self, shape: Shape, settings: Settings) -> int:
        """How many numbers it learns."""
        return 0

    def n_flops(self, shape: Shape, settings: Settings) -> int:
        """Multiplications and additions of its convolutions and matrix products, for one example."""
        return 0

    def blueprint(self, shape: Shape, settings: Settings) -> Blueprint:
        """The module for inputs of this shape, which has rows before the channels."""
        raise NotImplementedError(f"layer {self.name!r} has no blueprint")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.space!r})"


def values_of(parameter: Parameter) -> tuple[Any, ...]:
    """Values of which all must be right for every one to be: the bounds of a number, or each option."""
    if isinstance(parameter, (Float, Int)):
        return parameter.low, parameter.high
    if isinstance(parameter, Choice):
        return parameter.options
    return (parameter.value if isinstance(parameter, Constant) else parameter,)


def _like(name: str, space: Space, usual: Space) -> Space:
    wanted = ", ".join(usual.parameters) or "nothing"
    if not isinstance(space, Space):
        raise TypeError(f"the space of layer {name!r} must be a Space with {wanted}, got {space!r}")
    if space.parameters.keys() != usual.parameters.keys():
        raise ValueError(f"the space of layer {name!r} must have {wanted}, got {', '.join(space.parameters) or 'nothing'}")
    return space
