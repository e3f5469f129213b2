"""What the strategy thinks of its arms."""

from __future__ import annotations

import numpy as np

from ...strategies.kit.scores import Scores
from ..chart import BLUE, SKY, Axis, Chart, Line, Panel, Points, empty_chart

TITLE = "What the strategy thinks"
MOST_ROWS = 30


def scores(found: Scores | None) -> Chart:
    """The value and the bonus of the arms, children or regions with the largest sums.

    Args:
        found: What the strategy thinks; None if it does not choose by scores.
    """
    if found is None:
        return empty_chart(TITLE, "This strategy does not choose by a score of each arm, or it cannot be restored.")
    if not len(found.names):
        return empty_chart(TITLE, "There are no scores yet.")
    order = np.argsort(-found.sums, kind="stable")[:MOST_ROWS][::-1]
    y = np.arange(len(order), dtype=float)
    values, sums = found.values[order], found.sums[order]
    labels = tuple(found.names[place] if found.rows == "child" else f"{found.rows} {found.names[place]}" for place in order)
    layers: tuple[Line | Points, ...] = (Points(values, y, found.value, BLUE, texts=[f"{v:.6g}" for v in values], size=9),)
    if found.bonuses is not None:
        gaps = np.full(len(order), np.nan)
        across = np.column_stack([values, sums, gaps]).ravel()
        up = np.column_stack([y, y, gaps]).ravel()
        texts = [f"with the {found.bonus}: {total:.6g}" for total in sums for _ in range(3)]
        layers = (Line(across, up, found.bonus, SKY, 4, texts=texts), *layers)
    plural = {"arm": "arms", "child": "children", "region": "regions"}[found.rows]
    note = "" if len(order) == len(found.names) else f"Shows the first {len(order)} of {len(found.names):,} {plural}."
    panel = Panel(Axis(f"{found.value} (larger is better)"), Axis(categories=labels), layers)
    return Chart(TITLE, (panel,), note=note, height=170 + 20 * len(order))
