"""What a layer type is: a name, hyper-parameters, shapes and costs, and the module it stands for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ...spaces import Space
from ..blueprint import Blueprint

Shape = tuple[int, ...]
"""Of one example: channels, then the extents: none of a vector, the length of a sequence, height and width of an image."""

Settings = Mapping[str, Any]
"""The hyper-parameters of one layer: a config of its type's space."""

EVERY = (0, 1, 2)
"""The dimensions of layers that take vectors, sequences and images."""


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

    def __init__(self, space: Space | None = None) -> None:
        if space is not None:
            self.space = _like(self.name, space, type(self).space)

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


def _like(name: str, space: Space, usual: Space) -> Space:
    if space.parameters.keys() != usual.parameters.keys():
        raise ValueError(
            f"the space of layer {name!r} must have {', '.join(usual.parameters)}, got {', '.join(space.parameters)}"
        )
    return space
