"""Why pulls failed."""

from __future__ import annotations

import numpy as np

from ...safe_text import safe_text
from ..chart import RED, Axis, Bars, Chart, Panel, empty_chart
from ..history import History

TITLE = "Failures by reason"
_MOST, _LONG = 12, 48


def failures(history: History) -> Chart:
    """How many pulls failed for each reason.

    Args:
        history: The study.
    """
    if not history.reasons:
        return empty_chart(TITLE, "No pull has failed.")
    common = history.reasons.most_common(_MOST)[::-1]
    names = tuple(_shortened(safe_text(reason)) for reason, _ in common)
    counts = np.array([float(count) for _, count in common])
    bars = Bars(
        np.arange(len(names), dtype=float), counts, colors=RED, texts=[f"failed pulls: {count:,.0f}" for count in counts]
    )
    more = len(history.reasons) - len(common)
    note = f"{more:,} more {'reason is' if more == 1 else 'reasons are'} not shown." if more else ""
    panel = Panel(Axis("failed pulls", whole=True), Axis(categories=names), (bars,))
    return Chart(TITLE, (panel,), note=note, height=170 + 28 * len(names))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[: _LONG - 3]}..."
