"""Pooling layers, for sequences and images."""

from __future__ import annotations

from typing import ClassVar

from ...spaces import Choice, Space
from .blueprint import Blueprint
from .layer import SIZE, Layer, Settings, Shape


class _Pool(Layer):
    """Reduces each window to one value. Windows do not overlap and are never larger than the input."""

    dimensions = (1, 2)
    space = Space(size=Choice(2, 3))
    rules: ClassVar = {"size": SIZE}
    _module: str

    def output_shape(self, shape: Shape, settings: Settings) -> Shape:
        window = _window(settings["size"], shape)
        return (shape[0], *(-(-size // width) for size, width in zip(shape[1:], window, strict=True)))

    def blueprint(self, shape: Shape, settings: Settings) -> Blueprint:
        return Blueprint(f"{self._module}{len(shape) - 1}d", _window(settings["size"], shape), ceil_mode=True)


class MaxPool(_Pool):
    """The maximum of each window. Windows do not overlap and are never larger than the input.

    >>> MaxPool().output_shape((16, 7, 1), {"size": 2})
    (16, 4, 1)
    """

    name = "max_pool"
    _module = "MaxPool"


class AveragePool(_Pool):
    """The mean of each window, otherwise like `MaxPool`.

    >>> str(AveragePool().blueprint((16, 7, 1), {"size": 2}))
    'nn.AvgPool2d((2, 1), ceil_mode=True)'
    """

    name = "average_pool"
    _module = "AvgPool"


def _window(size: int, shape: Shape) -> tuple[int, ...]:
    return tuple(min(size, each) for each in shape[1:])
