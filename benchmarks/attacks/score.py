"""The results of attacks, and how they are shown."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table


@dataclass(slots=True)
class Score:
    """How often a study was attacked in one way, and what went wrong.

    Attributes:
        attack: The kind of attack.
        attempts: Number of attempts.
        failures: Descriptions of what went wrong.
        peer: The result of Optuna, if it was attacked too.
    """

    attack: str
    attempts: int = 0
    failures: list[str] = field(default_factory=list)
    peer: str = ""


def show(scores: Iterable[Score]) -> int:
    """Print each score when it is there, then a table. Returns the exit code: 1 if anything failed."""
    table, failed = Table("attack", "attempts", "failures", "Optuna"), False
    for score in scores:
        table.add_row(score.attack, str(score.attempts), str(len(score.failures)), score.peer)
        print(f"{score.attack}: {score.attempts} attempts, {len(score.failures)} failures", file=sys.stderr, flush=True)
        for failure in score.failures[:5]:
            print(f"  {failure}", file=sys.stderr)
        failed |= bool(score.failures)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    return int(failed)
