"""The convolution layer, for sequences and images."""

from __future__ import annotations

import math
from typing import ClassVar

from ...spaces import Choice, Int, Space
from .blueprint import Blueprint
from .layer import SIZE, Layer, Settings, Shape, extreme_values


class Convolution(Layer):
    """A convolution with padding, so that only the stride reduces the size: it is divided by the stride and rounded up.

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
        if isinstance(kernel, Int) or any(size % 2 == 0 for size in extreme_values(kernel)):
            raise ValueError(f"kernel must be a choice of odd sizes, so that both sides are padded equally, got {kernel!r}")

    def output_shape(self, shape: Shape, settings: Settings) -> Shape:
        return (int(settings["channels"]), *(-(-size // settings["stride"]) for size in shape[1:]))

    def n_parameters(self, shape: Shape, settings: Settings) -> int:
        return int(settings["channels"] * (shape[0] * settings["kernel"] ** (len(shape) - 1) + 1))

    def n_flops(self, shape: Shape, settings: Settings) -> int:
        n_values = math.prod(self.output_shape(shape, settings))
        return int(2 * n_values * shape[0] * settings["kernel"] ** (len(shape) - 1))

    def blueprint(self, shape: Shape, settings: Settings) -> Blueprint:
        kernel = settings["kernel"]
        module = f"Conv{len(shape) - 1}d"
        return Blueprint(module, shape[0], settings["channels"], kernel, stride=settings["stride"], padding=kernel // 2)
