"""Each arm as a line through its parameters."""

from __future__ import annotations

from collections.abc import Sequence

from ..chart import Axis, Chart, Dimension, empty_chart, thinned
from ..history import History
from ..parameters import parameters_of
from .slices import chosen

TITLE = "Parallel coordinates"
MOST_ARMS = 2_000


def parallel_coordinates(history: History, parameters: Sequence[str] | None = None) -> Chart:
    """Each arm as a line through its parameters and its best reward, which is also shown by its color.

    Args:
        history: The study.
        parameters: The names of the parameters, from left to right; all of them by default.
    """
    ranking = history.ranking()
    positions = ranking[thinned(len(ranking), MOST_ARMS)]
    found = chosen(parameters_of(history, positions), parameters)
    if not found:
        return empty_chart(TITLE, "No parameter varies between arms yet.")
    reward = Dimension(Axis("reward"), history.best_rewards()[positions])
    note = "" if len(positions) == len(ranking) else f"Shows {len(positions):,} of {len(ranking):,} arms."
    return Chart(TITLE, dimensions=(*(Dimension(p.axis, p.values) for p in found), reward), note=note)
