"""The reward over two parameters."""

from __future__ import annotations

import numpy as np

from ... import checks
from ..chart import Chart, Panel, Points, Surface, empty_chart, thinned
from ..history import Floats, History
from ..parameters import Forest, Parameter
from .importance import FEWEST_ARMS

TITLE = "Predicted reward by two parameters"
MOST_POINTS = 1_000
_GRID = 25


def contour(history: History, x: str | None = None, y: str | None = None, forest: Forest | None = None) -> Chart:
    """The reward that a random forest predicts for fully trained arms over two parameters, and the arms that were tried.

    Args:
        history: The study.
        x, y: Names of the parameters; by default, the two that matter most.
        forest: The forest, if it was fitted already.
    """
    if len(history.ranking()) < FEWEST_ARMS:
        return empty_chart(TITLE, f"This needs at least {FEWEST_ARMS} arms with a reward.")
    forest = forest or Forest(history, most=2_000)
    names = [parameter.name for parameter in forest.parameters]
    if len(names) < 2:
        return empty_chart(TITLE, "This chart needs at least two parameters that vary between arms.")
    ranked = [names[place] for place in np.argsort(-forest.importances()[0], kind="stable")]
    for label, name in (("x", x), ("y", y)):
        if name is not None:
            checks.one_of(label, name, names)
    x = x or next(name for name in ranked if name != y)
    y = y or next(name for name in ranked if name != x)
    first, second = names.index(x), names.index(y)
    across, up = forest.parameters[first], forest.parameters[second]
    xs, ys = _grid(across), _grid(up)
    shown = thinned(len(forest.positions), MOST_POINTS)
    texts = [f"arm {history.id_of(forest.positions[place])}: {forest.rewards[place]:.6g}" for place in shown]
    tried = Points(across.values[shown], up.values[shown], color="#202020", texts=texts, size=4, opacity=0.6)
    panel = Panel(across.axis, up.axis, (Surface(xs, ys, forest.surface(first, second, xs, ys), "predicted reward"), tried))
    note = f"Colors show the mean prediction of a random forest for fully trained arms. {forest.note}".strip()
    return Chart(TITLE, (panel,), note=note)


def _grid(parameter: Parameter) -> Floats:
    """Values over the range of a parameter."""
    if parameter.axis.categories is not None:
        return np.arange(len(parameter.axis.categories), dtype=float)
    low, high = np.nanmin(parameter.values), np.nanmax(parameter.values)
    return np.geomspace(low, high, _GRID) if parameter.axis.log else np.linspace(low, high, _GRID)
