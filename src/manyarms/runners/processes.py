"""Runs pulls in a pool of worker processes. A worker that dies or takes too long costs only its own pull."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from multiprocessing import Pipe
from multiprocessing.connection import wait

import cloudpickle

from .. import checks
from ..core import Outcome
from ..errors import WorkerError
from .child_process import kill_group, manner, start_child
from .execute import Function
from .pickling import check_picklable, pickled
from .protocol import PullsAbandoned
from .pull_timeout import PullLimit
from .resources import cpu_share, device_leases
from .task import Task
from .worker import READY

_BOOT = (  # imports nothing before the path is set, because the working directory may have a file such as json.py
    "import sys; sys.path[:] = sys.argv[3:]; from manyarms.runners.worker import main; main(int(sys.argv[1]), int(sys.argv[2]))"
)
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_LOOK = 1.0  # seconds between checks whether a silent worker is still alive
_GRACE = 2.0  # seconds that idle workers have to exit
_DYING = 5.0  # seconds to wait for the exit code of a worker that closed its pipe


class ProcessRunner:
    """Runs pulls in worker processes on this machine. Each is a new interpreter that gets the function once, by cloudpickle.

    Unlike multiprocessing, it does not import the main script again, so scripts need no `if __name__ == "__main__"`.

    Args:
        workers: Number of worker processes.
        pull_timeout: Seconds after which a pull is ended, together with its worker. "remaining" ends it when the search runs
            out of time.
        resources: {"gpu": 1} gives each worker a device before user code runs; {"cpu": 2} lets its libraries use two threads.
        clock: Returns the time in seconds, from any start. Time limits use it.
        until: The time, by `now()`, at which running pulls are abandoned; None means never.
        is_abandoned: Called about once a second while pulls run. If it returns True, they are abandoned.
        environment: Environment variables of the workers, in addition to those of this process.
    """

    def __init__(
        self,
        workers: int,
        pull_timeout: float | str | None = None,
        resources: Mapping[str, float] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        until: float | None = None,
        is_abandoned: Callable[[], bool] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.workers = checks.whole("workers", workers, 1)
        self._limit = PullLimit.of(pull_timeout)
        self._leases = device_leases(workers, resources)
        self._threads = cpu_share(resources)
        self._pool: list[_Worker | None] = [None] * workers
        self._clock, self._until, self._is_abandoned = clock, until, is_abandoned
        self._own_environment = dict(environment or {})

    def __repr__(self) -> str:
        limit = f", pull_timeout={self._limit!r}" if self._limit else ""
        return f"ProcessRunner(workers={self.workers}{limit})"

    def start(self, function: Function) -> None:
        self.start_pickled(pickled(function))

    def start_pickled(self, function: bytes) -> None:
        """Prepare to run pulls with a function that was pickled, in this process or on another machine."""
        self._proven = False  # whether a worker has started and loaded the function
        self._function = function

    def check(self, function: Function) -> None:
        """Raise an error if the function cannot be sent to worker processes."""
        check_picklable(function)

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
            if self._is_abandoned is not None and self._is_abandoned():
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

    def kill(self) -> None:
        """Kill all worker processes. May be called by another thread than `collect`, which then returns failures."""
        for worker in self._pool:
            if worker is not None:
                worker.kill()

    def _look_at(self, worker: _Worker, has_news: bool) -> Outcome | None:
        """The outcome of the worker's task, if the task has ended for any reason."""
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
            raise WorkerError(f"a worker process ended while starting ({manner(worker.code)}); its error message is above")
        return self._abandon(worker, f"the worker {manner(worker.code)}")

    def _abandon(self, worker: _Worker, reason: str) -> Outcome:
        """The outcome of a task that was ended. What it saved is removed."""
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
        environment = {**os.environ, **self._own_environment}
        share = str(self._threads or max(1, (os.cpu_count() or 1) // self.workers))
        for name in _THREADS:  # libraries without their own variable use the first one
            environment.setdefault(name, environment.get(_THREADS[0], share))
        lease = self._leases[slot]
        if lease is not None:
            environment["CUDA_VISIBLE_DEVICES"] = lease
        return environment


def thread_limits(threads: int) -> dict[str, str]:
    """The environment variables with which numeric libraries use this number of threads."""
    return dict.fromkeys(_THREADS, str(threads))


class _Worker:
    """One worker process and the pipe to it."""

    def __init__(self, function: bytes, environment: dict[str, str], clock: Callable[[], float]) -> None:
        self.task: Task | None = None
        self.deadline = math.inf
        self.ready = False
        self._clock, self._began = clock, 0.0
        try:
            self.connection, theirs = Pipe()
            their_lifeline, self._lifeline = Pipe(duplex=False)
            try:
                numbers = [str(end.fileno()) for end in (theirs, their_lifeline)]
                command = [sys.executable, "-c", _BOOT, *numbers, *_search_path()]
                self._process = start_child(command, environment, (theirs, their_lifeline))
            finally:
                theirs.close()
                their_lifeline.close()
        except OSError as error:
            raise WorkerError(f"a worker process cannot be started: {error}") from error
        with contextlib.suppress(OSError):  # if it died immediately, reading from it will show that
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
        """Exit code of the process."""
        return self._process.returncode

    def dismiss(self) -> None:
        """Close its pipe, so that it exits."""
        self.connection.close()

    def kill(self) -> None:
        """Kill it and everything it started, without waiting."""
        kill_group(self._process.pid)

    def end(self, grace: float = 0.0) -> None:
        """Wait for it to exit, then kill it and everything it started."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(grace, 0.001))
        kill_group(self._process.pid)
        self._process.kill()  # does nothing if it has ended
        self._process.wait()
        self.connection.close()
        self._lifeline.close()


def _search_path() -> list[str]:
    return [place for place in sys.path if isinstance(place, str)]  # Python skips entries of other types
