"""Processes that run heats. One that dies costs its heat, never the race; all die with the race.

Not a ProcessPoolExecutor: there one dead worker breaks every future, and workers outlive a race that was killed.
"""

from __future__ import annotations

import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import wait

from ...errors import WorkerError
from ...runners.child import PipeEnd, die_with, kill_group, lead_group, manner
from .heats import Heat, Row

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_READY = "ready"
_DYING = 5.0  # seconds for a process that closed its pipe to end, so that it can be said how; plenty, as machines are busy

Function = Callable[[Heat], list[Row]]


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of a heat: rows, or a reason why there are none."""

    heat: Heat
    rows: list[Row]
    reason: str | None
    seconds: float


class Workers:
    """A context in which heats run.

    Args:
        function: gives the rows of a heat; it is found by its name in each process.
        n: how many at once.
    """

    def __init__(self, function: Function, n: int) -> None:
        self._function, self._n = function, n
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        """Whatever still runs is lost."""
        for worker in self._idle + self._busy:
            worker.end()

    @property
    def has_room(self) -> bool:
        """Whether another heat can start."""
        return len(self._busy) < self._n

    @property
    def running(self) -> int:
        """How many heats are on their way."""
        return len(self._busy)

    def start(self, heat: Heat) -> None:
        """Have a worker run a heat."""
        worker = self._idle.pop() if self._idle else _Worker(self._function)
        self._busy.append(worker)
        worker.begin(heat)

    def collect(self, timeout: float) -> list[Finished]:
        """What has ended, or will within so many seconds."""
        ready = wait([worker.connection for worker in self._busy], timeout)
        finished = []
        for worker in [worker for worker in self._busy if worker.connection in ready]:
            if (news := worker.hear()) is not None:
                finished.append(news)
                self._busy.remove(worker)
                self._idle += [worker] if worker.alive else []
        return finished


class _Worker:
    """One process and the pipe to it."""

    def __init__(self, function: Function) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        their_lifeline, self._lifeline = context.Pipe(duplex=False)
        self._process = context.Process(target=_serve, args=(theirs, their_lifeline, function))
        with one_thread_each():
            self._process.start()
        theirs.close()
        their_lifeline.close()
        self.alive, self._ready = True, False

    def begin(self, heat: Heat) -> None:
        self._heat, self._began = heat, time.monotonic()
        with suppress(OSError):  # it died meanwhile: seen when it is listened to
            self.connection.send(heat)

    def hear(self) -> Finished | None:
        """What came of its heat; None where it only says that it is ready."""
        try:
            news = self.connection.recv()
        except (EOFError, OSError):
            self.end(grace=_DYING)
            news = [], f"its process {manner(self._process.exitcode)}"
            if not self._ready:
                raise WorkerError(f"a worker process {manner(self._process.exitcode)} while starting") from None
        if news == _READY:
            self._ready, self._began = True, time.monotonic()
            return None
        rows, reason = news
        return Finished(self._heat, rows, reason, time.monotonic() - self._began)

    def end(self, grace: float = 0.0) -> None:
        """Make sure that it is gone, and all it started."""
        self.alive = False
        self._process.join(grace)
        if self._process.pid is not None:
            kill_group(self._process.pid)
        self._process.kill()  # it may not have had the time to form its group
        self._process.join()
        self.connection.close()
        self._lifeline.close()


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Processes started here compute on one thread, as many at once as there are cores; and sets have the same order in all of
    them, which some peers decide by."""
    before = {name: os.environ.get(name) for name in (*THREADS, "PYTHONHASHSEED")}
    os.environ.update(dict.fromkeys(THREADS, "1") | {"PYTHONHASHSEED": "0"})
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            os.environ |= {} if value is None else {name: value}


def _serve(connection: PipeEnd, lifeline: PipeEnd, function: Function) -> None:
    """The inside of a worker: heat after heat, until the race closes the pipe."""
    lead_group()
    die_with(lifeline)
    warnings.simplefilter("ignore")  # they would come once from every process
    with suppress(EOFError, OSError):  # the race has ended, perhaps while this process was starting
        connection.send(_READY)
        while True:
            connection.send(_attempt(function, connection.recv()))


def _attempt(function: Function, heat: Heat) -> tuple[list[Row], str | None]:
    try:
        return function(heat), None
    except BaseException as error:  # SystemExit too
        return [], " ".join(f"{type(error).__name__}: {error}".split())[:500]
