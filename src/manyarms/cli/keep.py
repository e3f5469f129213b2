"""`verify`, `gc` and `upgrade`: maintenance of stored studies."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import Progress, TaskID

from .. import checks
from ..checkpoints import Checkpoints
from ..checkpoints.location import owned_root, owner_of
from ..core import sign_of
from ..journal import open_journal
from ..journal.database import shown_storage
from ..journal.sql import upgrade_storage
from ..study.verify import Watch, audit
from ..study.view import StudyView
from .stored import add_storage, add_study, chosen_name, stored_study
from .terminal import show


def add_commands(commands: Any) -> None:
    """Add `verify`, `gc` and `upgrade`."""
    verify = commands.add_parser("verify", help="check a study on disk; exits 1 and says what is wrong")
    add_study(verify)
    verify.add_argument(
        "--quick", action="store_true", help="check all that is stored, but do not make the decisions again to compare them"
    )
    verify.set_defaults(command=_verify)
    gc = commands.add_parser("gc", help="delete checkpoints that are not needed")
    add_study(gc)
    gc.add_argument("--max-bytes", help='keep at most this much, such as "2GB"; the worst arms lose theirs first')
    gc.add_argument("--best-only", action="store_true", help="keep only the recommended arm's")
    gc.add_argument("--dry-run", action="store_true", help="only say what would go")
    gc.set_defaults(command=_gc)
    upgrade = commands.add_parser("upgrade", help="give a storage of an older version the tables of this one")
    add_storage(upgrade)
    upgrade.set_defaults(command=_upgrade)


def _verify(options: argparse.Namespace) -> int:
    name = chosen_name(options)
    journal = open_journal(options.storage, name, write=False)
    try:
        with _shown_progress() as watch:
            wrong = list(audit(journal, replay=not options.quick, watch=watch))
        events = len(journal)
    finally:
        journal.close()
    for problem in wrong:
        show(f"{name}: {problem}", file=sys.stderr)
    found = f"{len(wrong)} problem{'s' if len(wrong) > 1 else ''}" if wrong else "all is well"
    show(f"{name}: {events} events, {found}")
    return 1 if wrong else 0


@contextmanager
def _shown_progress() -> Iterator[Watch]:
    """A bar for each stage, if there is a terminal."""
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bars:
        tasks: dict[str, TaskID] = {}

        def watch(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done)

        yield watch


def _gc(options: argparse.Namespace) -> int:
    name = chosen_name(options)
    limit = None if options.max_bytes is None else checks.size("max_bytes", options.max_bytes)
    open_journal(options.storage, name, write=False).close()  # refuses a study that is not there; a writer would make it
    lock = open_journal(options.storage, name)  # for writing: not while the study runs
    try:
        with stored_study(options.storage, name) as study:
            checkpoints = Checkpoints(owned_root(study.journal, study.header), limit)
            checkpoints.open(owner_of(study.journal, study.header), study.counts.needed())
            before = checkpoints.used
            doomed = _doomed(study, checkpoints, options.best_only)
        freed = sum(map(checkpoints.size, doomed))
        if not options.dry_run:
            checkpoints.drop(doomed)
    finally:
        lock.close()
    print(f"{len(doomed)} checkpoints {'would go' if options.dry_run else 'deleted'}, {freed} of {before} bytes freed")
    return 0


def _doomed(study: StudyView, checkpoints: Checkpoints, best_only: bool) -> list[str]:
    """What may go: leftovers always, then the states of the arms with the worst rewards."""
    counts, sign = study.counts, sign_of(study.header["direction"])
    needed = counts.needed()
    doomed = [name for name in checkpoints.names() if name not in needed]
    kept = {name for flight in counts.in_flight.values() for name in (flight.previous, flight.parent)}
    kept |= {_best_checkpoint(study)} if counts.pulls else set()
    left = checkpoints.used - sum(map(checkpoints.size, doomed))
    ranked = sorted(counts.arms.values(), key=lambda record: sign * (record.best_reward or 0.0))
    states = dict.fromkeys(name for record in ranked for name in (record.checkpoint, record.best_checkpoint))
    for name in states:
        if name is None or name in kept or not checkpoints.size(name):
            continue
        if best_only or (checkpoints.limit is not None and left > checkpoints.limit):
            doomed.append(name)
            left -= checkpoints.size(name)
    return doomed


def _best_checkpoint(study: StudyView) -> str | None:
    best = study.recommendation()
    return study.counts.arms[best.arm].best_state(best.by_mean)[0]


def _upgrade(options: argparse.Namespace) -> int:
    print(f"{shown_storage(options.storage)}: {'upgraded' if upgrade_storage(options.storage) else 'up to date'}")
    return 0
