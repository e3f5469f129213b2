"""Which entrants differ in rank by more than chance: Friedman's test, Nemenyi's critical difference, and Demšar's diagram.

Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from .entrants import CHAMPION

ALPHA = 0.05


def critical_difference(k: int, n: int, alpha: float = ALPHA) -> float:
    """Mean ranks of k entrants on n problems that differ by more are different (Nemenyi; Demšar, section 3.2.2).

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    q = stats.studentized_range.ppf(1 - alpha, k, math.inf) / math.sqrt(2)
    return float(q * math.sqrt(k * (k + 1) / (6 * n)))


def friedman(ranks: pd.DataFrame) -> float:
    """The probability that ranks differ so much by chance: Iman and Davenport's F, with ties counted as Conover does.

    Args:
        ranks: a row for each problem, a column for each entrant.
    """
    values = ranks.to_numpy(float)
    n, k = values.shape
    total = (values**2).sum()
    middle = n * k * (k + 1) ** 2 / 4
    between = (values.sum(axis=0) ** 2).sum() / n - middle
    within = total - middle - between
    if within <= 1e-12 * total:  # every problem ranks them alike
        return 0.0 if between > 1e-12 * total else 1.0
    return float(stats.f.sf((n - 1) * between / within, k - 1, (n - 1) * (k - 1)))


def groups(means: Sequence[float], distance: float) -> list[tuple[int, int]]:
    """The longest runs of ascending mean ranks that lie within a distance, as first and last place; runs of one are left out.

    >>> groups([1.0, 1.5, 2.2, 4.0], 1.25)
    [(0, 2)]
    """
    runs: list[tuple[int, int]] = []
    for first, rank in enumerate(means):
        last = max(place for place, other in enumerate(means) if other - rank <= distance)
        if last > first and not any(last <= end for _, end in runs):
            runs.append((first, last))
    return runs


def draw_differences(ranks: pd.DataFrame, mark: int, peers: Collection[str] = ()) -> Figure:
    """Mean ranks on a line, best to the left; those that a bar joins do not differ by more than the critical difference.

    Args:
        ranks: a row for each problem, a column for each entrant.
        mark: the full trainings that it shows.
        peers: entrants whose names are written in blue.
    """
    means = ranks.mean().sort_values()
    (n, k), distance = ranks.shape, critical_difference(ranks.shape[1], ranks.shape[0])
    bars = groups(means.tolist(), distance)
    left = math.ceil(k / 2)
    lowest = math.floor(means.iloc[0])
    highest = max(math.ceil(means.iloc[-1]), lowest + 1)
    depth = 0.5 + 0.3 * len(bars)  # of the first name below the line
    height = depth + 0.55 * left
    figure = Figure(figsize=(8.5, 0.42 * (height + 2.4)), layout="constrained")
    axes = figure.subplots()
    span = highest - lowest
    axes.set_xlim(lowest - 0.32 * span, highest + 0.32 * span)
    axes.set_ylim(-height, 2.0)
    axes.axis("off")
    _draw_scale(axes, lowest, highest, distance)
    for place, (name, rank) in enumerate(means.items()):
        on_left = place < left
        level = -depth - 0.55 * (place if on_left else k - 1 - place)
        edge = lowest - 0.04 * span if on_left else highest + 0.04 * span
        _draw_name(axes, str(name), float(rank), level, edge, name in peers)
    for number, (first, last) in enumerate(bars):
        y = -0.35 - 0.3 * number
        axes.plot([means.iloc[first] - 0.006 * span, means.iloc[last] + 0.006 * span], [y, y], color="black", linewidth=3.5)
    chance = friedman(ranks)
    title = f"Mean rank after {mark} full trainings, {n} problems"
    if chance > ALPHA:
        title += f": no difference is significant (Friedman, p = {chance:.2f})"
    axes.set_title(title, fontsize=10, loc="left", fontweight="bold")
    return figure


def _draw_scale(axes: Axes, lowest: int, highest: int, distance: float) -> None:
    axes.plot([lowest, highest], [0, 0], color="black", linewidth=1)
    for tick in range(lowest, highest + 1):
        axes.plot([tick, tick], [0, 0.18], color="black", linewidth=1)
        axes.text(tick, 0.3, str(tick), ha="center", va="bottom", fontsize=9)
    axes.plot([lowest, lowest + distance], [1.35, 1.35], color="0.4", linewidth=1.5, marker="|", markersize=6)
    words = f"critical difference {distance:.2f}"
    axes.text(lowest + distance / 2, 1.5, words, ha="center", va="bottom", fontsize=8, color="0.3")


def _draw_name(axes: Axes, name: str, rank: float, level: float, edge: float, peer: bool) -> None:
    """A line from the rank on the scale down to the name at the edge."""
    colour, weight = "#0072b2" if peer else "black", "bold" if name == CHAMPION else "normal"
    axes.plot([rank, rank, edge], [0, level, level], color="0.35", linewidth=1.6 if name == CHAMPION else 0.8)
    on_left = edge < rank
    text = f"{name}  {rank:.2f} " if on_left else f" {rank:.2f}  {name}"
    side = "right" if on_left else "left"
    axes.text(edge, level, text, ha=side, va="center", fontsize=9, color=colour, fontweight=weight)
