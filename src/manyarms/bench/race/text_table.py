"""A table of text cells, for a terminal and as Markdown."""

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
class TextTable:
    """A table whose cells are text.

    Attributes:
        title: What the table shows.
        columns: Headings of the columns.
        rows: Cells of each row. The first one names the row.
        best: Cells to highlight, as pairs of row and column.
        sections: Rows that are followed by a gap.
        note: How to read the table.
        left: Number of columns that are aligned to the left. The others are aligned to the right.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: frozenset[tuple[int, int]] = frozenset()
    sections: frozenset[int] = frozenset()
    note: str = ""
    left: int = 1

    def rich(self) -> Group:
        """The table for a terminal."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for number, name in enumerate(self.columns):
            table.add_column(_text(name), justify="left" if number < self.left else "right", overflow="fold")
        for row, cells in enumerate(self.rows):
            styled = [_text(cell, "bold green" if (row, column) in self.best else "") for column, cell in enumerate(cells)]
            table.add_row(*styled, end_section=row in self.sections)
        return Group(_text(self.title, "bold"), table, *([_text(self.note, "dim")] if self.note else []))

    def markdown(self) -> str:
        """The table as Markdown."""
        rules = ["---" if number < self.left else "---:" for number in range(len(self.columns))]
        lines = [_line(self.columns), _line(rules)]
        for row, cells in enumerate(self.rows):
            lines.append(_line([f"**{cell}**" if (row, at) in self.best else cell for at, cell in enumerate(cells)]))
        return "\n".join([f"### {self.title}", "", *lines, *(["", self.note] if self.note else [])]) + "\n"


def _text(cell: str, style: str = "") -> Text:
    """A cell without control characters, because a result file may come from somebody else."""
    return Text(safe_text(cell, keep="\n"), style)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def number(value: float, digits: int = 1) -> str:
    """A number as a cell; a dash if it is not finite.

    >>> number(-0.04), number(1234.56), number(float("nan"))
    ('0.0', '1,234.6', '–')
    """
    return f"{round(value, digits) + 0.0:,.{digits}f}" if math.isfinite(value) else NOTHING


def plus_minus(mean: float, error: float, digits: int = 1) -> str:
    """A mean and its standard error as a cell.

    >>> plus_minus(3.14, 0.2), plus_minus(3.14, float("nan"))
    ('3.1 ± 0.2', '3.1')
    """
    return f"{number(mean, digits)} ± {number(error, digits)}" if math.isfinite(mean + error) else number(mean, digits)
