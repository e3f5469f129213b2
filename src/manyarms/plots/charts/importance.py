"""How much each parameter matters for the reward."""

from __future__ import annotations

import numpy as np

from ..chart import Axis, Bars, Chart, Panel, empty_chart
from ..history import History
from ..parameters import Forest

TITLE = "Importance of parameters"
FEWEST_ARMS = 10
"""Number of arms with a reward that importance needs at least."""


def importance(history: History, forest: Forest | None = None) -> Chart:
    """How much each parameter matters: permutation importance in a random forest that predicts rewards.

    Args:
        history: The study.
        forest: The forest, if it was fitted already.
    """
    if len(history.ranking()) < FEWEST_ARMS:
        return empty_chart(TITLE, f"This needs at least {FEWEST_ARMS} arms with a reward.")
    forest = forest or Forest(history)
    if not forest.parameters:
        return empty_chart(TITLE, "There are no parameters with different values.")
    mean, deviation = forest.importances()
    order = np.argsort(mean, kind="stable")
    names = tuple(forest.parameters[place].name for place in order)
    bars = Bars(
        np.arange(len(names), dtype=float),
        100 * mean[order],
        errors=100 * deviation[order],
        texts=[f"{100 * share:.1f} %" for share in mean[order]],
    )
    panel = Panel(Axis("share of importance in %"), Axis(categories=names), (bars,))
    note = (
        "Shows how much worse a random forest predicts the rewards if a parameter is shuffled. Lines are standard deviations."
    )
    return Chart(TITLE, (panel,), note=f"{note} {forest.note}".strip(), height=170 + 28 * len(names))
