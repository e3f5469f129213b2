"""`status`: how the studies of a storage are doing."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..journal.storage import study_names
from ..journal.totals import Totals, totals
from .output import add_json, print_json, print_table
from .studies import add_study, recommendation_of, stored_journal
from .terminal import print_line

if TYPE_CHECKING:
    from ..study import Study

_FAILURE = "most frequent failure"
_OPTIONAL = ("failed", "in flight", "retrained")


def add_command(commands: Any) -> None:
    """Add `status`."""
    status = commands.add_parser("status", help="show the progress of studies")
    add_study(status)
    add_json(status)
    status.set_defaults(command=_status)


def _status(options: argparse.Namespace) -> int:
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


def print_result(study: Study) -> None:
    """Print the status of a study that is open, and its best config."""
    from ..spaces import to_json  # here: `status` itself works without NumPy, which is slow to import
    from ..strategies import extended

    best = study.best_reward if study.counts.pulls else None
    _print_rows([_row(study.name, study.header, _totals_of(study), best)])
    if study.counts.pulls:
        strategy = extended(study.strategy)
        space = None if strategy is None else strategy.ledger.space
        print_line(f"best config: {json.dumps(to_json(space, study.best_config))}")


def _print_rows(rows: list[dict[str, Any]]) -> None:
    print_table([{name: value for name, value in row.items() if name != _FAILURE} for row in rows], _OPTIONAL)


def _row(name: str, header: Mapping[str, Any], counts: Totals, best: float | None) -> dict[str, Any]:
    """One study as a row of the table."""
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
