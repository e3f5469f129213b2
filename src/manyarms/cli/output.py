"""Prints results as tables and as JSON."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Collection
from typing import Any

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from ..safe_text import safe_text

_CONFIG_WIDTH = 28  # minimum width of the column "config", which wraps
_Cells = dict[str, list[Text]]  # a table, by column


def add_json(parser: argparse._ActionsContainer) -> None:
    """Add the option `--json`."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def print_json(value: Any) -> None:
    """Print a value as indented JSON."""
    print(json.dumps(value, indent=2, default=str))


def print_table(rows: list[dict[str, Any]], optional: Collection[str] = (), empty: str = "No rows.") -> None:
    """Print rows as a table. If the output is not a terminal, the table is as wide as necessary.

    On a terminal that is too narrow, the `optional` columns are omitted if they are empty in all rows. If that is not
    enough, each row is printed as a list.

    Args:
        rows: The rows, all with the same columns.
        optional: The columns that may be omitted.
        empty: The message if there are no rows.
    """
    if not rows:
        print(empty)
        return
    cells = {name: [_cell(row[name]) for row in rows] for name in rows[0]}
    console = Console()
    if not console.is_terminal:
        console = Console(width=_width(cells))
    elif _width(cells, _CONFIG_WIDTH) > console.width:
        cells = {name: column for name, column in cells.items() if name not in optional or any(row[name] for row in rows)}
    with console.capture() as drawn:
        if _width(cells, _CONFIG_WIDTH) <= console.width:
            console.print(_table(cells, rows[0]))
        else:
            for number in range(len(rows)):
                if number:
                    console.print()
                console.print(_list(cells, number))
    print(drawn.get(), end="")  # not by rich, which raises an error if the pipe is closed


def _table(cells: _Cells, first: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in cells:
        justify: JustifyMethod = "left" if isinstance(first[name], (str, list)) else "right"
        table.add_column(name, justify=justify, overflow="fold", no_wrap=name != "config")
    for row in zip(*cells.values(), strict=True):
        table.add_row(*row)
    return table


def _list(cells: _Cells, number: int) -> Table:
    """One row of a table, with a line for each column."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for name, column in cells.items():
        table.add_row(name, column[number])
    return table


def _width(cells: _Cells, config: float = math.inf) -> int:
    """The width of a table, with at most `config` characters for the column "config"."""
    widths = {name: max(cell_len(name), *(cell.cell_len for cell in column)) for name, column in cells.items()}
    if "config" in widths:
        widths["config"] = int(min(widths["config"], config))
    return sum(widths.values()) + 2 * (len(widths) - 1)


def _cell(value: Any) -> Text:
    if value is None or value == []:
        return Text("-")
    if isinstance(value, float):
        return Text(f"{value:.6g}")
    if isinstance(value, list):
        return Text(safe_text(",".join(map(str, value))))
    return Text(safe_text(value))  # rich would interpret markup in a plain string
