"""Runs pulls in simulated time: thousands of hours on many workers take seconds."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import replace

from .. import checks
from ..core import Outcome, Pull
from .execute import Function, execute
from .pull_timeout import PullLimit
from .task import Task


class SimulatedRunner:
    """Simulates many workers with its own clock. Functions run immediately; their outcomes arrive in simulated time.

    Args:
        workers: Number of pulls that run at once.
        seconds: Function that returns how many seconds a pull takes. By default, each step takes one second.
        pull_timeout: Seconds after which a pull is ended. "remaining" ends it when the search runs out of time.

    >>> import manyarms as ma
    >>> runner = ma.SimulatedRunner(workers=100, seconds=lambda pull: 3600 * pull.steps)
    >>> study = ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=1000, seed=0))
    >>> study.optimize(lambda pull: pull["x"], runner=runner, progress=False)
    >>> runner.now() / 3600
    10.0
    """

    def __init__(
        self, workers: int, seconds: Callable[[Pull], float] | None = None, pull_timeout: float | str | None = None
    ) -> None:
        self.workers = checks.whole("workers", workers, 1)
        self._seconds = (lambda pull: float(pull.steps)) if seconds is None else checks.function("seconds", seconds, "pull")
        self._limit = PullLimit.of(pull_timeout)
        self._now = 0.0

    def start(self, function: Function) -> None:
        self._function = function
        self._queue: list[tuple[float, int, Outcome]] = []
        self._submitted = 0

    def submit(self, task: Task) -> None:
        task = self._limit.applied(task)
        seconds = self._duration(task)
        if seconds > task.kill_after:
            outcome = Outcome(task.pull, reason=self._limit.reason, seconds=task.kill_after, attempts=task.attempt)
        else:
            outcome = replace(execute(self._function, task, self.now), seconds=seconds)
        ended = self._now + outcome.seconds
        heapq.heappush(self._queue, (ended, self._submitted, replace(outcome, ended=ended)))
        self._submitted += 1

    def _duration(self, task: Task) -> float:
        """Seconds that the pull takes; infinite only if a time limit ends it."""
        seconds = self._seconds(task.pull)
        return seconds if seconds == math.inf and task.kill_after < math.inf else checks.between("seconds", seconds, 0)

    def collect(self) -> list[Outcome]:
        self._now = self._queue[0][0]
        outcomes = []
        while self._queue and self._queue[0][0] == self._now:
            outcomes.append(heapq.heappop(self._queue)[2])
        return outcomes

    def now(self) -> float:
        return self._now

    def close(self) -> None:
        self._queue = []

    def __repr__(self) -> str:
        limit = f", pull_timeout={self._limit!r}" if self._limit else ""
        return f"SimulatedRunner(workers={self.workers}{limit}) at {self._now:g} s"
