"""Identity, dropout and normalization for any input, and the dense layer for vectors."""

from __future__ import annotations

import functools
import math
from typing import ClassVar

from ... import checks
from ...spaces import Choice, Int, Space
from .blueprint import Blueprint
from .layer import SIZE, Layer, Settings, Shape


class Identity(Layer):
    """Applies only the combiner and the activation.

    >>> Identity().output_shape((3, 28, 28), {})
    (3, 28, 28)
    """

    name = "identity"

    def blueprint(self, shape: Shape, settings: Settings) -> Blueprint:
        return Blueprint("Identity")


class Dropout(Layer):
    """Sets a fraction of its input to zero during training.

    >>> str(Dropout().blueprint((3, 28, 28), {"rate": 0.3}))
    'nn.Dropout(0.3)'
    """

    name = "dropout"
    space = Space(rate=Choice(0.1, 0.2, 0.3, 0.4, 0.5, ordered=True))
    rules: ClassVar = {"rate": functools.partial(checks.between, low=0, high=1)}

    def blueprint(self, shape: Shape, settings: Settings) -> Blueprint:
        return Blueprint("Dropout", settings["rate"])


class Normalization(Layer):
    """Normalizes each channel over the batch, or each example over all its channels.

    >>> [str(Normalization().blueprint((16, 50), {"over": over})) for over in ("batch", "example")]
    ['nn.BatchNorm1d(16)', 'nn.GroupNorm(1, 16)']
    """

    name = "normalisation"  # spelled as in stored studies and checkpoints
    space = Space(over=Choice("batch", "example"))
    rules: ClassVar = {"over": functools.partial(checks.one_of, options=("batch", "example"))}

    def n_parameters(self, shape: Shape, settings: Settings) -> int:
        return 2 * shape[0]

    def blueprint(self, shape: Shape, settings: Settings) -> Blueprint:
        if settings["over"] == "example":  # GroupNorm does not accept a single value
            return Blueprint("LayerNorm", shape) if shape[0] == math.prod(shape) == 1 else Blueprint("GroupNorm", 1, shape[0])
        return Blueprint(f"BatchNorm{max(1, len(shape) - 1)}d", shape[0])


class Dense(Layer):
    """A fully connected layer.

    >>> Dense().output_shape((100,), {"units": 8}), Dense().n_parameters((100,), {"units": 8})
    ((8,), 808)
    """

    name = "dense"
    dimensions = (0,)
    space = Space(units=Int(8, 256, log=True))
    rules: ClassVar = {"units": SIZE}

    def output_shape(self, shape: Shape, settings: Settings) -> Shape:
        return (int(settings["units"]),)

    def n_parameters(self, shape: Shape, settings: Settings) -> int:
        return int(settings["units"]) * (shape[0] + 1)

    def n_flops(self, shape: Shape, settings: Settings) -> int:
        return 2 * int(settings["units"]) * shape[0]

    def blueprint(self, shape: Shape, settings: Settings) -> Blueprint:
        return Blueprint("Linear", shape[0], settings["units"])
