"""`arms`: the arms of a study, best first."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from .. import checks
from ..journal.sql import SqlJournal
from ..journal.totals import StoredArm, arm_count, arms, best_arms
from ..study.frames import arm_status
from .output import add_json, print_json, print_table
from .studies import add_study, chosen_name, recommendation_of, stored_journal


def add_command(commands: Any) -> None:
    """Add `arms`."""
    parser = commands.add_parser("arms", help="list the arms of a study, best first")
    add_study(parser)
    parser.add_argument("--top", type=int, default=20, help="number of arms to show (default: 20; 0 shows all)")
    add_json(parser)
    parser.set_defaults(command=_arms)


def _arms(options: argparse.Namespace) -> int:
    top = checks.whole("--top", options.top, 0)
    with stored_journal(options.storage, chosen_name(options)) as journal:
        max_steps = ((journal.header or {})["settings"] or {}).get("max_steps")
        recommended = recommendation_of(journal)[0]
        found = best_arms(journal, top or None, recommended is not None and recommended.by_mean)
        if recommended is not None:
            found = _recommended_first(found, recommended.arm, journal)
        rows = [_row(arm, max_steps) for arm in found]
        more = arm_count(journal) - len(rows)
    if options.json:
        print_json(rows)
        return 0
    for row in rows:
        del row["reward"]  # of the last pull: the table has the best reward instead
        row["config"] = json.dumps(row["config"])
    print_table(rows)
    if more > 0:
        print(f"{more} more arms. Use --top 0 to show all.", file=sys.stderr)
    return 0


def _recommended_first(found: list[StoredArm], arm: int, journal: SqlJournal) -> list[StoredArm]:
    """The same number of arms, with the recommended one first. Depending on the strategy, its reward may not be the best."""
    first = [known for known in found if known.arm == arm] or arms(journal, [arm])
    return [*first, *(known for known in found if known.arm != arm)][: len(found)]


def _row(arm: StoredArm, max_steps: int | None) -> dict[str, Any]:
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
