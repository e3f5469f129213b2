"""How the strategy scores its arms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...strategies.kit.scores import Scores
from ..chart import BLUE, SKY, Axis, Bars, Chart, Panel, empty_chart
from ..history import Floats

TITLE = "Value and exploration bonus"
MOST_ROWS = 50
_PLURALS = {"arm": "arms", "child": "children", "region": "regions"}


def scores(found: Scores | None, header: Mapping[str, Any]) -> Chart:
    """The value and the bonus of the arms, children or regions with the largest sums, as bars on top of each other.

    Args:
        found: The scores; None if it does not choose by scores.
        header: The header of the study.
    """
    if found is None:
        return empty_chart(TITLE, "This strategy does not score arms, or its state could not be rebuilt.")
    if not len(found.names):
        return empty_chart(TITLE, "There are no scores yet.")
    order = np.argsort(-found.sums, kind="stable")[:MOST_ROWS][::-1]
    y = np.arange(len(order), dtype=float)
    values, sums = found.values[order], found.sums[order]
    start = _start(values, sums)
    labels = tuple(found.names[place] if found.rows == "child" else f"{found.rows} {found.names[place]}" for place in order)
    texts = [f"{label}: {found.value} {value:.6g}" for label, value in zip(labels, values, strict=True)]
    bars = [Bars(y, values - start, np.full(len(y), start), colors=BLUE, texts=texts, name=found.value)]
    if found.bonuses is not None:
        texts = [f"{label}: {total:.6g} with the {found.bonus}" for label, total in zip(labels, sums, strict=True)]
        bars.append(Bars(y, sums - values, values, colors=SKY, texts=texts, name=found.bonus))
    left_out = len(found.names) - len(order)
    notes = [f"Shows the {len(order)} highest of {len(found.names):,} {_PLURALS[found.rows]}."] if left_out else []
    notes += ["Rewards are negated, because the study minimizes them."] if header.get("direction") == "minimize" else []
    notes += ["The axis does not start at 0."] if start else []
    panel = Panel(Axis(f"{found.value} (larger is better)"), Axis(categories=labels), tuple(bars))
    return Chart(TITLE, (panel,), note=" ".join(notes), height=170 + 17 * len(order))


def _start(values: Floats, sums: Floats) -> float:
    """Where the bars begin: at 0, or near the smallest value if differences would otherwise be too small to see."""
    low, high = float(values.min()), float(sums.max())
    span = high - low
    return 0.0 if 0.0 <= low <= 3.0 * span or not span else low - 0.1 * span
