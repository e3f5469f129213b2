"""Where the lines of parallel coordinates cross their axes, and the labels of the axes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .chart import MISSING, Dimension
from .history import Floats

BELOW = -0.12
"""The height at which arms without a value pass."""

_TICKS = 5
_MOST_LABELS = 12  # on one axis


def heights(dimension: Dimension) -> Floats:
    """Where the lines cross an axis: from 0 to 1, or below if an arm has no value."""
    low, high = _limits(dimension)
    found = (_scaled(dimension) / 2 - low / 2) / (high / 2 - low / 2)  # halves cannot overflow
    return np.where(np.isnan(found), BELOW, found)


def labels(dimension: Dimension) -> dict[float, str]:
    """The labels of an axis, by their height."""
    axis, (low, high) = dimension.axis, _limits(dimension)
    shares = np.linspace(0, 1, _TICKS)
    values = (low * (1 - share) + high * share for share in shares)
    found = {float(share): f"{10**value if axis.log else value:.3g}" for share, value in zip(shares, values, strict=True)}
    if axis.categories is not None:
        kept = range(0, len(axis.categories), max(1, -(-len(axis.categories) // _MOST_LABELS)))
        found = {(number - low) / (high - low): axis.categories[number] for number in kept}
    if np.isnan(dimension.values).any():
        found[BELOW] = MISSING
    return found


def shades_of(dimension: Dimension, shades: int) -> NDArray[np.int64]:
    """The number of the color of each line, from 0 to `shades` - 1, by its height on an axis."""
    return np.minimum((np.clip(heights(dimension), 0, 1) * shades).astype(np.int64), np.int64(shades - 1))


def _scaled(dimension: Dimension) -> Floats:
    return np.log10(dimension.values) if dimension.axis.log else dimension.values


def _limits(dimension: Dimension) -> tuple[float, float]:
    values = _scaled(dimension)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return (low, high) if high > low else (low - 0.5, low + 0.5)
