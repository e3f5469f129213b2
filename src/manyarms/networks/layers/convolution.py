"""Layers that look at neighbourhoods, for sequences and images: convolution and pooling."""

from __future__ import annotations

import math
from typing import ClassVar

from ...spaces import Choice, Int, Space
from .blueprint import Blueprint
from .layer import SIZE, Layer, Settings, Shape, values_of


class Convolution(Layer):
    """With padding, so that only the stride makes the extents smaller: divided by it and rounded up.

    >>> Convolution().output_shape((3, 28, 28), {"channels": 16, "kernel": 5, "stride": 2})
    (16, 14, 14)
    >>> str(Convolution().blueprint((3, 50), {"channels": 16, "kernel": 5, "stride": 1}))
    'nn.Conv1d(3, 16, 5, stride=1, padding=2)'
    """

    name = "convolution"
    dimensions = (1, 2)
    space = Space(channels=Int(4, 64, log=True), kernel=Choice(1, 3, 5, 7, ordered=True), stride=Choice(1, 2))
    rules: ClassVar = {"channels": SIZE, "kernel": SIZE, "stride": SIZE}

    def __init__(self, space: Space | None = None) -> None:
        super().__init__(space)
        kernel = self.space.parameters["kernel"]
        if isinstance(kernel, Int) or any(size % 2 == 0 for size in values_of(kernel)):
            raise ValueError(f"kernel must be a choice of odd sizes, so that padding is even on both sides, got {kernel!r}")

    def output_shape(self, shape: Shape, settings: Settings) -> Shape:
        return (int(settings["channels"]), *(-(-extent // settings["stride"]) for extent in shape[1:]))

    def n_parameters(self, shape: Shape, settings: Settings) -> int:
        return int(settings["channels"] * (shape[0] * settings["kernel"] ** (len(shape) - 1) + 1))

    def n_flops(self, shape: Shape, settings: Settings) -> int:
        places = math.prod(self.output_shape(shape, settings))
        return int(2 * places * shape[0] * settings["kernel"] ** (len(shape) - 1))

    def blueprint(self, shape: Shape, settings: Settings) -> Blueprint:
        kernel = settings["kernel"]
        kind = f"Conv{len(shape) - 1}d"
        return Blueprint(kind, shape[0], settings["channels"], kernel, stride=settings["stride"], padding=kernel // 2)


class _Pool(Layer):
    """One value for each neighbourhood."""

    dimensions = (1, 2)
    space = Space(size=Choice(2, 3))
    rules: ClassVar = {"size": SIZE}
    _module: str

    def output_shape(self, shape: Shape, settings: Settings) -> Shape:
        sizes = _within(settings["size"], shape)
        return (shape[0], *(-(-extent // size) for extent, size in zip(shape[1:], sizes, strict=True)))

    def blueprint(self, shape: Shape, settings: Settings) -> Blueprint:
        return Blueprint(f"{self._module}{len(shape) - 1}d", _within(settings["size"], shape), ceil_mode=True)


class MaxPool(_Pool):
    """The largest of each neighbourhood; neighbourhoods do not overlap and are never larger than the input.

    >>> MaxPool().output_shape((16, 7, 1), {"size": 2})
    (16, 4, 1)
    """

    name = "max_pool"
    _module = "MaxPool"


class AveragePool(_Pool):
    """The mean of each neighbourhood, otherwise like `MaxPool`.

    >>> str(AveragePool().blueprint((16, 7, 1), {"size": 2}))
    'nn.AvgPool2d((2, 1), ceil_mode=True)'
    """

    name = "average_pool"
    _module = "AvgPool"


def _within(size: int, shape: Shape) -> tuple[int, ...]:
    return tuple(min(size, extent) for extent in shape[1:])
