"""What runs add up to: means, steps until an accuracy, tables in Markdown, and accuracy over time."""

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
    """The best accuracy after so many steps; NaN before the first."""
    return next((accuracy for point, accuracy in reversed(curve) if point <= spent), math.nan)


def steps_until(curve: Curve, level: float) -> int | None:
    """The steps after which an accuracy was reached; None if it never was."""
    return next((spent for spent, accuracy in curve if accuracy >= level), None)


def spread(values: Sequence[float], digits: int = 0) -> str:
    """Mean ± standard error; of a single value no error, of none nothing."""
    return common.plus_minus(values, digits).replace(" ± nan", "") if values else ""


def percent(values: Sequence[float]) -> str:
    """The spread of accuracies, in %."""
    return spread([100 * value for value in values], 2)


def mean(values: Sequence[float]) -> str:
    """Rounded; nothing of none."""
    return f"{common.mean_and_error(values)[0]:,.0f}" if values else ""


def markdown(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table, its first column left-aligned, the others right."""
    lines = [columns, ["---", *["--:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def together(curves: Sequence[Curve], budget: int) -> tuple[Array, Array]:
    """The steps from where all curves have begun, and a row for each curve: its accuracy after so many."""
    places = np.arange(max(curve[0][0] for curve in curves), budget + 1)
    return places, np.array([[at(curve, place) for place in places] for curve in curves])


def mean_curve(curves: Sequence[Curve], budget: int) -> Curve:
    """The mean over the seeds, from where all have begun.

    >>> mean_curve([[(1, 0.2), (3, 0.5)], [(2, 0.4)]], 4)
    [(2, 0.3), (3, 0.45), (4, 0.45)]
    """
    places, values = together(curves, budget)
    return list(zip(places.tolist(), values.mean(axis=0).round(9).tolist(), strict=True))


def draw_curves(axis: Any, curves: Mapping[str, Sequence[Curve]], budget: int) -> None:
    """The mean over the seeds of each method's curves, from where all have begun, with its standard error."""
    for number, (name, several) in enumerate(curves.items()):
        places, shares = together(several, budget)
        values = 100 * shares
        middle = values.mean(axis=0)
        colour = common.COLOURS[number % len(common.COLOURS)]
        axis.plot(places, middle, color=colour, label=name, linewidth=2 if "Mutant" in name else 1.2)
        if len(several) > 1:
            error = values.std(axis=0, ddof=1) / math.sqrt(len(several))
            axis.fill_between(places, middle - error, middle + error, color=colour, alpha=0.12, linewidth=0)
    finals = [100 * curve[-1][1] for several in curves.values() for curve in several]
    width = max(finals) - min(finals)
    lowest = max(0.0, min(finals) - 1.5 * width - 1)  # where they differ
    axis.set(xlabel="steps spent", ylim=(lowest, min(100.0, max(finals) + 0.2 * width + 1)))
