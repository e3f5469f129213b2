"""Limits each pull to the time that the search has left when the pull starts."""

from __future__ import annotations

import math
from dataclasses import replace

from ..core import Outcome
from ..runners import Runner
from ..runners.execute import Function
from ..runners.task import Task
from .counts import Counts


class TimeLimited:
    """Runs pulls with another runner, and limits each to the time that is left.

    A time budget counts the seconds of all pulls, and several workers spend it at the same time. Each pull gets an equal share
    of the time that has not been spent yet, including by pulls in flight, so all workers end when the budget is spent.

    Args:
        runner: Runs the pulls. It must be started already.
        timeout: Seconds from now; None means no limit.
        budget: Seconds that all pulls may take, including those of earlier runs; None means no limit.
        counts: The counts of the study.
    """

    def __init__(self, runner: Runner, timeout: float | None, budget: float | None, counts: Counts) -> None:
        self._runner, self._counts = runner, counts
        self._end = math.inf if timeout is None else runner.now() + timeout
        self._budget = math.inf if budget is None else budget
        self._is_counting = budget is not None
        self._began: dict[int, float] = {}  # by arm: when its pull was last started
        self._taken: dict[int, float] = {}  # by arm: seconds of a pull that has ended and may not be recorded yet

    @property
    def workers(self) -> int:
        return self._runner.workers

    def left(self) -> float:
        """Seconds for a pull that starts now, at least 0."""
        now = self.now()
        share = (self._budget - self._spent(now)) / self.workers if self._is_counting else math.inf
        return max(0.0, min(self._end - now, share))

    def _spent(self, now: float) -> float:
        """Seconds that pulls have taken, including those in flight."""
        running = [arm for arm in self._counts.in_flight if arm in self._began]
        return self._counts.seconds + sum(self._taken.get(arm, now - self._began[arm]) for arm in running)

    def start(self, function: Function) -> None:
        self._runner.start(function)

    def submit(self, task: Task) -> None:
        arm = task.pull.arm.id
        for times in (self._began, self._taken):
            times.pop(arm, None)  # times of its last pull, or of a failed attempt
        time_left = self.left()
        if self._is_counting:
            self._began[arm] = self.now()
        if time_left < math.inf:
            task = replace(task, time_left=time_left, start_within=max(0.0, self._end - self.now()))
        self._runner.submit(task)

    def collect(self) -> list[Outcome]:
        outcomes = self._runner.collect()
        if self._is_counting:
            self._note(outcomes)
        return outcomes

    def _note(self, outcomes: list[Outcome]) -> None:
        """Keep the time that pulls took until their outcomes are recorded."""
        self._began = {arm: began for arm, began in self._began.items() if arm in self._counts.in_flight}
        self._taken = {arm: seconds for arm, seconds in self._taken.items() if arm in self._began}
        self._taken |= {outcome.pull.arm.id: outcome.seconds for outcome in outcomes}

    def now(self) -> float:
        return self._runner.now()

    def close(self) -> None:
        self._runner.close()
