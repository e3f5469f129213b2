"""What the strategy believes about the leading arms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...strategies.kit.beliefs import Posteriors
from ..chart import PALETTE, Axis, Chart, Line, Panel, empty_chart
from ..history import Floats

TITLE = "Posteriors of the leading arms"
_POINTS = 300
_WIDE = 4.0  # standard deviations that are shown


def posteriors(found: Posteriors | None, header: Mapping[str, Any]) -> Chart:
    """The densities of the Beta distributions of the arms with the largest means.

    Args:
        found: The posteriors; None if the strategy has none.
        header: The header of the study.
    """
    if found is None or not len(found.arms):
        return empty_chart(TITLE, "Only DTTTS has posteriors, and only after the first reward.")
    means = found.a / (found.a + found.b)
    leading = np.argsort(-means, kind="stable")[: len(PALETTE)]
    a, b, means = found.a[leading], found.b[leading], means[leading]
    reach = _WIDE * np.sqrt(means * (1.0 - means) / (a + b + 1.0))
    x = np.linspace(max(1e-6, (means - reach).min()), min(1.0 - 1e-6, (means + reach).max()), _POINTS)
    layers = []
    for place, arm in enumerate(found.arms[leading].tolist()):
        pulls = a[place] + b[place] - 2.0
        label = f"arm {arm}: mean {means[place]:.4g} after {pulls:.0f} pull{'' if pulls == 1 else 's'}"
        texts = [label] * _POINTS
        layers.append(Line(x, _density(x, a[place], b[place]), f"arm {arm}", PALETTE[place], 2.0, texts=texts))
    left_out = len(found.arms) - len(leading)
    note = "A narrow curve means that the value of the arm is known well."
    note += f" {left_out:,} arms with smaller means are not shown." if left_out else ""
    panel = Panel(Axis("mean value (0 to 1)"), Axis("probability density"), tuple(layers))
    return Chart(TITLE, (panel,), note=note)


def _density(x: Floats, a: float, b: float) -> Floats:
    from scipy.special import betaln  # here: SciPy is slow to import

    density: Floats = np.exp((a - 1.0) * np.log(x) + (b - 1.0) * np.log1p(-x) - betaln(a, b))
    return density
