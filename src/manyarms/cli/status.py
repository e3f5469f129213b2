"""`status`: show the progress of the studies in a storage."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import checks
from ..journal.storage import study_names
from ..journal.totals import Totals, totals
from ..study.summary import limits_of
from .output import add_json, print_json, print_table
from .studies import add_study, recommendation_of, stored_journal
from .terminal import print_line

if TYPE_CHECKING:
    from ..study import Study

_EVERY = 2  # seconds between readings with --watch
_FAILURE = "most frequent failure"
_OPTIONAL = ("failed", "in flight", "retrained")
_BUDGETS = {"seconds": "budget in seconds", "cost": "budget in cost"}
"""The columns of the limits besides steps, which few studies have."""


def add_command(commands: Any) -> None:
    """Add `status`."""
    status = commands.add_parser(
        "status",
        help="show the progress of studies",
        description="Show the progress of the studies in a storage, one row for each study.",
    )
    add_study(status, "name of a study (default: all studies)")
    shown = status.add_mutually_exclusive_group()
    add_json(shown)
    shown.add_argument(
        "--watch",
        action="store_true",
        help="keep the progress on screen until Ctrl-C; if the output is not a terminal, print a line for each change",
    )
    status.add_argument(
        "--every", metavar="TIME", help=f'with --watch: time between updates, such as "10s" (default: {_EVERY}s)'
    )
    status.set_defaults(command=_status)


def _status(options: argparse.Namespace) -> int:
    if options.watch:
        from .watch import watch  # here: it imports the live display of rich, which takes time

        watch(options.storage, options.name, _seconds(options.every))
    if options.every is not None:
        raise ValueError("--every needs --watch")
    names = [options.name] if options.name is not None else study_names(options.storage)
    rows = []
    for name in names:
        with stored_journal(options.storage, name) as journal:
            counts = totals(journal)
            best = recommendation_of(journal)[0] if counts.pulls else None
            rows.append(_row(name, journal.header or {}, counts, None if best is None else best.reward))
    if options.json:
        print_json(rows)
        return 0
    _print_rows(rows)
    for row in rows:
        if row[_FAILURE]:
            print_line(f"{row['study']}: {_FAILURE}: {row[_FAILURE]}", file=sys.stderr)
    return 0


def _seconds(every: str | None) -> float:
    """The time between updates: a number of seconds, or a string such as "10s"."""
    if every is None:
        return _EVERY
    return checks.seconds("--every", f"{every}s" if every.replace(".", "", 1).isdecimal() else every)


def print_result(study: Study) -> None:
    """Print the status of an open study, and its best config."""
    from ..spaces import to_json  # here: they import NumPy, which takes time and `status` does not need
    from ..strategies import extended

    best = study.best_reward if study.counts.pulls else None
    _print_rows([_row(study.name, study.header, _totals_of(study), best)])
    if study.counts.pulls:
        strategy = extended(study.strategy)
        space = None if strategy is None else strategy.ledger.space
        print_line(f"best config: {json.dumps(to_json(space, study.best_config))}")


def _print_rows(rows: list[dict[str, Any]]) -> None:
    hidden = {_FAILURE} | {name for name in _BUDGETS.values() if all(row[name] is None for row in rows)}
    print_table(
        [{name: value for name, value in row.items() if name not in hidden} for row in rows], _OPTIONAL, "No studies yet."
    )


def _row(name: str, header: Mapping[str, Any], counts: Totals, best: float | None) -> dict[str, Any]:
    """One study as a row of the table."""
    limits = limits_of(header, counts.changed_limits)
    return {
        "study": name,
        "strategy": header["strategy"],
        "best": best,
        "arms": counts.arms,
        "steps": counts.steps,
        "budget": None if limits is None else limits.steps,
        **{column: None if limits is None else getattr(limits, name) for name, column in _BUDGETS.items()},
        "pulls": counts.pulls,
        "failed": counts.failures,
        "in flight": counts.in_flight,
        "retrained": counts.retrained,
        "seconds": round(counts.seconds, 1),
        _FAILURE: counts.reason,
    }


def _totals_of(study: Study) -> Totals:
    """The counts of an open study."""
    counts, limits = study.counts, study.limits
    return Totals(
        arms=len(counts.arms),
        pulls=counts.pulls,
        failures=counts.failures,
        in_flight=len(counts.in_flight),
        steps=counts.steps,
        seconds=counts.seconds,
        retrained=counts.retrained,
        reason=counts.reasons.most_common(1)[0][0] if counts.reasons else None,
        changed_limits=None if limits is None else {"budget": limits.steps, **limits.as_json()},
    )
