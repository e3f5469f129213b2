"""A runner that can abandon the pulls that it runs."""

from __future__ import annotations

from ..core import Outcome
from .execute import Function
from .protocol import PullsAbandoned, Runner
from .task import Task


class Abandoning:
    """Runs pulls with another runner until `abandon` is called, for example by a signal handler.

    Args:
        runner: Runs the pulls.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner, self.workers = runner, runner.workers
        self._collecting = self._abandoned = False

    def abandon(self) -> None:
        """Raise `PullsAbandoned`: at once while waiting for pulls, otherwise when they are next waited for."""
        self._abandoned = True
        if self._collecting:  # elsewhere, an outcome could be recorded in part
            raise PullsAbandoned

    def start(self, function: Function) -> None:
        self._runner.start(function)

    def submit(self, task: Task) -> None:
        self._runner.submit(task)

    def collect(self) -> list[Outcome]:
        self._collecting = True
        try:
            if self._abandoned:
                raise PullsAbandoned
            return self._runner.collect()
        finally:
            self._collecting = False

    def now(self) -> float:
        return self._runner.now()

    def close(self) -> None:
        self._runner.close()
