"""A table as text: for a terminal, and as Markdown for a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ...safe_text import safe_text

NOTHING = "–"


@dataclass(frozen=True)
class Sheet:
    """A table of cells that are made already.

    Attributes:
        title: what it shows.
        columns: their headings.
        rows: the first cell of each names it.
        best: cells to stand out, by row and column.
        sections: rows after which there is a gap.
        left: so many columns are aligned to the left, the others to the right.
        note: how to read it.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: frozenset[tuple[int, int]] = frozenset()
    sections: frozenset[int] = frozenset()
    note: str = ""
    left: int = 1

    def rich(self) -> Group:
        """For a terminal."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for number, name in enumerate(self.columns):
            table.add_column(_text(name), justify="left" if number < self.left else "right", overflow="fold")
        for row, cells in enumerate(self.rows):
            styled = [_text(cell, "bold green" if (row, column) in self.best else "") for column, cell in enumerate(cells)]
            table.add_row(*styled, end_section=row in self.sections)
        return Group(_text(self.title, "bold"), table, *([_text(self.note, "dim")] if self.note else []))

    def markdown(self) -> str:
        """For a page."""
        rules = ["---" if number < self.left else "---:" for number in range(len(self.columns))]
        lines = [_line(self.columns), _line(rules)]
        for row, cells in enumerate(self.rows):
            lines.append(_line([f"**{cell}**" if (row, at) in self.best else cell for at, cell in enumerate(cells)]))
        return "\n".join([f"### {self.title}", "", *lines, *(["", self.note] if self.note else [])]) + "\n"


def _text(cell: str, style: str = "") -> Text:
    """Names in a file of results may be somebody else's."""
    return Text(safe_text(cell, keep="\n"), style)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def number(value: float, digits: int = 1) -> str:
    """As a cell; a dash where there is none.

    >>> number(-0.04), number(1234.56), number(float("nan"))
    ('0.0', '1,234.6', '–')
    """
    return f"{round(value, digits) + 0.0:,.{digits}f}" if math.isfinite(value) else NOTHING


def plus_minus(mean: float, error: float, digits: int = 1) -> str:
    """Mean ± standard error.

    >>> plus_minus(3.14, 0.2), plus_minus(3.14, float("nan"))
    ('3.1 ± 0.2', '3.1')
    """
    return f"{number(mean, digits)} ± {number(error, digits)}" if math.isfinite(mean + error) else number(mean, digits)
