"""What kinds of pulls the strategy chose."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..chart import BLUE, GREEN, ORANGE, Axis, Chart, Line, Panel, empty_chart
from ..history import History

TITLE = "Kinds of pulls"
_WINDOWS = 60
_FEWEST = 10  # pulls in a window


def decisions(history: History) -> Chart:
    """The share of the pulls that continued an arm, started a mutant or started a new arm, over the steps of the search.

    Args:
        history: The study.
    """
    start = history.column("start")
    if not len(start):
        return empty_chart(TITLE, "No pull has ended yet.")
    has_parents = np.array([bool(parents) for parents in history.parents])[history.column("arm").astype(int)]
    kinds = {
        "continues an arm": (start > 0, BLUE),
        "starts a mutant": ((start == 0) & has_parents, ORANGE),
        "starts a new arm": ((start == 0) & ~has_parents, GREEN),
    }
    return shares(TITLE, history, kinds)


def shares(title: str, history: History, kinds: Mapping[str, tuple[NDArray[np.bool_], str]]) -> Chart:
    """A line for each kind: its share of the pulls, over the steps of the search.

    Args:
        title: The title of the chart.
        history: The study, with at least one pull that has ended.
        kinds: Which pulls are of each kind, and its color, by name.
    """
    start, stop = history.column("start"), history.column("stop")
    size = max(_FEWEST, -(-len(start) // _WINDOWS))
    begins = np.arange(0, len(start), size)
    at = np.cumsum(stop - start)[np.minimum(begins + size, len(start)) - 1]
    pulls = np.add.reduceat(np.ones(len(start)), begins)
    layers = tuple(
        Line(at, 100 * np.add.reduceat(chosen.astype(float), begins) / pulls, name, color, 2.5)
        for name, (chosen, color) in kinds.items()
    )
    return Chart(title, (Panel(Axis("training steps"), Axis("share of pulls (%)"), layers),))
