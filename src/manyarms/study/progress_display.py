"""Draws a report of a search: in a terminal with rich, and in a notebook as HTML."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..html.notebook import bar_html, text_html
from .progress_report import Report, head, lines, one_line

_NOTEBOOK_WIDTH = 120  # characters


class ReportDisplay:
    """The newest report, drawn as wide as the terminal is at that moment.

    Args:
        report: Returns the newest report. It is called each time that the display is drawn, from any thread.
    """

    def __init__(self, report: Callable[[], Report]) -> None:
        self._report = report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield drawn(self._report(), options.max_width)


def drawn(report: Report, width: int) -> Group:
    """A report in at most four lines of at most `width` columns."""
    name, bar, text = head(report, width)
    first = Table.grid(padding=(0, 1))
    cells = [Text(name, style="bold", no_wrap=True)]
    if bar:
        cells += [ProgressBar(1.0, min(report.fraction or 0.0, 1.0), width=bar)]  # type: ignore[list-item]
    first.add_row(*cells, Text(text, no_wrap=True))
    others = [Text(line, no_wrap=True, overflow="crop") for line in lines(report, width)]
    if report.failures:
        others[-1].stylize("red")
    return Group(first, *others)


def notebook_data(report: Report) -> dict[str, str]:
    """A report in the formats that notebooks display: lines of HTML, and one line of plain text."""
    name, _, text = head(report, _NOTEBOOK_WIDTH)
    bar = "" if report.fraction is None else f"{bar_html(report.fraction)} "
    first = f"<div><b>{text_html(name)}</b> {bar}{text_html(text)}</div>"
    others = (f'<div style="opacity:0.8">{text_html(line)}</div>' for line in lines(report, _NOTEBOOK_WIDTH))
    return {"text/plain": one_line(report), "text/html": f'<div style="line-height:1.4">{first}{"".join(others)}</div>'}
