"""Numbers and charts of a report as text and HTML."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...html.parts import figure, paragraph
from ...plots import Chart
from ...plots.svg_figure import svg_figure


def number(value: Any) -> str:
    """A value as text; numbers with four digits.

    >>> number(0.123456), number(None), number(1234567.0), number(7)
    ('0.1235', '–', '1,234,567', '7')
    """
    if isinstance(value, (list, tuple)):
        return ", ".join(map(number, value)) or "–"
    if value is None or value == "" or (isinstance(value, float) and np.isnan(value)):
        return "–"
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if 1_000 <= abs(value) < 1e9 else f"{value:.4g}"


def score_text(value: float | None) -> str:
    """A score with four decimals, so that scores can be compared digit by digit.

    >>> score_text(0.96), score_text(-0.00001), score_text(51.43219), score_text(None)
    ('0.9600', '0.0000', '51.43', '–')
    """
    if value is None or np.isnan(value) or abs(value) >= 10:
        return number(value)
    return f"{round(value, 4) + 0.0:.4f}"  # adding 0 removes the sign of -0


def drawn(name: str, chart: Chart) -> str:
    """A chart without a title, because the heading of its section is the title."""
    html = svg_figure(chart)
    if not html:
        return paragraph(chart.note or "There is nothing to draw.")
    return f'<div class="card chart" id="chart-{name}"><div class="frame">{html}</div></div>'


def figures(drawings: Iterable[tuple[str, str, str, Chart]], kind: str = "three") -> str:
    """Charts side by side, each with an id, a title and a note; up to three in a row, or two if `kind` is empty."""
    narrow = kind == "three"
    parts = [figure(name, title, note or chart.note, svg_figure(chart, narrow)) for name, title, note, chart in drawings]
    return f'<div class="charts {kind}">{"".join(parts)}</div>'
