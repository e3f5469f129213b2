"""How much each parameter matters for the reward."""

from __future__ import annotations

import numpy as np

from ..chart import Axis, Bars, Chart, Panel, empty_chart
from ..history import History
from ..parameters import Forest

TITLE = "Parameter importance"
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
        return empty_chart(TITLE, "No parameter varies between arms.")
    mean, deviation = forest.importances()
    order = np.argsort(mean, kind="stable")
    names = tuple(forest.parameters[place].name for place in order)
    bars = Bars(
        np.arange(len(names), dtype=float),
        100 * mean[order],
        errors=100 * deviation[order],
        texts=[f"{100 * share:.1f}%" for share in mean[order]],
    )
    panel = Panel(Axis("importance (% of the total)"), Axis(categories=names), (bars,))
    note = (
        "How much worse a random forest predicts the rewards when the values of a parameter are shuffled. Error bars show one "
        "standard deviation."
    )
    return Chart(TITLE, (panel,), note=f"{note} {forest.note}".strip(), height=170 + 28 * len(names))
