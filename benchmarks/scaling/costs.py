"""Measures what one pull costs the process of a study: deciding, recording, storing, and talking to workers."""

from __future__ import annotations

import heapq
import random
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from problem import MAX_STEPS, SPACE, noisy, train

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
        deciding: Asking the strategy for the pull and telling it the reward.
        study: The rest of the study: making the task, checking and counting the outcome, snapshots.
        arms: Arms of the study at this size.
        snapshot: The longest interruption so far by a snapshot of the state.
    """

    deciding: float
    study: float
    arms: int
    snapshot: float

    @property
    def total(self) -> float:
        return self.deciding + self.study


class Stopwatch:
    """The CPU time of a pull around each number of pulls. The clock is read at the ends of windows only, because it is slow."""

    def __init__(self, sizes: Iterable[int]) -> None:
        self._edges = {round(size * (1 + sign * WINDOW)): (size, sign) for size in sizes for sign in (-1, 1)}
        self._last = max(self._edges)
        self._began = 0.0
        self.seconds: dict[int, float] = {}

    def passed(self, pulls: int) -> int | None:
        """Note that a number of pulls has ended. Returns the size whose window ends with them, if any."""
        if pulls not in self._edges:
            return None
        size, sign = self._edges[pulls]
        if sign < 0:
            self._began = time.process_time()
            return None
        self.seconds[size] = (time.process_time() - self._began) / (2 * WINDOW * size)
        return size

    def is_over(self, pulls: int) -> bool:
        return pulls >= self._last


def make_strategy(name: str) -> Any:
    return getattr(ma, name)(SPACE, max_steps=MAX_STEPS, seed=0)


def deciding_seconds(name: str, workers: int, sizes: Iterable[int]) -> dict[int, float]:
    """The cost of an ask and a tell of a strategy alone, with many pulls in flight that end in random order."""
    strategy, watch, rng = make_strategy(name), Stopwatch(sizes), random.Random(0)
    running: list[tuple[float, int, ma.Pull]] = []
    now, asked, ended = 0.0, 0, 0
    while not watch.is_over(ended):
        while len(running) < workers and (pull := strategy.ask()) is not None:
            heapq.heappush(running, (now + rng.lognormvariate(0.0, 0.5), asked, pull))
            asked += 1
        now, _, pull = heapq.heappop(running)
        strategy.tell(pull, noisy(pull.config, pull.stop))
        ended += 1
        watch.passed(ended)
    return watch.seconds


def simulating_seconds(pulls: int = 5_000) -> float:
    """The cost of a pull that simulated workers have, and not the study: the training function, and the simulated clock."""
    runner = ma.SimulatedRunner(1)
    runner.start(train)
    pull = ma.Pull(ma.Arm(0, {"lr": 0.01, "width": 32, "act": "relu"}), 0, 1)
    task = Task(pull, 1, None, None, Path("none.part"), Path("none"))
    began = time.process_time()
    for _ in range(pulls):
        runner.submit(task)
        runner.collect()
    return (time.process_time() - began) / pulls


def pull_costs(name: str, workers: int, sizes: Sequence[int]) -> dict[int, PullCost]:
    """The cost of a pull around each number of pulls, of a real study in memory on simulated workers."""
    deciding, simulating = deciding_seconds(name, workers, sizes), simulating_seconds()
    watch, rng, longest = Stopwatch(sizes), random.Random(0), [0.0]
    found: dict[int, PullCost] = {}

    def look(study: ma.Study, outcome: ma.Outcome) -> None:
        pulls = study.counts.pulls
        size = watch.passed(pulls)
        if size is not None:
            rest = watch.seconds[size] - deciding[size] - simulating
            found[size] = PullCost(deciding[size], rest, len(study.counts.arms), max(longest))
        if watch.is_over(pulls):
            study.stop()

    original = StudyState.state

    def timed(state: StudyState) -> str:
        began = time.process_time()
        text = original(state)
        longest.append(time.process_time() - began)
        return text

    StudyState.state = timed  # type: ignore[method-assign]
    try:
        with ma.Study(make_strategy(name)) as study:
            runner = ma.SimulatedRunner(workers, seconds=lambda pull: rng.lognormvariate(0.0, 0.5))
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
