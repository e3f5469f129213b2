"""`status`, `arms` and `best`: look at stored studies without touching them."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from .. import checks
from ..checkpoints import is_checkpoint
from ..checkpoints.location import directories, find_checkpoint
from ..checkpoints.names import is_name
from ..journal.sql import SqlJournal
from ..journal.storage import study_names
from ..journal.totals import StoredArm, Totals, arm_count, arms, best_arms, totals
from ..safe_text import safe_text
from ..study.frames import arm_status
from .stored import add_study, chosen_name, recommendation_of, stored_journal
from .terminal import show

if TYPE_CHECKING:
    from ..study.study import Study

_FAILURE = "most frequent failure"
_SELDOM = ("failed", "in flight", "retrained")
_FOLDED = 28  # characters of a config's line, at least

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
        with stored_journal(options.storage, name) as journal:
            counts = totals(journal)
            best = recommendation_of(journal)[0] if counts.pulls else None
            rows.append(_summary(name, journal.header or {}, counts, None if best is None else best.reward))
    if options.json:
        _print_json(rows)
    else:
        print_table(rows)
        for row in rows:
            if row[_FAILURE]:
                show(f"{row['study']}: {_FAILURE}: {row[_FAILURE]}", file=sys.stderr)
    return 0


def _arms(options: argparse.Namespace) -> int:
    top = checks.whole("--top", options.top, 0)
    with stored_journal(options.storage, chosen_name(options)) as journal:
        max_steps = ((journal.header or {})["settings"] or {}).get("max_steps")
        recommended = recommendation_of(journal)[0]
        found = best_arms(journal, top or None, recommended is not None and recommended.by_mean)
        if recommended is not None:
            found = _with_first(found, recommended.arm, journal)
        rows = [_arm_row(arm, max_steps) for arm in found]
        more = arm_count(journal) - len(rows)
    if options.json:
        _print_json(rows)
        return 0
    shown = [
        {name: value for name, value in row.items() if name != "reward"} for row in rows
    ]  # the last one: best is worth more
    print_table([{**row, "config": json.dumps(row["config"])} for row in shown])
    if more > 0:
        print(f"{more} more arms: --top 0 shows all", file=sys.stderr)
    return 0


def _with_first(found: list[StoredArm], arm: int, journal: SqlJournal) -> list[StoredArm]:
    """The arms with the recommended one first, which by the rule of a strategy need not have the best reward."""
    first = [known for known in found if known.arm == arm] or arms(journal, [arm])
    return [*first, *(known for known in found if known.arm != arm)][: len(found)]


def _arm_row(arm: StoredArm, max_steps: int | None) -> dict[str, Any]:
    return {
        "arm": arm.arm,
        "parents": list(arm.parents),
        "steps": arm.steps,
        "reward": arm.reward,
        "best": arm.best_reward,
        "best step": arm.best_step if arm.best_reward is not None else None,
        "status": arm_status(arm.last_event == "asked", arm.last_event == "failed", arm.steps, max_steps),
        "config": arm.config,
    }


def _best(options: argparse.Namespace) -> int:
    with stored_journal(options.storage, chosen_name(options), check=True) as journal:
        best, note = recommendation_of(journal)
        if best is None:
            from ..study.view import load_study

            load_study(journal, journal.name).best()  # says why there is none
            return 1
        arm = arms(journal, [best.arm])[0]
        saved = arm.checkpoint if best.by_mean or arm.best_checkpoint is None else arm.best_checkpoint
        places = directories(journal, journal.header or {})
        known = saved is not None and is_name(saved)  # anything may be in the database of a stranger
        path = find_checkpoint(places, saved or "") if known else None
    answer = {
        "arm": arm.arm,
        "reward": best.reward,
        "best step": best.step,
        "steps": arm.steps,
        "config": arm.config,
        "checkpoint": str(path) if path is not None and is_checkpoint(path) else None,
    }
    if options.json:
        _print_json(answer)
    else:
        for key, value in answer.items():
            show(f"{key}: {json.dumps(value) if key == 'config' else value}")
    if note is not None:
        print(note, file=sys.stderr)
    return 0


def _summary(name: str, header: Mapping[str, Any], counts: Totals, best: float | None) -> dict[str, Any]:
    """A study in one row."""
    return {
        "study": name,
        "strategy": header["strategy"],
        "best": best,
        "arms": counts.arms,
        "steps": counts.steps,
        "budget": counts.budgets[-1],
        "pulls": counts.pulls,
        "failed": counts.failures,
        "in flight": counts.in_flight,
        "retrained": counts.retrained,
        "seconds": round(counts.seconds, 1),
        _FAILURE: counts.reason,
    }


def print_status(study: Study) -> None:
    """The result of a search."""
    from ..spaces import to_json
    from ..strategies import extended

    best = study.best_reward if study.counts.pulls else None
    print_table([_summary(study.name, study.header, _totals_of(study), best)])
    if study.counts.pulls:
        known = extended(study.strategy)
        space = known.ledger.space if known is not None else None
        print(f"best config: {json.dumps(to_json(space, study.best_config))}")


def _totals_of(study: Study) -> Totals:
    """The counts of a study that is open."""
    counts = study.counts
    return Totals(
        arms=len(counts.arms),
        pulls=counts.pulls,
        failures=counts.failures,
        in_flight=len(counts.in_flight),
        steps=counts.steps,
        seconds=counts.seconds,
        retrained=counts.retrained,
        reason=counts.reasons.most_common(1)[0][0] if counts.reasons else None,
        budgets=(study.budget,),
    )


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
        return Text(safe_text(",".join(map(str, value))))
    return Text(safe_text(value))  # a plain string would be read as markup, and :names: of emoji drawn
