"""`status`, `arms` and `best`: look at stored studies without touching them."""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import Any

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from .. import checks
from ..checkpoints import SEAL
from ..frames import arm_rows
from ..journal.sql import study_names
from ..spaces import to_json
from ..strategies import complete
from ..study import Study
from ..view import StudyView
from .stored import add_study, chosen_name, stored_study

_FAILURE = "most frequent failure"
_SELDOM = ("failed", "in flight", "retrained")
_FOLDED = 40  # characters of a config's line, at least

Cells = dict[str, list[Text]]
"""A table, by column."""


def add_commands(commands: Any) -> None:
    """Add `status`, `arms` and `best`."""
    status = commands.add_parser("status", help="how studies are going")
    add_study(status)
    _add_json(status)
    status.set_defaults(command=_status)
    arms = commands.add_parser("arms", help="the arms of a study, best first")
    add_study(arms)
    arms.add_argument("--top", type=int, default=20, help="how many to show (default: 20; 0 shows all)")
    _add_json(arms)
    arms.set_defaults(command=_arms)
    best = commands.add_parser("best", help="the recommended arm of a study")
    add_study(best)
    _add_json(best)
    best.set_defaults(command=_best)


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def _status(options: argparse.Namespace) -> int:
    names = [options.name] if options.name is not None else study_names(options.storage)
    rows = []
    for name in names:
        with stored_study(options.storage, name) as study:
            rows.append(summary(study))
    if options.json:
        _print_json(rows)
    else:
        print_table(rows)
        for row in rows:
            if row[_FAILURE]:
                print(f"{row['study']}: {_FAILURE}: {row[_FAILURE]}", file=sys.stderr)
    return 0


def _arms(options: argparse.Namespace) -> int:
    top = checks.whole("--top", options.top, 0)
    with stored_study(options.storage, chosen_name(options)) as study:
        rows = list(arm_rows(study.tally, study.max_steps))
        sign = 1 if study.header["direction"] == "maximize" else -1
    rows.sort(key=lambda row: (row["reward"] is not None, sign * (row["reward"] or 0.0)), reverse=True)
    shown = rows[: top or None]
    if options.json:
        _print_json(shown)
        return 0
    print_table([{**row, "config": json.dumps(row["config"])} for row in shown])
    if len(shown) < len(rows):
        print(f"{len(rows) - len(shown)} more arms: --top 0 shows all", file=sys.stderr)
    return 0


def _best(options: argparse.Namespace) -> int:
    with stored_study(options.storage, chosen_name(options)) as study:
        answer = best_arm(study)
    if options.json:
        _print_json(answer)
    else:
        for key, value in answer.items():
            print(f"{key}: {json.dumps(value) if key == 'config' else value}")
    return 0


def best_arm(study: StudyView) -> dict[str, Any]:
    """The recommended arm, and where its model is."""
    arm = study.best()
    record = study.tally.arms[arm.id]
    path = study.checkpoint_of(arm.id)
    return {
        "arm": arm.id,
        "reward": record.reward,
        "steps": record.steps,
        "config": arm.config,
        "checkpoint": str(path) if path is not None and (path / SEAL).exists() else None,
    }


def summary(study: StudyView) -> dict[str, Any]:
    """A study in one row."""
    tally = study.tally
    return {
        "study": study.name,
        "strategy": study.header["strategy"],
        "best": study.best_reward if tally.pulls else None,
        "arms": len(tally.arms),
        "steps": tally.steps,
        "budget": study.budget,
        "pulls": tally.pulls,
        "failed": tally.failures,
        "in flight": len(tally.in_flight),
        "retrained": tally.retrained,
        "seconds": round(tally.seconds, 1),
        _FAILURE: tally.reasons.most_common(1)[0][0] if tally.reasons else None,
    }


def print_status(study: Study) -> None:
    """What a search came to."""
    print_table([summary(study)])
    if study.tally.pulls:
        known = complete(study.strategy)
        space = known.book.space if known is not None else None
        print(f"best config: {json.dumps(to_json(space, study.best_config))}")


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, default=str))


def print_table(rows: list[dict[str, Any]]) -> None:
    """Rows as a table; where output is not a terminal, as wide as it needs to be.

    On a terminal too narrow for it, what seldom happens is left out if it did not; if that is not enough, rows become lists.
    """
    if not rows:
        print("nothing here yet")
        return
    cells = {name: [_cell(row[name]) for row in rows] for name in rows[0] if name != _FAILURE}
    console = Console()
    if not console.is_terminal:
        console = Console(width=_width(cells))
    elif _width(cells, _FOLDED) > console.width:
        cells = {name: column for name, column in cells.items() if name not in _SELDOM or any(row[name] for row in rows)}
    with console.capture() as drawn:
        if _width(cells, _FOLDED) <= console.width:
            console.print(_table(cells, rows[0]))
        else:
            for number in range(len(rows)):
                if number:
                    console.print()
                console.print(_list(cells, number))
    print(drawn.get(), end="")  # not by rich, which makes an error of a reader that has seen enough


def _table(cells: Cells, first: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in cells:
        justify: JustifyMethod = "left" if isinstance(first[name], (str, list)) else "right"
        table.add_column(name, justify=justify, overflow="fold", no_wrap=name != "config")
    for row in zip(*cells.values(), strict=True):
        table.add_row(*row)
    return table


def _list(cells: Cells, number: int) -> Table:
    """One row, a line for each column."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for name, column in cells.items():
        table.add_row(name, column[number])
    return table


def _width(cells: Cells, config: float = math.inf) -> int:
    """What a table takes, with so much for configs: they can be folded."""
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
        return Text(",".join(map(str, value)))
    return Text(str(value))  # a plain string would be read as markup, and :names: of emoji drawn
