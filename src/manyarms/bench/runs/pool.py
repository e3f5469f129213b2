"""Worker processes that execute runs. A process that dies or takes too long costs one run and never affects the others.

A `ProcessPoolExecutor` does not do this: one dead worker breaks all its futures, and workers survive a parent that is killed.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import wait
from typing import Any, Generic, TypeVar

from ...errors import WorkerError
from ...runners.child import PipeEnd, die_with, kill_group, lead_group, manner

R = TypeVar("R")
T = TypeVar("T")

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
_READY = "ready"
_POLL = 1.0  # seconds between checks for time limits and for processes that died silently
_EXIT_GRACE = 5.0  # seconds for a process that closed its pipe to exit, so that its exit code is known


@dataclass(frozen=True, slots=True)
class Finished(Generic[R, T]):
    """A run that has ended: the value its function returned, or the reason why there is none."""

    run: R
    value: T | None
    reason: str | None
    seconds: float


class Pool(Generic[R, T]):
    """A context manager that executes runs in worker processes. Leaving it kills the runs that have not ended.

    Args:
        function: Executes a run. Every process imports it by name.
        workers: Number of runs at the same time.
        time_limit: Seconds after which a run is killed. The start of its process does not count.
        threads: Number of threads that numerical libraries may use in each process.
        preload: By default a process executes one run after another. If modules are named here, each run gets a new process,
            forked from one that has imported only these modules.
    """

    def __init__(
        self,
        function: Callable[[R], T],
        workers: int,
        time_limit: float = math.inf,
        threads: int = 1,
        preload: Sequence[str] | None = None,
    ) -> None:
        self._context: Any = multiprocessing.get_context("spawn" if preload is None else "forkserver")
        if preload is not None:
            self._context.set_forkserver_preload(list(preload))
        self._function, self._workers, self._time_limit, self._threads = function, workers, time_limit, threads
        self._reuse = preload is None
        self._idle: list[_Worker[R, T]] = []
        self._busy: list[_Worker[R, T]] = []

    def __enter__(self) -> Pool[R, T]:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._idle + self._busy:
            worker.end()
        self._idle, self._busy = [], []

    @property
    def has_room(self) -> bool:
        """Whether another run can start now."""
        return len(self._busy) < self._workers

    @property
    def running(self) -> int:
        """Number of runs that have started and not ended."""
        return len(self._busy)

    def start(self, run: R) -> None:
        """Start a run in an idle process, or in a new one."""
        with environment(self._threads):
            worker = self._idle.pop() if self._idle else _Worker(self._context, self._function, self._time_limit)
        self._busy.append(worker)
        worker.begin(run)

    def collect(self, timeout: float = _POLL) -> list[Finished[R, T]]:
        """Runs that have ended. Waits up to `timeout` seconds for the first one; the list may be empty."""
        wait([worker.connection for worker in self._busy], min(timeout, _POLL))
        finished = []
        for worker in list(self._busy):
            if (ended := worker.check()) is not None:
                finished.append(ended)
                self._busy.remove(worker)
                self._retire(worker)
        return finished

    def _retire(self, worker: _Worker[R, T]) -> None:
        if worker.alive and self._reuse:
            self._idle.append(worker)
        elif worker.alive:
            worker.end()


class _Worker(Generic[R, T]):
    """One process, the pipe to it, and the run it executes."""

    def __init__(self, context: Any, function: Callable[[R], T], time_limit: float) -> None:
        self.connection, theirs = context.Pipe()
        their_lifeline, self._lifeline = context.Pipe(duplex=False)
        self._process = context.Process(target=_serve, args=(theirs, their_lifeline, function))
        self._process.start()
        theirs.close()
        their_lifeline.close()
        self.alive, self._ready, self._time_limit = True, False, time_limit

    def begin(self, run: R) -> None:
        self._run, self._began = run, time.monotonic()
        with suppress(OSError):  # the process has died, which check() reports
            self.connection.send(run)

    def check(self) -> Finished[R, T] | None:
        """The end of its run, for whatever reason; None while it is running."""
        exited = self._process.exitcode is not None
        if self.connection.poll():
            return self._receive()
        if exited:  # without closing the pipe, which processes it started may hold open
            return self._died()
        if self._ready and time.monotonic() - self._began > self._time_limit:
            self.end()
            return self._finished(None, f"not finished after {self._time_limit:g} seconds")
        return None

    def _receive(self) -> Finished[R, T] | None:
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            return self._died()
        if message == _READY:
            self._ready, self._began = True, time.monotonic()
            return None
        return self._finished(*message)

    def _died(self) -> Finished[R, T]:
        self.end(grace=_EXIT_GRACE)
        how = manner(self._process.exitcode)
        if not self._ready:
            raise WorkerError(f"A worker process {how} while starting.")
        return self._finished(None, f"its process {how}")

    def _finished(self, value: T | None, reason: str | None) -> Finished[R, T]:
        return Finished(self._run, value, reason, time.monotonic() - self._began)

    def end(self, grace: float = 0.0) -> None:
        """Make sure that the process and all processes it started are gone."""
        self.alive = False
        self._process.join(grace)
        if self._process.pid is not None:
            kill_group(self._process.pid)
        self._process.kill()  # in case it has not formed its group yet
        self._process.join()
        self.connection.close()
        self._lifeline.close()


@contextmanager
def environment(threads: int) -> Iterator[None]:
    """Environment variables for processes that are started here.

    They limit the threads of numerical libraries. They also fix the iteration order of sets, on which some libraries depend.
    """
    wanted = dict.fromkeys(THREAD_VARIABLES, str(threads)) | {"PYTHONHASHSEED": "0"}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            os.environ |= {} if value is None else {name: value}


def _serve(connection: PipeEnd, lifeline: PipeEnd, function: Callable[[R], T]) -> None:
    """The inside of a worker process: executes runs until the parent closes the pipe."""
    lead_group()
    die_with(lifeline)
    warnings.simplefilter("ignore")  # every process would repeat them
    with suppress(EOFError, OSError):  # the parent has ended, perhaps while this process was starting
        connection.send(_READY)
        while True:
            connection.send(_attempt(function, connection.recv()))


def _attempt(function: Callable[[R], T], run: R) -> tuple[T | None, str | None]:
    try:
        return function(run), None
    except BaseException as error:  # SystemExit too
        return None, " ".join(f"{type(error).__name__}: {error}".split())[:500]


def map_runs(function: Callable[[R], T], runs: Iterable[R], workers: int) -> list[T]:
    """The values of runs, in their order.

    Raises:
        WorkerError: A run failed.
    """
    left = list(enumerate(runs))[::-1]
    values: dict[int, Any] = {}
    with Pool(partial(_numbered, function), workers) as pool:
        while left or pool.running:
            while left and pool.has_room:
                pool.start(left.pop())
            for finished in pool.collect():
                if finished.reason is not None:
                    raise WorkerError(f"The run {finished.run[1]!r} failed: {finished.reason}")
                values[finished.run[0]] = finished.value
    return [values[number] for number in sorted(values)]


def _numbered(function: Callable[[R], T], run: tuple[int, R]) -> T:
    return function(run[1])
