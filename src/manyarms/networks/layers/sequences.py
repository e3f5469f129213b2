"""Recurrent layers and attention, for sequences. They are also examples of layers with custom modules."""

from __future__ import annotations

import functools
from typing import ClassVar

from ... import checks
from ...spaces import Choice, Int, Space
from .blueprint import Blueprint
from .layer import SIZE, Layer, Settings, Shape

_GATES = {"gru": 3, "lstm": 4}


class Recurrent(Layer):
    """A GRU or an LSTM that returns its output at each position of the sequence.

    >>> Recurrent().output_shape((3, 50), {"cell": "gru", "units": 16})
    (16, 50)
    """

    name = "recurrent"
    dimensions = (1,)
    space = Space(cell=Choice("gru", "lstm"), units=Int(4, 64, log=True))
    rules: ClassVar = {"cell": functools.partial(checks.one_of, options=tuple(_GATES)), "units": SIZE}

    def output_shape(self, shape: Shape, settings: Settings) -> Shape:
        return (int(settings["units"]), shape[1])

    def n_parameters(self, shape: Shape, settings: Settings) -> int:
        units = int(settings["units"])
        return _GATES[settings["cell"]] * units * (shape[0] + units + 2)  # PyTorch uses two biases

    def n_flops(self, shape: Shape, settings: Settings) -> int:
        units = int(settings["units"])
        return 2 * shape[1] * _GATES[settings["cell"]] * units * (shape[0] + units)

    def blueprint(self, shape: Shape, settings: Settings) -> Blueprint:
        from ..torch.modules import RecurrentModule

        return Blueprint(RecurrentModule, settings["cell"], shape[0], settings["units"])


class Attention(Layer):
    """Multi-head self-attention with a residual connection. The shape stays the same.

    >>> Attention().n_parameters((8, 50), {"heads": 2, "size": 4})
    288
    """

    name = "attention"
    dimensions = (1,)
    space = Space(heads=Choice(1, 2, 4, ordered=True), size=Int(4, 32, log=True))
    rules: ClassVar = {"heads": SIZE, "size": SIZE}

    def n_parameters(self, shape: Shape, settings: Settings) -> int:
        width = int(settings["heads"] * settings["size"])
        return 3 * width * (shape[0] + 1) + shape[0] * (width + 1)

    def n_flops(self, shape: Shape, settings: Settings) -> int:
        width, (channels, length) = int(settings["heads"] * settings["size"]), shape
        return 2 * length * width * (4 * channels + 2 * length)

    def blueprint(self, shape: Shape, settings: Settings) -> Blueprint:
        from ..torch.modules import AttentionModule

        return Blueprint(AttentionModule, shape[0], settings["heads"], settings["size"])
