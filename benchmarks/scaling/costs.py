"""Measures what one pull costs the process of a study: deciding, recording, storing, and talking to workers."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from problem import MAX_STEPS, SPACE, train

import manyarms as ma
from manyarms.journal import Event
from manyarms.journal.sql import SqlJournal
from manyarms.runners.processes import ProcessRunner
from manyarms.runners.task import Task
from manyarms.study.replay import StudyState

STRATEGIES = ("AdaptiveMutantUCB", "MutantUCB", "ASHA")
WINDOW = 0.1  # pulls before and after a size, as a share of it


@dataclass(frozen=True, slots=True)
class PullCost:
    """CPU seconds of the study process for one pull.

    Attributes:
        ask: Deciding on the pull.
        tell: Learning its reward.
        study: The rest of the study: making the task, checking and counting the outcome, snapshots.
        arms: Arms of the study at this size.
        snapshot: The longest interruption so far by a snapshot of the state.
    """

    ask: float
    tell: float
    study: float
    arms: int
    snapshot: float

    @property
    def total(self) -> float:
        return self.ask + self.tell + self.study


class Meter:
    """Adds up the CPU time inside functions, by name."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.longest: defaultdict[str, float] = defaultdict(float)

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, whose time is added to this name."""

        def call(*arguments: Any, **options: Any) -> Any:
            began = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                seconds = time.process_time() - began
                self.seconds[name] += seconds
                self.longest[name] = max(self.longest[name], seconds)

        return call


def pull_costs(strategy: str, workers: int, sizes: Iterable[int]) -> dict[int, PullCost]:
    """The cost of a pull around each number of pulls, of a real study in memory on simulated workers."""
    meter, rng = Meter(), random.Random(0)
    decider: Any = getattr(ma, strategy)(SPACE, max_steps=MAX_STEPS, seed=0)
    runner = ma.SimulatedRunner(workers, seconds=lambda pull: rng.lognormvariate(0.0, 0.5))
    for target, names in ((decider, ("ask", "tell")), (runner, ("submit", "collect"))):
        for name in names:
            setattr(target, name, meter.timed(name, getattr(target, name)))
    marks: dict[int, tuple[float, dict[str, float]]] = {}
    found: dict[int, PullCost] = {}
    edges = {round(size * (1 + sign * WINDOW)): (size, sign) for size in sizes for sign in (-1, 1)}
    last = max(edges)

    def look(study: ma.Study, outcome: ma.Outcome) -> None:
        if study.counts.pulls not in edges:
            return
        size, sign = edges[study.counts.pulls]
        now = time.process_time(), dict(meter.seconds)
        if sign < 0:
            marks[size] = now
            return
        pulls, (began, before) = 2 * WINDOW * size, marks[size]
        spent = {name: (now[1][name] - before.get(name, 0.0)) / pulls for name in ("ask", "tell", "submit", "collect")}
        rest = (now[0] - began) / pulls - sum(spent.values())
        found[size] = PullCost(spent["ask"], spent["tell"], rest, len(study.counts.arms), meter.longest["snapshot"])
        if study.counts.pulls == last:
            study.stop()

    original = StudyState.state
    StudyState.state = meter.timed("snapshot", original)  # type: ignore[method-assign]
    try:
        with ma.Study(decider) as study:
            study.optimize(train, runner=runner, callbacks=[look], progress=False)
    finally:
        StudyState.state = original  # type: ignore[method-assign]
    return found


def append_seconds(url: str, batches: Iterable[int], repeats: int) -> dict[int, float]:
    """Seconds to write the outcomes of a number of pulls that arrive together, in one transaction."""
    found = {}
    for batch in batches:
        with closing(SqlJournal(url, f"{batch} at once")) as journal:
            journal.create({})
            events = [event for arm in range(batch) for event in _events(arm)]
            times = []
            for _ in range(repeats):
                began = time.perf_counter()
                journal.append(events)
                times.append(time.perf_counter() - began)
            found[batch] = median(times)
    return found


def _events(arm: int) -> tuple[Event, Event]:
    """The two events of a pull of a new arm."""
    config = {"lr": 0.00123456789 + arm, "width": 32, "act": "relu"}
    return Event("asked", arm, 0, 1, data={"config": config}), Event("told", arm, 0, 1, 0.123456789, 61.23456789)


def runner_cost(workers: int, pulls: int, directory: Path) -> float:
    """CPU seconds of this process to send a pull to a worker process and to receive its outcome."""
    runner = ProcessRunner(workers)
    runner.start(train)
    numbers = iter(range(10**9))

    def submit(times: int) -> None:
        for _ in range(times):
            arm = ma.Arm(next(numbers), {"lr": 0.01, "width": 32, "act": "relu"})
            final = directory / f"arm-{arm.id}"
            runner.submit(Task(ma.Pull(arm, 0, 1), 1, None, None, final.with_suffix(".part"), final))

    try:
        submit(workers)
        for count in (workers, pulls):  # first until all of them have started
            began, done = time.process_time(), 0
            while done < count:
                outcomes = runner.collect()
                done += len(outcomes)
                submit(len(outcomes))
            seconds = (time.process_time() - began) / done
    finally:
        runner.close()
    return seconds
