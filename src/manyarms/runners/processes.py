"""Runs pulls in a pool of worker processes. A worker that dies or takes too long costs only its own pull."""

from __future__ import annotations

import contextlib
import json
import math
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from multiprocessing import Pipe
from multiprocessing.connection import wait
from typing import Any

import cloudpickle

from .. import checks
from ..core import Outcome
from ..errors import WorkerError
from .child import kill_group, manner, start_child
from .execute import Function
from .leases import device_leases
from .protocol import PullsAbandoned
from .pull_limit import PullLimit
from .task import Task
from .worker import READY

_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[3]); "
    "from manyarms.runners.worker import main; main(int(sys.argv[1]), int(sys.argv[2]))"
)
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_LOOK = 1.0  # seconds between checks whether a silent worker is still alive
_GRACE = 2.0  # seconds that idle workers have to exit
_DYING = 5.0  # seconds to wait for the exit code of a worker that closed its pipe


class ProcessRunner:
    """Runs pulls in worker processes on this machine. Each is a new interpreter, which gets the function once, by cloudpickle.

    Unlike multiprocessing, it does not import the main script again, so scripts need no `if __name__ == "__main__"`.

    Args:
        workers: Number of worker processes.
        pull_timeout: Seconds after which a pull, with its worker, is ended. "remaining" ends it when the time of the search is
            up.
        resources: {"gpu": 1} gives each worker a device before user code runs.
        clock: Returns the time in seconds, from any start. Time limits use it.
        until: The time, by `now()`, at which running pulls are abandoned; None means never.
    """

    def __init__(
        self,
        workers: int,
        pull_timeout: float | str | None = None,
        resources: Mapping[str, float] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        until: float | None = None,
    ) -> None:
        self.workers = checks.whole("workers", workers, 1)
        self._limit = PullLimit.of(pull_timeout)
        self._leases = device_leases(workers, resources)
        self._pool: list[_Worker | None] = [None] * workers
        self._clock, self._until = clock, until

    def __repr__(self) -> str:
        limit = f", pull_timeout={self._limit!r}" if self._limit else ""
        return f"ProcessRunner(workers={self.workers}{limit})"

    def start(self, function: Function) -> None:
        self._proven = False  # whether a worker has started and loaded the function
        with _refusing_what_cannot_be_pickled():
            self._function = cloudpickle.dumps(function)

    def check(self, function: Function) -> None:
        """Raise an error if the function cannot be sent to worker processes."""
        with _refusing_what_cannot_be_pickled():
            cloudpickle.dump(function, _Nowhere())

    def submit(self, task: Task) -> None:
        slot = next(slot for slot, worker in enumerate(self._pool) if worker is None or worker.task is None)
        worker = self._pool[slot]
        if worker is not None and not worker.alive():
            worker.end()
            worker = None
        if worker is None:
            worker = self._pool[slot] = _Worker(self._function, self._environment(slot), self._clock)
        worker.begin(self._limit.applied(task))

    def collect(self) -> list[Outcome]:
        outcomes: list[Outcome] = []
        while not outcomes:
            if self._until is not None and self.now() >= self._until:
                raise PullsAbandoned
            busy = [worker for worker in self._pool if worker is not None and worker.task is not None]
            ready = wait([worker.connection for worker in busy], timeout=self._patience(busy))
            for worker in busy:
                outcome = self._look_at(worker, worker.connection in ready)
                if outcome is not None:
                    outcomes.append(outcome)
        return outcomes

    def now(self) -> float:
        return self._clock()

    def close(self) -> None:
        workers = [worker for worker in self._pool if worker is not None]
        for worker in workers:
            worker.dismiss()
        deadline = time.monotonic() + _GRACE
        for worker in workers:
            worker.end(grace=0.0 if worker.task else deadline - time.monotonic())
        self._pool = [None] * self.workers

    def _look_at(self, worker: _Worker, has_news: bool) -> Outcome | None:
        """The outcome of the worker's task, if it has ended in any way."""
        is_gone = not has_news and not worker.alive()
        if has_news or (is_gone and worker.has_news()):  # the pipe of a dead worker stays open while one of its children lives
            try:
                news = worker.hear()
            except (EOFError, OSError, pickle.UnpicklingError):
                return self._lost(worker)
            self._proven = True
            return news
        if is_gone:
            return self._lost(worker)
        if self._clock() > worker.deadline:
            worker.end()
            return self._abandon(worker, self._limit.reason)
        return None

    def _lost(self, worker: _Worker) -> Outcome:
        """The outcome of a task whose worker has died."""
        worker.end(grace=_DYING)
        if not self._proven:
            raise WorkerError(f"a worker process ended while starting ({manner(worker.code)}); its own message is above")
        return self._abandon(worker, f"the worker {manner(worker.code)}")

    def _abandon(self, worker: _Worker, reason: str) -> Outcome:
        """The outcome of a task that did not end by itself. What it saved is removed."""
        task = worker.task
        assert task is not None
        task.discard()
        self._pool[self._pool.index(worker)] = None
        return Outcome(task.pull, reason=reason, seconds=worker.busy_for(), attempts=task.attempt)

    def _patience(self, busy: list[_Worker]) -> float:
        deadlines = [worker.deadline for worker in busy]
        deadlines += [] if self._until is None else [self._until]
        return max(0.0, min([deadline - self._clock() for deadline in deadlines] + [_LOOK]))

    def _environment(self, slot: int) -> dict[str, str]:
        environment = dict(os.environ)
        share = str(max(1, (os.cpu_count() or 1) // self.workers))
        for name in _THREADS:  # libraries without a variable of their own use the first
            environment.setdefault(name, environment.get(_THREADS[0], share))
        lease = self._leases[slot]
        if lease is not None:
            environment["CUDA_VISIBLE_DEVICES"] = lease
        return environment


class _Worker:
    """One worker process and the pipe to it."""

    def __init__(self, function: bytes, environment: dict[str, str], clock: Callable[[], float]) -> None:
        self.task: Task | None = None
        self.deadline = math.inf
        self.ready = False
        self._clock, self._began = clock, 0.0
        self.connection, theirs = Pipe()
        their_lifeline, self._lifeline = Pipe(duplex=False)
        numbers = [str(end.fileno()) for end in (theirs, their_lifeline)]
        try:
            command = [sys.executable, "-c", _BOOT, *numbers, json.dumps(_search_path())]
            self._process = start_child(command, environment, (theirs, their_lifeline))
        except OSError as error:
            raise WorkerError(f"a worker process cannot be started: {error}") from error
        finally:
            theirs.close()
            their_lifeline.close()
        with contextlib.suppress(OSError):  # if it died at once, reading from it will show that
            self.connection.send_bytes(function)

    def begin(self, task: Task) -> None:
        self.task, self._began = task, self._clock()
        self.deadline = self._began + task.kill_after if self.ready else math.inf
        with contextlib.suppress(OSError):
            self.connection.send_bytes(cloudpickle.dumps(task))

    def hear(self) -> Outcome | None:
        """Read the next message: the outcome of its task, or None if it is only ready now."""
        message = pickle.loads(self.connection.recv_bytes())
        if isinstance(message, Outcome):
            self.task, self.deadline = None, math.inf
            return message
        if message != READY:
            raise WorkerError(f"the function cannot be loaded in a worker process:\n{message}")
        self.ready, self._began = True, self._clock()  # startup is not part of the pull
        self.deadline = math.inf if self.task is None else self._began + self.task.kill_after
        return None

    def has_news(self) -> bool:
        try:
            return self.connection.poll()
        except OSError:  # on Windows: the pipe is closed
            return False

    def alive(self) -> bool:
        return self._process.poll() is None

    def busy_for(self) -> float:
        return self._clock() - self._began

    @property
    def code(self) -> int | None:
        """Its exit code."""
        return self._process.returncode

    def dismiss(self) -> None:
        """Close its pipe, so that it exits."""
        self.connection.close()

    def end(self, grace: float = 0.0) -> None:
        """Wait for it to exit, then kill it and everything it started."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(grace, 0.001))
        kill_group(self._process.pid)
        self._process.kill()  # does nothing if it has ended
        self._process.wait()
        self.connection.close()
        self._lifeline.close()


@contextlib.contextmanager
def _refusing_what_cannot_be_pickled() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise TypeError(
            f"the function cannot be sent to worker processes ({type(error).__name__}: {error}): "
            "create what cannot be pickled inside the function, or use workers=1"
        ) from error


class _Nowhere:
    """A file that discards what is written to it, which may be large."""

    def write(self, data: Any) -> int:
        return memoryview(data).nbytes  # a large array is written as a buffer, which has no length


def _search_path() -> list[str]:
    return [place for place in sys.path if isinstance(place, str)]  # Python skips entries of other types
