"""Places of values on an axis, and the ticks there."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .chart import Axis, Bars, Layer
from .history import Floats

_LARGEST = float(np.finfo(float).max) / 4
_SHORT = 8  # whole numbers
_LARGEST_POWER = 300  # of ten
_PERIODS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400)  # seconds


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps the values of an axis to pixels.

    Args:
        axis: The axis.
        low, high: The range of the values; of their logarithms if the axis is logarithmic.
        begin, end: The pixels at which the range begins and ends.
    """

    axis: Axis
    low: float
    high: float
    begin: float
    end: float

    def __call__(self, values: Floats) -> Floats:
        """The pixels of values."""
        there = np.clip(_transformed(self.axis, values), self.low, self.high)
        share = (there / 2 - self.low / 2) / (self.high / 2 - self.low / 2)  # halves cannot overflow
        return self.begin + (self.end - self.begin) * share

    @property
    def is_short(self) -> bool:
        """Whether there is room for a tick at each whole number."""
        return self.high - self.low <= _SHORT

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """The pixels and the labels of at most about this many ticks."""
        if self.axis.categories is not None:
            places = range(0, len(self.axis.categories), max(1, -(-len(self.axis.categories) // most)))
            return [(self._pixel(place), self.axis.categories[place]) for place in places]
        if self.axis.is_date:
            values = _date_values(self.low, self.high, most)
            labels = _dates(values)
        else:
            is_whole = self.axis.whole or (self.axis.log and self.high - self.low >= 2)
            values = _round_values(self.low, self.high, most, is_whole)
            values = [value for value in values if abs(value) < _LARGEST_POWER] if self.axis.log else values
            labels = [_label(float(f"{10.0**value:.2g}") if self.axis.log else value) for value in values]
        return [(self._pixel(value), label) for value, label in zip(values, labels, strict=True)]

    def _pixel(self, value: float) -> float:
        share = (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        return self.begin + (self.end - self.begin) * share


def scale_of(axis: Axis, values: Iterable[Floats], begin: float, end: float, room: float) -> Scale:
    """The scale on which all values are visible.

    Args:
        axis: The axis.
        values: What it must show.
        begin, end: The pixels at which it begins and ends.
        room: Empty share on both sides.
    """
    if axis.reverse:
        begin, end = end, begin
    if axis.categories is not None:
        return Scale(axis, -0.6, len(axis.categories) - 0.4, begin, end)
    shown = np.concatenate([np.zeros(0), *(_transformed(axis, part).ravel() for part in values)])
    shown = np.clip(shown[np.isfinite(shown)], -_LARGEST, _LARGEST)
    low, high = (float(shown.min()), float(shown.max())) if len(shown) else (0.0, 1.0)
    if not high - low > 1e-12 * max(abs(low), abs(high)):
        wide = 0.05 * abs(low) or 0.5
        return Scale(axis, low - wide, high + wide, begin, end)
    return Scale(axis, low - room * (high - low), high + room * (high - low), begin, end)


def values_along(layers: Sequence[Layer], direction: str) -> Iterator[Floats]:
    """The values that an axis must show.

    Args:
        layers: What is drawn.
        direction: "x" or "y".
    """
    for layer in layers:
        if isinstance(layer, Bars):
            begins = np.zeros(len(layer.y)) if layer.begins is None else layer.begins
            errors = 0.0 if layer.errors is None else layer.errors
            yield from (begins, begins + layer.lengths + errors) if direction == "x" else (layer.y - 0.5, layer.y + 0.5)
        else:
            yield layer.x if direction == "x" else layer.y


def _transformed(axis: Axis, values: Floats) -> Floats:
    """The values, or their logarithms; NaN where there is none."""
    if not axis.log:
        return values
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.log10(values)
    return np.where(np.isfinite(found), found, np.nan)


def _round_values(low: float, high: float, most: int, whole: bool) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten in a range.

    >>> _round_values(0.0, 1.0, 5, False)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    rough = (high / most - low / most) or 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((power * factor for factor in (1, 2, 5) if power * factor >= 0.999 * rough), power * 10)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{place * step:.12g}") for place in range(first, last + 1)]


def _label(value: float) -> str:
    """A short text for a number.

    >>> _label(0.2), _label(20000.0), _label(1e-05), _label(3_000_000.0)
    ('0.2', '20,000', '1e-5', '3e6')
    """
    if value and not 1e-4 <= abs(value) < 1e6:
        mantissa, exponent = f"{value:.3e}".split("e")
        return f"{float(mantissa):g}e{int(exponent)}"
    return f"{value:,.10g}"


def _date_values(low: float, high: float, most: int) -> list[float]:
    """Full seconds, minutes, hours or days in a range of seconds since 1970."""
    step = next(
        (step for step in _PERIODS if step * most >= high - low), _PERIODS[-1] * math.ceil((high - low) / _PERIODS[-1] / most)
    )
    return [float(place * step) for place in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _dates(values: list[float]) -> list[str]:
    """Times in UTC, as precise as necessary."""
    step = values[1] - values[0] if len(values) > 1 else 1.0
    style = "%Y-%m-%d" if step >= 86_400 else "%H:%M" if step >= 60 else "%H:%M:%S"
    return [time.strftime(style, time.gmtime(value)) for value in values]
