"""`gc`: delete checkpoints that are not needed."""

from __future__ import annotations

import argparse
from typing import Any

from .. import checks
from ..checkpoints import Checkpoints
from ..checkpoints.location import owned_root, owner_of
from ..core import sign_of
from ..journal import open_journal
from ..study.view import StudyView
from .studies import add_study, chosen_name, stored_study


def add_command(commands: Any) -> None:
    """Add `gc`."""
    gc = commands.add_parser(
        "gc",
        help="delete checkpoints that are not needed",
        description="Delete checkpoints of a study that is not running. Without options, only leftovers are deleted. "
        "If the search continues and needs a deleted checkpoint, it trains the arm again.",
    )
    add_study(gc)
    gc.add_argument(
        "--max-bytes",
        metavar="SIZE",
        help='total size of the checkpoints to keep, such as "2GB"; those of the worst arms are deleted first',
    )
    gc.add_argument("--best-only", action="store_true", help="keep only the best checkpoint of the recommended arm")
    gc.add_argument("--dry-run", action="store_true", help="only show how much would be deleted")
    gc.set_defaults(command=_gc)


def _gc(options: argparse.Namespace) -> int:
    name = chosen_name(options)
    limit = None if options.max_bytes is None else checks.size("max_bytes", options.max_bytes)
    open_journal(
        options.storage, name, write=False
    ).close()  # raises if there is no such study, which opening it for writing would create
    lock = open_journal(options.storage, name)  # for writing: raises if the study is running
    try:
        with stored_study(options.storage, name) as study:
            checkpoints, root = Checkpoints(max_bytes=limit), owned_root(study.journal, study.header)
            checkpoints.open(owner_of(study.journal, study.header), study.counts.needed(), root)
            before = checkpoints.used
            unneeded = _unneeded(study, checkpoints, options.best_only)
        freed = sum(map(checkpoints.size, unneeded))
        if not options.dry_run:
            checkpoints.drop(unneeded)
    finally:
        lock.close()
    done = "would be deleted, freeing" if options.dry_run else "deleted, freeing"
    print(f"{len(unneeded)} checkpoint{'' if len(unneeded) == 1 else 's'} {done} {freed} of {before} bytes")
    return 0


def _unneeded(study: StudyView, checkpoints: Checkpoints, best_only: bool) -> list[str]:
    """The checkpoints to delete: leftovers always, then those of the arms with the worst rewards."""
    counts, sign = study.counts, sign_of(study.header["direction"])
    needed = counts.needed()
    unneeded = [name for name in checkpoints.names() if name not in needed]
    kept = {name for flight in counts.in_flight.values() for name in (flight.previous, flight.parent)}
    kept |= {_best_checkpoint(study)} if counts.pulls else set()
    left = checkpoints.used - sum(map(checkpoints.size, unneeded))
    ranked = sorted(counts.arms.values(), key=lambda record: sign * (record.best_reward or 0.0))
    for name in dict.fromkeys(name for record in ranked for name in (record.checkpoint, record.best_checkpoint)):
        if name is None or name in kept or not checkpoints.size(name):
            continue
        if best_only or (checkpoints.limit is not None and left > checkpoints.limit):
            unneeded.append(name)
            left -= checkpoints.size(name)
    return unneeded


def _best_checkpoint(study: StudyView) -> str | None:
    best = study.recommendation()
    return study.counts.arms[best.arm].best_state(best.by_mean)[0]
