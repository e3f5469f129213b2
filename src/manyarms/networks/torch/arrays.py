"""Checks and conversions of the user's arrays: examples with channels first, and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graphs.network_space import NetworkSpace
from ..layers import Shape
from .pytorch import torch

Array = NDArray[Any]


def channels_first(name: str, x: Array, space: NetworkSpace) -> Array:
    """Rows x channels (x height x width, or x length) of an array whose channels come last or are omitted.

    The result is always a copy. Bytes stay bytes to save memory; other numbers get the precision in which the module
    standardizes them.

    Args:
        name: Name of the argument, for error messages.
        x: The array.
        space: The space whose input shape the array must have.
    """
    shape = space.input_shape
    x = as_array(name, x)
    if x.dtype.kind not in "iuf":
        raise ValueError(f"{name} must contain numbers, got {x.dtype}")
    x = x[..., None] if len(shape) > 1 and x.ndim == len(shape) else x
    found = tuple(np.moveaxis(x, -1, 1).shape[1:]) if x.ndim > 1 else ()
    if found != shape:
        wanted = " x ".join(map(str, ["rows", *shape[1:], shape[0]]))
        raise ValueError(f"{name} must have the shape {wanted} to fit the space, got {' x '.join(map(str, x.shape))}")
    with np.errstate(over="ignore"):
        x = np.moveaxis(x, -1, 1).astype(np.uint8 if x.dtype == np.uint8 else float_type(shape), order="C")
    if x.dtype != np.uint8 and not np.isfinite(x).all():
        raise ValueError(f"{name} must be finite as {x.dtype}, got NaN, infinity or numbers that are too large")
    return x


def labels(name: str, y: Array, n_rows: int | None = None, n_classes: int | None = None) -> NDArray[np.int64]:
    """Labels as integers from 0. The result is always a copy.

    Args:
        name: Name of the argument, for error messages.
        y: The labels.
        n_rows: Number of labels, if known.
        n_classes: Number of classes, if known.
    """
    y = as_array(name, y)
    highest = np.iinfo(np.int64).max if n_classes is None else n_classes - 1
    if y.ndim != 1 or n_rows not in (None, len(y)) or y.dtype.kind not in "iu":
        wanted = "integers" if n_rows is None else f"{n_rows} integers"
        raise ValueError(f"{name} must be {wanted}, one label per row, got {y.dtype} with shape {y.shape}")
    if len(y) == 0:
        raise ValueError(f"{name} must have at least one label, got none")
    if y.min() < 0 or y.max() > highest:
        wanted = "0, 1, 2 and so on" if n_classes is None else f"from 0 to {highest}"
        raise ValueError(f"{name} must be {wanted}, got {y.min()} to {y.max()}")
    return y.astype(np.int64)


def as_array(name: str, values: Any) -> Array:
    """Lists, tables and tensors as an array. Booleans become 0 and 1."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} must have no masked values, got {np.ma.getmaskarray(values).sum()}")
    try:
        array = np.asarray(_on_cpu(values) if isinstance(values, torch.Tensor) else values)
        if array.dtype == object:  # for example a table with columns of numbers and columns of booleans
            array = np.array(array.tolist())
    except ValueError:
        raise ValueError(f"{name} must be an array, got rows of different lengths") from None
    return array.astype(np.uint8) if array.dtype == np.bool_ else array


def _on_cpu(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor in the memory of the CPU, with a type that NumPy has. Single precision holds every bfloat16 exactly."""
    tensor = tensor.detach().cpu()
    return tensor.float() if tensor.dtype == torch.bfloat16 else tensor


def float_type(shape: Shape) -> type[np.floating[Any]]:
    """The type in which examples are standardized: double precision for tables, where a column can be a date in seconds."""
    return np.float64 if len(shape) == 1 else np.float32
