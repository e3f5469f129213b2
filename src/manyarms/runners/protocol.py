"""What a runner is: a place where pulls run."""

from __future__ import annotations

from typing import Protocol

from ..core import Outcome
from .execute import Function
from .task import Task


class PullsAbandoned(KeyboardInterrupt):
    """The pulls in flight are given up: nothing is recorded of them, and they run again when the study is resumed.

    Raised while pulls run, by a runner or, where pulls run in this process, by their function.
    """


class Runner(Protocol):
    """Runs tasks, at most `workers` at once, and gives back one outcome for each: whatever happens, a task never gets lost."""

    workers: int

    def start(self, function: Function) -> None:
        """Get ready to run pulls with this function."""

    def submit(self, task: Task) -> None:
        """Begin a task. Called only while fewer than `workers` are running."""

    def collect(self) -> list[Outcome]:
        """The outcomes of tasks that ended; blocks until there is at least one."""

    def now(self) -> float:
        """The time in seconds, by the clock this runner lives by."""

    def close(self) -> None:
        """Abandon what still runs and let go of everything."""
