"""`verify`: check a stored study."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import Progress, TaskID

from ..journal import open_journal
from ..study.verify import Watch, audit
from .studies import add_study, chosen_name
from .terminal import print_line


def add_command(commands: Any) -> None:
    """Add `verify`."""
    verify = commands.add_parser("verify", help="check a stored study; exits with 1 and a list of problems if there are any")
    add_study(verify)
    verify.add_argument(
        "--quick", action="store_true", help="check everything that is stored, but do not replay the decisions to compare them"
    )
    verify.set_defaults(command=_verify)


def _verify(options: argparse.Namespace) -> int:
    name = chosen_name(options)
    journal = open_journal(options.storage, name, write=False)
    try:
        with _progress_bars() as watch:
            problems = list(audit(journal, replay=not options.quick, watch=watch))
        events = len(journal)
    finally:
        journal.close()
    for problem in problems:
        print_line(f"{name}: {problem}", file=sys.stderr)
    found = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}" if problems else "no problems"
    print_line(f"{name}: {events} events, {found}")
    return 1 if problems else 0


@contextmanager
def _progress_bars() -> Iterator[Watch]:
    """A progress bar for each stage, if standard error is a terminal."""
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bars:
        tasks: dict[str, TaskID] = {}

        def watch(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done)

        yield watch
