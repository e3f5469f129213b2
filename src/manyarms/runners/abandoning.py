"""A runner that can abandon its running pulls."""

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
        self._runner = runner
        self._collecting = self._abandoned = False

    @property
    def workers(self) -> int:
        return self._runner.workers

    def abandon(self) -> None:
        """Raise `PullsAbandoned`: immediately while waiting for pulls, otherwise at the start of the next wait."""
        self._abandoned = True
        if self._collecting:  # at other times, an outcome could be recorded only partly
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
        except KeyboardInterrupt:
            if self._abandoned:  # extension modules such as Ray's turn one KeyboardInterrupt into another
                raise PullsAbandoned from None
            raise
        finally:
            self._collecting = False

    def now(self) -> float:
        return self._runner.now()

    def close(self) -> None:
        self._runner.close()
