"""Examples to learn from: arrays of the user, checked, and as tensors where they are needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .pytorch import torch
from .space import NetworkSpace

Array = NDArray[Any]


class Examples:
    """Arrays of one part of the data, and the same as tensors of one device, which are made once and never pickled.

    Args:
        x: channels first.
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
        return cls(rows, _labels(f"y_{part}", y, len(rows), space.n_outputs))

    def standard(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Mean and standard deviation of each channel, shaped to be taken from examples."""
        axes = (0, *range(2, self.x.ndim))
        mean = self.x.mean(axis=axes, dtype=np.float64, keepdims=True)[0]
        scale = self.x.std(axis=axes, dtype=np.float64, keepdims=True)[0]
        return mean.astype(np.float32), np.where(scale > 0, scale, 1.0).astype(np.float32)

    def on(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """Both as tensors there."""
        if device not in self._tensors:
            self._tensors = {device: (torch.from_numpy(self.x).to(device), torch.from_numpy(self.y).to(device))}
        return self._tensors[device]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_tensors": {}}


def channels_first(name: str, x: Array, space: NetworkSpace) -> Array:
    """Rows x channels x extents of an array whose channels come last, or are left out; it must fit the space."""
    shape = space.input_shape
    x = np.asarray(x)
    if not (np.issubdtype(x.dtype, np.integer) or np.issubdtype(x.dtype, np.floating)):
        raise ValueError(f"{name} must be numbers, got {x.dtype}")
    x = x[..., None] if len(shape) > 1 and x.ndim == len(shape) else x
    found = tuple(np.moveaxis(x, -1, 1).shape[1:]) if x.ndim > 1 else ()
    if found != shape:
        wanted = " x ".join(map(str, ["rows", *shape[1:], shape[0]]))
        raise ValueError(f"{name} must be {wanted} to fit the space, got {' x '.join(map(str, x.shape))}")
    x = np.ascontiguousarray(np.moveaxis(x, -1, 1))
    if np.issubdtype(x.dtype, np.floating) and not np.isfinite(x).all():
        raise ValueError(f"{name} must be finite, got NaN or infinite numbers")
    return x if x.dtype == np.uint8 else x.astype(np.float32)


def _labels(name: str, y: Array, n_rows: int, n_classes: int) -> NDArray[np.int64]:
    y = np.asarray(y)
    if y.shape != (n_rows,) or not np.issubdtype(y.dtype, np.integer):
        raise ValueError(f"{name} must be {n_rows} whole numbers, a label for each row, got {y.dtype} of the shape {y.shape}")
    if y.min() < 0 or y.max() >= n_classes:
        raise ValueError(f"{name} must be from 0 to {n_classes - 1}, got {y.min()} to {y.max()}")
    return y.astype(np.int64)
