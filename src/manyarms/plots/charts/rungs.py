"""How far arms were trained, and what that cost."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..chart import BLUE, SKY, Axis, Bars, Chart, Panel, empty_chart
from ..history import History

TITLE = "How far arms were trained"
_MOST_ROWS = 30


def rungs(history: History) -> Chart:
    """For each number of steps at which pulls end: how many arms got there, and how many steps were spent to get them there.

    Args:
        history: The study.
    """
    start, stop = history.column("start"), history.column("stop")
    told = ~np.isnan(history.column("reward"))
    if not told.any():
        return empty_chart(TITLE, "No pull has ended with a reward yet.")
    levels, arms = np.unique(stop[told], return_counts=True)
    spent = np.array([(stop - start)[told & (stop == level)].sum() for level in levels])
    note = "Failed pulls are not included." if not told.all() else ""
    if len(levels) > _MOST_ROWS:
        edges = np.unique(np.linspace(0, len(levels), _MOST_ROWS + 1).round().astype(int))
        names = tuple(f"{levels[a]:.0f} to {levels[b - 1]:.0f}" for a, b in pairwise(edges))
        arms, spent = np.add.reduceat(arms, edges[:-1]), np.add.reduceat(spent, edges[:-1])
    else:
        names = tuple(f"{level:.0f}" for level in levels)
    y = np.arange(len(names), dtype=float)
    left = Bars(y, arms.astype(float), colors=SKY, texts=[f"pulls: {count:,}" for count in arms])
    right = Bars(y, spent, colors=BLUE, texts=[f"steps: {steps:,.0f}" for steps in spent])
    axis = Axis("step at which a pull ended", categories=names)
    panels = Panel(Axis("pulls", whole=True), axis, (left,)), Panel(Axis("steps spent", whole=True), axis, (right,))
    return Chart(TITLE, panels, note=note, height=170 + 24 * len(names))
