"""The loop of a search: ask for pulls, run them and record their outcomes, until nothing is left to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from ..core import Outcome, Pull
from .protocol import Runner
from .task import Task

MOST_LOSSES = 3
"""Number of times that a pull is run again because its worker left the cluster. After that, it fails as the likely cause."""

_QUICK = 0.2
"""With several workers, if a pull took fewer seconds than this, the next one starts before the reward is written.
Otherwise workers with very short pulls would spend most of their time waiting for the disk."""


class Client(Protocol):
    """What the loop needs from a study."""

    def ask(self) -> Pull | None:
        """The next pull to start; None if there is none now."""

    def task(self, pull: Pull, slots: int) -> Task:
        """Everything a worker needs to run the pull, where up to `slots` pulls run at once."""

    def mark_lost(self, checkpoint: str) -> None:
        """Note that a checkpoint is corrupt or missing."""

    def record(self, outcomes: Iterable[Outcome]) -> object:
        """Record the outcomes of pulls, then learn from them. The outcome of a pull that has already ended changes nothing."""


def run(study: Client, runner: Runner, stopped: Callable[[], bool], retries: int = 0, deterministic: bool = False) -> None:
    """Keep the workers busy until the study is done, or until it is stopped and no pull is in flight.

    Args:
        study: The study.
        runner: Runs the pulls. It must be started already.
        stopped: Returns whether to start no more pulls.
        retries: Number of times that a failed pull is started again.
        deterministic: Whether outcomes are recorded one by one in the order in which their pulls were asked for, so decisions
            do not depend on timing. The number of workers is then the one at the start.
    """
    flight: dict[int, Task] = {}  # what runs now, by arm, in the order asked
    arrived: dict[int, Outcome] = {}
    fixed = runner.workers if deterministic else None

    def workers() -> int:
        return runner.workers if fixed is None else fixed

    def fill(free: int) -> None:
        """Start pulls on free workers."""
        for _ in range(free):
            if stopped() or (pull := study.ask()) is None:
                return
            flight[pull.arm.id] = study.task(pull, workers())
            runner.submit(flight[pull.arm.id])

    while True:
        fill(workers() - len(flight))
        if not flight:
            return
        while not (ready := _ready(flight, arrived, deterministic)):
            for outcome in runner.collect():
                if not _belongs(outcome, flight):
                    study.record([outcome])  # late or repeated, which changes nothing; an unknown pull is an error
                    continue
                if outcome.pull.arm.id in arrived:
                    continue  # repeated before the first one was recorded
                again = _again(study, flight[outcome.pull.arm.id], outcome, retries, workers())
                if again is None:
                    arrived[outcome.pull.arm.id] = outcome
                else:
                    flight[outcome.pull.arm.id] = again
                    runner.submit(again)
            if not arrived and fixed is None:
                fill(workers() - len(flight))  # workers may have joined
        outcomes = [arrived.pop(arm) for arm in ready]
        if not deterministic and workers() > 1 and max(outcome.seconds for outcome in outcomes) < _QUICK:
            fill(workers() + len(ready) - len(flight))
        study.record(outcomes)
        for arm in ready:
            del flight[arm]


def _belongs(outcome: Outcome, flight: dict[int, Task]) -> bool:
    """Whether the outcome belongs to a task that runs now."""
    task = flight.get(outcome.pull.arm.id)
    return task is not None and (task.pull.start, task.pull.stop) == (outcome.pull.start, outcome.pull.stop)


def _ready(flight: dict[int, Task], arrived: dict[int, Outcome], deterministic: bool) -> list[int]:
    """The arms whose outcomes can be recorded now."""
    if not deterministic:
        return list(arrived)
    oldest = next(iter(flight))
    return [oldest] if oldest in arrived else []


def _again(study: Client, task: Task, outcome: Outcome, retries: int, slots: int) -> Task | None:
    """The task to start again, if any: because its worker was lost, a checkpoint must be trained again, or as a retry."""
    losses = task.losses + (outcome.lost and outcome.attempts == task.attempt)  # not if it still waited on that worker
    if outcome.lost and losses <= MOST_LOSSES:
        return replace(study.task(task.pull, slots), attempt=task.attempt, losses=losses)
    if outcome.damaged is not None:
        study.mark_lost(outcome.damaged)
        return replace(study.task(task.pull, slots), attempt=task.attempt, losses=task.losses)
    if outcome.reward is None and task.attempt <= retries:
        return replace(task, attempt=task.attempt + 1)
    return None
