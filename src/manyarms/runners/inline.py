"""Runs pulls in this process, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..core import Outcome
from .execute import Function, execute
from .task import Task


class InlineRunner:
    """Runs pulls in this process. A pull cannot be ended from outside.

    Args:
        clock: Returns the time in seconds, from any start. Time limits use it.
    """

    workers = 1

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock

    def start(self, function: Function) -> None:
        self._function = function
        self._tasks: list[Task] = []

    def submit(self, task: Task) -> None:
        self._tasks.append(task)

    def collect(self) -> list[Outcome]:
        return [execute(self._function, self._tasks.pop(0), self._clock)]

    def now(self) -> float:
        return self._clock()

    def close(self) -> None:
        self._tasks = []

    def __repr__(self) -> str:
        return "InlineRunner()"
