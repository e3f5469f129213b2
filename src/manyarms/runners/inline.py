"""Pulls run here, in this process, one after the other."""

from __future__ import annotations

import time

from ..core import Outcome
from .execute import Function, execute
from .task import Task


class InlineRunner:
    """No processes, no limits: the function runs when its outcome is collected."""

    workers = 1

    def start(self, function: Function) -> None:
        self._function = function
        self._tasks: list[Task] = []

    def submit(self, task: Task) -> None:
        self._tasks.append(task)

    def collect(self) -> list[Outcome]:
        return [execute(self._function, self._tasks.pop(0))]

    def now(self) -> float:
        return time.monotonic()

    def close(self) -> None:
        self._tasks = []

    def __repr__(self) -> str:
        return "InlineRunner()"
