"""Summaries of runs: means, steps until an accuracy, tables in Markdown, and accuracy over time."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

import common
import numpy as np
from numpy.typing import NDArray
from results import Curve

Array = NDArray[Any]


def at(curve: Curve, spent: int) -> float:
    """The best accuracy after this many steps; NaN before the first point."""
    return next((accuracy for point, accuracy in reversed(curve) if point <= spent), math.nan)


def steps_until(curve: Curve, level: float) -> int | None:
    """The number of steps until an accuracy was reached; None if it was not."""
    return next((spent for spent, accuracy in curve if accuracy >= level), None)


def spread(values: Sequence[float], digits: int = 0) -> str:
    """Mean ± standard error, without the error for a single value; empty without values."""
    return common.plus_minus(values, digits).replace(" ± nan", "") if values else ""


def percent(values: Sequence[float]) -> str:
    """Mean and standard error of accuracies, in percent."""
    return spread([100 * value for value in values], 2)


def mean(values: Sequence[float]) -> str:
    """The rounded mean; empty without values."""
    return f"{common.mean_and_error(values)[0]:,.0f}" if values else ""


def markdown(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table. The first column is left-aligned, the others are right-aligned."""
    lines = [columns, ["---", *["--:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def together(curves: Sequence[Curve], budget: int) -> tuple[Array, Array]:
    """Step numbers from where all curves have started, and the accuracies of each curve at these steps."""
    places = np.arange(max(curve[0][0] for curve in curves), budget + 1)
    return places, np.array([[at(curve, place) for place in places] for curve in curves])


def mean_curve(curves: Sequence[Curve], budget: int) -> Curve:
    """The mean of curves, from where all of them have started.

    >>> mean_curve([[(1, 0.2), (3, 0.5)], [(2, 0.4)]], 4)
    [(2, 0.3), (3, 0.45), (4, 0.45)]
    """
    places, values = together(curves, budget)
    return list(zip(places.tolist(), values.mean(axis=0).round(9).tolist(), strict=True))


def draw_curves(axis: Any, curves: Mapping[str, Sequence[Curve]], budget: int) -> None:
    """Draw the mean curve of each method over its seeds, with the standard error, from where all curves have started."""
    for number, (name, several) in enumerate(curves.items()):
        places, shares = together(several, budget)
        values = 100 * shares
        middle = values.mean(axis=0)
        color = common.COLORS[number % len(common.COLORS)]
        axis.plot(places, middle, color=color, label=name, linewidth=2 if "Mutant" in name else 1.2)
        if len(several) > 1:
            error = values.std(axis=0, ddof=1) / math.sqrt(len(several))
            axis.fill_between(places, middle - error, middle + error, color=color, alpha=0.12, linewidth=0)
    finals = [100 * curve[-1][1] for several in curves.values() for curve in several]
    width = max(finals) - min(finals)
    lowest = max(0.0, min(finals) - 1.5 * width - 1)  # the range in which they differ
    axis.set(xlabel="steps spent", ylim=(lowest, min(100.0, max(finals) + 0.2 * width + 1)))
