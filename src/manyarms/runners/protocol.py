"""The runner protocol."""

from __future__ import annotations

from typing import Protocol

from ..core import Outcome
from .execute import Function
from .task import Task


class PullsAbandoned(KeyboardInterrupt):
    """The pulls in flight are abandoned. They are not recorded, and run again when the study is resumed.

    Raised by a runner, or by a training function that runs in this process.
    """


class Runner(Protocol):
    """Runs at most `workers` tasks at a time, and returns exactly one outcome for each task, whatever happens."""

    @property
    def workers(self) -> int:
        """Number of tasks that can run at once, at least 1. It may change during a search, as workers join and leave."""

    def start(self, function: Function) -> None:
        """Prepare to run pulls with this function."""

    def submit(self, task: Task) -> None:
        """Start a task. Called only while fewer than `workers` tasks are running."""

    def collect(self) -> list[Outcome]:
        """Wait until at least one task has ended, and return the outcomes of all that have.

        May also return an empty list, so that the search can use workers that have joined.
        """

    def now(self) -> float:
        """The time in seconds on the clock of this runner."""

    def close(self) -> None:
        """Abandon running tasks and release all resources."""
