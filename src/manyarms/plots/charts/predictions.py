"""What the surrogate of the strategy predicts, and what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core import sign_of
from ...strategies.kit.beliefs import Predictions
from ..chart import BLUE, GRAY, ORANGE, SKY, Axis, Chart, Line, Panel, Points, empty_chart
from ..history import Floats

TITLE = "Predicted and measured rewards"
NOTE = (
    "The surrogate predicts each arm from the others, without its own rewards. Error bars show one standard deviation. Arms "
    "that are partly trained may still improve."
)


def predictions(found: Predictions | None, header: Mapping[str, Any]) -> Chart:
    """The final reward that the surrogate predicts for arms over the best reward that was measured.

    Args:
        found: What the strategy predicts; None if it predicts nothing.
        header: The header of the study.
    """
    if found is None or not len(found.arms):
        return empty_chart(TITLE, "Only AdaptiveMutantUCB with a surrogate makes predictions, and only after a few rewards.")
    zero, unit = _scale(header)
    measured, predicted = zero + unit * found.measured, zero + unit * found.predicted
    deviations = abs(unit) * found.deviations
    ends = [min(measured.min(), predicted.min()), max(measured.max(), predicted.max())]
    bars = _vertical(measured, predicted - deviations, predicted + deviations)
    layers: list[Line | Points] = [
        Line(np.array(ends), np.array(ends), "perfect prediction", GRAY, 1.0),
        Line(*bars, "", SKY, 1.5, opacity=0.7),
    ]
    for name, color, some in (("fully trained", BLUE, found.complete), ("partly trained", ORANGE, ~found.complete)):
        texts = [
            f"arm {arm}: predicted {p:.6g} ± {d:.2g}, measured {m:.6g}"
            for arm, p, d, m in zip(found.arms[some], predicted[some], deviations[some], measured[some], strict=True)
        ]
        if texts:
            layers.append(Points(measured[some], predicted[some], name, color, texts=texts, size=7))
    panel = Panel(Axis("measured reward"), Axis("predicted final reward"), tuple(layers))
    return Chart(TITLE, (panel,), note=NOTE)


def _vertical(x: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Vertical lines, with a gap after each."""
    gaps = np.full(len(x), np.nan)
    return np.column_stack([x, x, gaps]).ravel(), np.column_stack([low, high, gaps]).ravel()


def _scale(header: Mapping[str, Any]) -> tuple[float, float]:
    """The reward, as the function returned it, that is 0 for the strategy, and the change of it that is 1."""
    sign, bounds = sign_of(header.get("direction", "maximize")), header.get("bounds")
    if bounds is None:
        return 0.0, sign
    low, high = bounds if sign > 0 else bounds[::-1]
    return low, high - low
