"""Examples to learn from: arrays of the user, checked, and as tensors where they are needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graphs.network_space import NetworkSpace
from ..layers import Shape
from .pytorch import torch

Array = NDArray[Any]

_AT_ONCE = 2**22  # numbers whose deviation from the mean is held in memory together


class Examples:
    """Arrays of one part of the data, and the same as tensors of one device, which are made once and never pickled.

    Args:
        x: channels first; no view of an array of the user, who may change that.
        y: labels from 0.
    """

    def __init__(self, x: Array, y: NDArray[np.int64]) -> None:
        self.x, self.y = x, y
        self._tensors: dict[torch.device, tuple[torch.Tensor, torch.Tensor]] = {}

    @classmethod
    def of(cls, part: str, x: Array, y: Array, space: NetworkSpace) -> Examples:
        """Arrays that fit the space; `part` is for messages."""
        rows = channels_first(f"x_{part}", x, space)
        if len(rows) < 2:
            raise ValueError(f"x_{part} must have two rows or more, got {len(rows)}")
        return cls(rows, labels(f"y_{part}", y, len(rows), space.n_outputs))

    def standard(self) -> tuple[Array, Array]:
        """Mean and standard deviation of each channel, shaped to be taken from examples; 1 for what does not vary."""
        kind = _kind(self.x.shape[1:])
        lowest, highest = self._extremes()
        with np.errstate(over="ignore", invalid="ignore"):  # what becomes of it is told by `check_standardised`
            mean = self.x.mean(axis=self._axes, dtype=np.float64, keepdims=True)
            parts = np.array_split(self.x, -(-self.x.size // _AT_ONCE))
            squares = sum(np.square(part - mean).sum(axis=self._axes, keepdims=True) for part in parts)
            scale = np.sqrt(squares * self.x.shape[1] / self.x.size).astype(kind)[0]
        return mean.astype(kind)[0], np.where((lowest < highest) & (scale != 0), scale, np.ones_like(scale))

    def check_standardised(self, part: str, mean: Array, scale: Array) -> None:
        """Refuse numbers that are beyond single precision after what `standard` gave is taken from them."""
        with np.errstate(over="ignore", invalid="ignore"):
            ends = [((end.astype(mean.dtype) - mean) / scale).astype(np.float32) for end in self._extremes()]
        if not np.isfinite([*ends, scale]).all():
            found = f"{self.x.min():g} to {self.x.max():g}"
            raise ValueError(f"x_{part} must be finite after x_train's mean and deviation are taken from it, got {found}")

    @property
    def _axes(self) -> tuple[int, ...]:
        """All but that of channels."""
        return (0, *range(2, self.x.ndim))

    def _extremes(self) -> tuple[Array, Array]:
        """The lowest and the highest number of each channel."""
        return self.x.min(axis=self._axes, keepdims=True)[0], self.x.max(axis=self._axes, keepdims=True)[0]

    def on(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """Both as tensors there."""
        if device not in self._tensors:
            x, y = (torch.from_numpy(np.require(array, requirements="W")).to(device) for array in (self.x, self.y))
            self._tensors = {device: (x, y)}
        return self._tensors[device]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_tensors": {}}


def channels_first(name: str, x: Array, space: NetworkSpace) -> Array:
    """Rows x channels x extents of an array whose channels come last, or are left out; it must fit the space.

    Always a copy. Bytes stay bytes, for the sake of memory; other numbers are as precise as the module computes.
    """
    shape = space.input_shape
    x = as_array(name, x)
    if not (np.issubdtype(x.dtype, np.integer) or np.issubdtype(x.dtype, np.floating)):
        raise ValueError(f"{name} must be numbers, got {x.dtype}")
    x = x[..., None] if len(shape) > 1 and x.ndim == len(shape) else x
    found = tuple(np.moveaxis(x, -1, 1).shape[1:]) if x.ndim > 1 else ()
    if found != shape:
        wanted = " x ".join(map(str, ["rows", *shape[1:], shape[0]]))
        raise ValueError(f"{name} must be {wanted} to fit the space, got {' x '.join(map(str, x.shape))}")
    with np.errstate(over="ignore"):
        x = np.moveaxis(x, -1, 1).astype(np.uint8 if x.dtype == np.uint8 else _kind(shape), order="C")
    if x.dtype != np.uint8 and not np.isfinite(x).all():
        raise ValueError(f"{name} must be finite as {x.dtype}, got NaN, infinite or too large numbers")
    return x


def labels(name: str, y: Array, n_rows: int | None = None, n_classes: int | None = None) -> NDArray[np.int64]:
    """Whole numbers from 0: so many, and of so many classes, where that is known. Always a copy."""
    y = as_array(name, y)
    most = np.iinfo(np.int64).max if n_classes is None else n_classes - 1
    if y.ndim != 1 or n_rows not in (None, len(y)) or not np.issubdtype(y.dtype, np.integer):
        wanted = "whole numbers" if n_rows is None else f"{n_rows} whole numbers"
        raise ValueError(f"{name} must be {wanted}, a label for each row, got {y.dtype} of the shape {y.shape}")
    if len(y) == 0:
        raise ValueError(f"{name} must have one label or more, got none")
    if y.min() < 0 or y.max() > most:
        wanted = "0, 1, 2 and so on" if n_classes is None else f"from 0 to {most}"
        raise ValueError(f"{name} must be {wanted}, got {y.min()} to {y.max()}")
    return y.astype(np.int64)


def as_array(name: str, values: Any) -> Array:
    """Lists, tables and tensors as arrays; what is true or false as 1 and 0."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} must have no masked values, got {np.ma.getmaskarray(values).sum()}")
    try:
        array = np.asarray(values.detach().cpu() if isinstance(values, torch.Tensor) else values)
        if array.dtype == object:  # a table with columns of several types, say numbers and bools
            array = np.array(array.tolist())
    except ValueError:
        raise ValueError(f"{name} must be an array, got rows of different lengths") from None
    return array.astype(np.uint8) if array.dtype == np.bool_ else array


def _kind(shape: Shape) -> type[np.floating[Any]]:
    """How examples of this shape are standardised: in double precision where a column can be a date in seconds."""
    return np.float64 if len(shape) == 1 else np.float32
