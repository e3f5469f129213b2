"""Images and labels for training, validation and testing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import checks

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Images:
    """Images and labels for training, validation and, optionally, testing.

    The shape of images is rows x height x width, optionally with channels as the last axis. Values are integers from 0 to 255,
    or floats of any scale, which are not rescaled. Labels are 0, 1, 2 and so on.
    """

    x_train: Array
    y_train: Array
    x_valid: Array
    y_valid: Array
    x_test: Array | None = None
    y_test: Array | None = None

    def __post_init__(self) -> None:
        if (self.x_test is None) != (self.y_test is None):
            raise ValueError("x_test and y_test must be given together, or neither")
        for part in ("train", "valid", "test") if self.x_test is not None else ("train", "valid"):
            x, y = _array(f"x_{part}", getattr(self, f"x_{part}")), _array(f"y_{part}", getattr(self, f"y_{part}"))
            if x.ndim not in (3, 4) or x.shape[1:] != self.x_train.shape[1:]:
                raise ValueError(f"x_{part} must be rows x height x width (x channels), like x_train, got shape {x.shape}")
            if y.shape != x.shape[:1] or not len(y):
                raise ValueError(
                    f"y_{part} must have one label for each of the {len(x)} images, and at least one label, got shape {y.shape}"
                )
            if not np.issubdtype(y.dtype, np.integer) or y.min() < 0:
                found = f" from {y.min()}" if np.issubdtype(y.dtype, np.number) else ""
                raise ValueError(f"y_{part} must be whole numbers from 0, got {y.dtype}{found}")

    @classmethod
    def split(
        cls, x: Array, y: Array, n_valid: int, x_test: Array | None = None, y_test: Array | None = None, seed: int = 0
    ) -> Images:
        """Use `n_valid` randomly chosen images for validation and the others for training."""
        x, y = _array("x", x), _array("y", y)
        if not 0 < checks.whole("n_valid", n_valid, 1) < len(y):
            raise ValueError(f"n_valid must be below {len(y)}, the number of images, got {n_valid}")
        order = np.random.default_rng(seed).permutation(len(y))
        valid, train = order[:n_valid], order[n_valid:]
        return cls(x[train], y[train], x[valid], y[valid], x_test, y_test)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of an image."""
        height, width, *channels = self.x_train.shape[1:]
        return (*(channels or [1]), height, width)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.y_train.max()) + 1


def _array(name: str, value: Array) -> Array:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array, got {type(value).__name__}")
    return value
