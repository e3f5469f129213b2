"""Executes runs in parallel and stores their rows."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, Generic

from .pool import Finished, Pool, R
from .results import Results, Row

Ended = Finished[R, list[Row]]


def execute(
    runs: Iterable[R],
    results: Results,
    pool: Pool[R, list[Row]],
    group: Callable[[R], Hashable] = lambda run: None,
    failure_rows: Callable[[Ended[R]], list[Row]] = lambda finished: [],
) -> Iterator[Ended[R]]:
    """Execute runs and yield each one when it has ended. Its rows are in the file about a second later.

    Args:
        runs: Runs to execute.
        results: File to which their rows are added.
        pool: Processes that execute them; their function returns the rows of a run.
        group: Runs of one group take about the same time. The slowest group goes first. By default runs keep their order.
        failure_rows: Rows to store for a run that failed.
    """
    queue = LongestFirst(runs, group)
    with pool:
        while queue or pool.running:
            while queue and pool.has_room:
                pool.start(queue.pop())
            ended = pool.collect()
            for finished in ended:
                queue.note_duration(finished.run, finished.seconds)
                results.add(finished.value if finished.value is not None else failure_rows(finished))
            results.save(only_if_due=True)
            yield from ended


class LongestFirst(Generic[R]):
    """A queue of runs in groups that take about the same time.

    One run of each group goes first. Then the slowest group is preferred, so that no long run is left at the end while other
    processes are idle.
    """

    def __init__(self, runs: Iterable[R], group: Callable[[R], Hashable]) -> None:
        self._group = group
        self._queues: dict[Hashable, deque[R]] = {}
        self._seconds: dict[Hashable, float] = {}
        for run in runs:
            self._queues.setdefault(group(run), deque()).append(run)

    def __bool__(self) -> bool:
        return bool(self._queues)

    def pop(self) -> R:
        """The next run."""
        group = slowest(self._queues, self._seconds)
        run = self._queues[group].popleft()
        self._seconds.setdefault(group, 0.0)  # until its duration is known, other groups go first
        if not self._queues[group]:
            del self._queues[group]
        return run

    def note_duration(self, run: R, seconds: float) -> None:
        """Remember how long a run took."""
        self._seconds[self._group(run)] = seconds


def slowest(groups: Iterable[Any], seconds: Mapping[Any, float]) -> Any:
    """The group whose runs take longest. A group of unknown duration comes first."""
    return max(groups, key=lambda group: seconds.get(group, math.inf))
