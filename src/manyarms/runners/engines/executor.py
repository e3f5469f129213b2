"""Runs pulls with any `concurrent.futures.Executor`, such as those of loky, mpi4py and the standard library."""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from pathlib import Path
from typing import Any

from ... import checks
from ...checkpoints.remote import Location
from ...core import Outcome
from ...errors import WorkerError
from ..execute import Function
from ..pickling import check_picklable, pickled
from ..protocol import PullsAbandoned
from ..pull_timeout import PullLimit
from ..resources import checked_resources
from ..task import Task
from .host import Host, Setup, refusal

_hosts: dict[str, Host] = {}  # used in workers; by key of the search
_mutex = threading.Lock()


class ExecutorRunner:
    """Runs pulls in the workers of an executor, each in a child process of its worker. The caller shuts the executor down.

    Args:
        executor: The executor.
        workers: Number of pulls that run at once. By default, the number of workers of the executor, if that is known.
        pull_timeout: As for `ProcessRunner`.
        resources: {"cpu": 2} lets the libraries of each pull use two threads.
        clock: Returns the time in seconds since an arbitrary moment.

    >>> import manyarms as ma
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> study = ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=4, seed=0))
    >>> with ThreadPoolExecutor(2) as executor:
    ...     study.optimize(lambda pull: pull["x"], runner=executor, progress=False)
    >>> study.counts.pulls
    4
    """

    def __init__(
        self,
        executor: Executor,
        workers: int | str | None = None,
        pull_timeout: float | str | None = None,
        resources: Mapping[str, float] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._executor = executor
        self._workers = _size_of(executor) if workers in (None, "all") else checks.whole("workers", workers, 1)  # type: ignore[arg-type]
        PullLimit.of(pull_timeout)  # raises if it is not valid
        self._pull_timeout = pull_timeout
        self._threads = int(checked_resources(resources, ("cpu",)).get("cpu", 1)) or 1
        self._clock = clock
        self._setup: Setup | None = None
        self._flight: dict[Future[Any], Task] = {}
        self._done: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._sent = 0  # number of times that the function was sent

    @property
    def workers(self) -> int:
        return self._workers

    def __repr__(self) -> str:
        return f"ExecutorRunner({type(self._executor).__name__}, workers={self._workers})"

    def check(self, function: Function) -> None:
        """Raise an error if the function cannot be sent to workers."""
        check_picklable(function)

    def start(self, function: Function) -> None:
        self._setup = Setup(pickled(function), self._pull_timeout, self._threads)
        self._flag.touch()
        self._sent = 0

    def check_access(self, directory: Location, owner: str | None) -> None:
        """Raise `WorkerError` if a worker cannot run pulls for the study. May miss some: the executor chooses the workers."""
        answers = [self._submit(refusal, self._started.versions, directory, owner) for _ in range(self._workers)]
        for reason in map(self._result, answers):
            if reason is not None:
                raise WorkerError(reason)

    def submit(self, task: Task) -> None:
        with_setup, self._sent = self._sent < self._workers, self._sent + 1
        self._send(task, with_setup)

    def collect(self) -> list[Outcome]:
        outcomes: list[Outcome] = []
        future = self._done.get()
        while True:
            if (outcome := self._outcome(future)) is not None:
                outcomes.append(outcome)
            try:
                future = self._done.get(block=not outcomes)
            except queue.Empty:
                return outcomes

    def now(self) -> float:
        return self._clock()

    def close(self) -> None:
        if self._setup is None:
            return
        self._flag.unlink(missing_ok=True)  # workers on this machine notice within a second
        for future in self._flight:
            future.cancel()
        self._flight, self._done = {}, queue.SimpleQueue()
        _forget(self._setup.key)  # the workers may be threads of this process
        with contextlib.suppress(Exception):  # it was shut down, or is broken
            for _ in range(self._workers):
                self._executor.submit(_forget, self._setup.key)
        self._setup = None

    @property
    def _flag(self) -> Path:
        """A file that exists while the search runs, so that abandoned pulls on this machine can be ended."""
        return Path(tempfile.gettempdir(), f"manyarms-search-{self._started.key}")

    @property
    def _started(self) -> Setup:
        if self._setup is None:
            raise WorkerError("the runner is closed: start it again with a function")
        return self._setup

    def _send(self, task: Task, with_setup: bool) -> None:
        setup = self._started
        future = self._submit(_run, setup.key, setup if with_setup else None, (_machine(), str(self._flag)), task)
        self._flight[future] = task
        future.add_done_callback(self._done.put)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        try:
            return self._executor.submit(function, *arguments)
        except RuntimeError as error:  # it was shut down, or is broken
            raise WorkerError(f"the executor accepts no more work: {error}") from error

    def _outcome(self, future: Future[Any]) -> Outcome | None:
        """The outcome of a task; None if it is not known yet."""
        task = self._flight.pop(future, None)
        if task is None:
            return None  # abandoned
        answer: Outcome | None = self._result(future)
        if answer is None:  # a worker that has not run a pull of this search before
            self._send(task, with_setup=True)
        return answer

    def _result(self, future: Future[Any]) -> Any:
        try:
            return future.result()
        except WorkerError:
            raise
        except BrokenExecutor as error:
            raise WorkerError(
                f"a worker of the executor died, so the executor cannot be used anymore ({error}): run the search again with a "
                "new executor; it resumes"
            ) from error
        except (Exception, CancelledError) as error:
            raise WorkerError(f"a worker of the executor cannot run pulls ({type(error).__name__}: {error})") from error


def _run(key: str, setup: Setup | None, flag: tuple[str, str], task: Task) -> Outcome | None:
    """Run a pull. Runs in a worker. Returns None if the worker needs the setup first."""
    if setup is not None:
        _forget_ended()
    with _mutex:
        host = _hosts.get(key)
        if host is None:
            if setup is None:
                return None
            host = _hosts[key] = Host(setup, _abandoned_without(*flag))
    try:
        return host.run(task)
    except PullsAbandoned:
        task.discard()
        return Outcome(task.pull, reason="abandoned")  # the study has ended, so nobody reads this


def _abandoned_without(machine: str, flag: str) -> Callable[[], bool]:
    """A function that returns whether the flag was removed; always False on another machine, which cannot see the flag."""
    return lambda: machine == _machine() and not os.path.exists(flag)


def _machine() -> str:
    """Identifies this machine."""
    return f"{socket.gethostname()} {uuid.getnode()}"


def _forget(key: str) -> None:
    """End the processes of a search. Runs in a worker."""
    with _mutex:
        host = _hosts.pop(key, None)
    if host is not None:
        host.close()


def _forget_ended() -> None:
    """End the processes of searches that have ended, because the executor may have given `_forget` to other workers only."""
    with _mutex:
        ended = [key for key, host in _hosts.items() if host.is_abandoned()]
    for key in ended:
        _forget(key)


def _size_of(executor: Executor) -> int:
    """The number of workers of an executor. Most executors have no public attribute for it."""
    for name in ("num_workers", "_max_workers"):  # mpi4py; the standard library and loky
        size = getattr(executor, name, None)
        if isinstance(size, int) and size > 0:
            return size
    raise ValueError(f"workers must be given, because the number of workers of {type(executor).__name__} is not known")
