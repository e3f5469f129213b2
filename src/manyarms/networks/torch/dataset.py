"""Examples and their labels: arrays, and the same data as tensors on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graphs.network_space import NetworkSpace
from .arrays import Array, channels_first, float_type, labels
from .pytorch import torch

_CHUNK_SIZE = 2**22  # numbers whose deviations from the mean are in memory at the same time


class Dataset:
    """Examples and labels as arrays, and as tensors, which are created once per device and never pickled.

    Args:
        x: Examples with channels first. Must be a copy of the user's array, which may change.
        y: Labels from 0.
    """

    def __init__(self, x: Array, y: NDArray[np.int64]) -> None:
        self.x, self.y = x, y
        self._tensors: dict[torch.device, tuple[torch.Tensor, torch.Tensor]] = {}

    @classmethod
    def checked(cls, name: str, x: Array, y: Array, space: NetworkSpace) -> Dataset:
        """A data set of arrays that fit the space. Error messages call them `x_<name>` and `y_<name>`."""
        rows = channels_first(f"x_{name}", x, space)
        if len(rows) < 2:
            raise ValueError(f"x_{name} must have at least two rows, got {len(rows)}")
        return cls(rows, labels(f"y_{name}", y, len(rows), space.n_outputs))

    def mean_and_scale(self) -> tuple[Array, Array]:
        """Mean and standard deviation of each channel, with shapes that broadcast. Constant channels get 1 as their scale."""
        dtype = float_type(self.x.shape[1:])
        lowest, highest = self._extremes()
        with np.errstate(over="ignore", invalid="ignore"):  # overflows are reported by `check_standardized`
            mean = self.x.mean(axis=self._axes, dtype=np.float64, keepdims=True)
            chunks = np.array_split(self.x, -(-self.x.size // _CHUNK_SIZE))
            squares = sum(np.square(chunk - mean).sum(axis=self._axes, keepdims=True) for chunk in chunks)
            scale = np.sqrt(squares * self.x.shape[1] / self.x.size).astype(dtype)[0]
        return mean.astype(dtype)[0], np.where((lowest < highest) & (scale != 0), scale, np.ones_like(scale))

    def check_standardized(self, name: str, mean: Array, scale: Array) -> None:
        """Raise an error if standardized examples exceed the range of single precision."""
        with np.errstate(over="ignore", invalid="ignore"):
            ends = [((end.astype(mean.dtype) - mean) / scale).astype(np.float32) for end in self._extremes()]
        if not np.isfinite([*ends, scale]).all():
            found = f"{self.x.min():g} to {self.x.max():g}"
            raise ValueError(
                f"x_{name} must be finite after standardization by the mean and standard deviation of x_train, got {found}"
            )

    @property
    def _axes(self) -> tuple[int, ...]:
        """All axes except the channel axis."""
        return (0, *range(2, self.x.ndim))

    def _extremes(self) -> tuple[Array, Array]:
        """The lowest and the highest number of each channel."""
        return self.x.min(axis=self._axes, keepdims=True)[0], self.x.max(axis=self._axes, keepdims=True)[0]

    def tensors(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """Examples and labels as tensors on the device."""
        if device not in self._tensors:
            x, y = (torch.from_numpy(np.require(array, requirements="W")).to(device) for array in (self.x, self.y))
            self._tensors = {device: (x, y)}
        return self._tensors[device]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_tensors": {}}
