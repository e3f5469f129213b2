"""How the pulls are divided among algorithms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..chart import GRAY, PALETTE, Chart, empty_chart
from ..history import History
from .decisions import shares

TITLE = "Pulls by algorithm"


def algorithms(history: History) -> Chart:
    """The share of the pulls of each algorithm over the steps: of the children of a `Cascade`, or the parts of a `Joint` space.

    Args:
        history: The study.
    """
    names = [_algorithm(config) for config in history.configs]
    known = list(dict.fromkeys(name for name in names if name is not None))
    if not known or not history.pulls:
        return empty_chart(TITLE, "This needs a Cascade or a Joint space, and a pull that has ended.")
    order = {name: place for place, name in enumerate(known)}
    arms = np.array([order.get(name, -1) for name in names])  # type: ignore[arg-type]
    pulls = arms[history.column("arm").astype(int)]
    totals = np.bincount(pulls[pulls >= 0], minlength=len(known))
    largest = np.argsort(-totals, kind="stable")[: len(PALETTE)]
    kinds = {known[place]: (pulls == place, PALETTE[rank]) for rank, place in enumerate(largest)}
    if len(known) > len(largest):
        kinds[f"{len(known) - len(largest)} others"] = ~np.isin(pulls, largest), GRAY
    return shares(TITLE, history, kinds)


def _algorithm(config: Any) -> str | None:
    name = config.get("algorithm") if isinstance(config, dict) else None
    return name if isinstance(name, str) else None
