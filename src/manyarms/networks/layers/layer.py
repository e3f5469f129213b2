"""The base class of layer types: a name, hyperparameters, shapes, costs, and how the module is constructed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar

from ... import checks
from ...spaces import Choice, Constant, Float, Int, Space
from ...spaces.parameters import Parameter
from .blueprint import Blueprint

Shape = tuple[int, ...]
"""Shape of one example: channels, then the length of a sequence or the height and width of an image. A vector has one size."""

Settings = Mapping[str, Any]
"""Hyperparameters of one layer: a config of the space of its type."""

ALL_DIMENSIONS = (0, 1, 2)
"""Dimensions of layers that take vectors, sequences and images."""

Rule = Callable[[str, Any], Any]
"""Takes the name of a hyperparameter and a value, and raises an error if the layer cannot have that value."""

SIZE: Rule = functools.partial(checks.whole, low=1)
"""An integer that is at least 1."""


def is_shape(value: object, n_sizes: int) -> bool:
    """Whether the value is a tuple of `n_sizes` integers, each at least 1."""
    if not isinstance(value, tuple) or len(value) != n_sizes:
        return False
    for size in value:  # noqa: SIM110  # called for every mutation; a generator expression takes twice as long
        if type(size) is not int or size < 1:
            return False
    return True


class Layer:
    """A layer type. To add one, write a subclass with a name and a `blueprint`; the other members have defaults.

    Attributes:
        name: Name in configs. Must be a Python identifier.
        dimensions: Dimensions of the inputs it accepts: 0 for vectors, 1 for sequences, 2 for images.
        space: Space of its hyperparameters.
        rules: Rules for the values of hyperparameters, by name. They hold for any space.

    Args:
        space: Replaces the space of the class, to use other ranges. The hyperparameters must be the same.

    >>> class Softsign(Layer):
    ...     name = "softsign"
    ...     def blueprint(self, shape, settings):
    ...         return Blueprint("Softsign")
    >>> Softsign().output_shape((16, 8, 8), {}), str(Softsign().blueprint((16, 8, 8), {}))
    ((16, 8, 8), 'nn.Softsign()')
    """

    name: str = ""
    dimensions: Collection[int] = ALL_DIMENSIONS
    space: Space = Space()
    rules: ClassVar[Mapping[str, Rule]] = {}

    def __init__(self, space: Space | None = None) -> None:
        if space is not None:
            self.space = _check_space(self.name, space, type(self).space)
        for name, parameter in self.space.parameters.items():
            for value in extreme_values(parameter) if name in self.rules else ():
                self.rules[name](f"{name} of layer {self.name!r}", value)

    def output_shape(self, shape: Shape, settings: Settings) -> Shape:
        """Shape of the output for an input of this shape: the same number of sizes, each at least 1."""
        return shape

    def n_parameters(self, shape: Shape, settings: Settings) -> int:
        """Number of learned parameters."""
        return 0

    def n_flops(self, shape: Shape, settings: Settings) -> int:
        """Multiplications and additions in convolutions and matrix products for one example."""
        return 0

    def blueprint(self, shape: Shape, settings: Settings) -> Blueprint:
        """How to construct the module for inputs of this shape. The module receives batches of such inputs."""
        raise NotImplementedError(f"layer {self.name!r} has no blueprint")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.space!r})"


def extreme_values(parameter: Parameter) -> tuple[Any, ...]:
    """The bounds of a number or all options of a choice. If these satisfy a rule, all values of the parameter do."""
    if isinstance(parameter, (Float, Int)):
        return parameter.low, parameter.high
    if isinstance(parameter, Choice):
        return parameter.options
    return (parameter.value if isinstance(parameter, Constant) else parameter,)


def _check_space(name: str, space: Space, default: Space) -> Space:
    wanted = ", ".join(default.parameters) or "nothing"
    if not isinstance(space, Space):
        raise TypeError(f"the space of layer {name!r} must be a Space with {wanted}, got {space!r}")
    if space.parameters.keys() != default.parameters.keys():
        raise ValueError(f"the space of layer {name!r} must have {wanted}, got {', '.join(space.parameters) or 'nothing'}")
    return space
