"""Runs pulls on a Dask cluster."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import CancelledError
from concurrent.futures import Future as Answer
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

from ... import checks
from ...checkpoints.remote import Location
from ...core import Outcome
from ...errors import ManyarmsWarning, WorkerError
from ..execute import Function
from ..pickling import check_picklable, pickled
from ..processes import thread_limits
from ..protocol import PullsAbandoned
from ..pull_timeout import PullLimit
from ..resources import checked_resources, visible_devices
from ..task import Task
from .answers import Answers, has_result
from .host import Setup
from .losses import lost_outcome
from .pace import Pace, in_flight
from .slots import Slots

try:
    from distributed import Client, Future, LocalCluster
    from distributed.client import ClosedClientError, FutureCancelledError
    from distributed.scheduler import KilledWorker

    from .dask_worker import MOVED, Hosting, Needs, greeting, plugin_name, run_pull
except ImportError:
    raise ImportError('runner="dask" needs Dask: pip install "manyarms[dask]"') from None

_LOOK = 1.0  # seconds between checks for workers that have joined or left
_CONNECT = 10.0  # seconds to wait for the scheduler at the start
_PATIENCE = 600.0  # seconds to wait for a scheduler that was lost, and for the first worker
STATUS_ADDRESS = "127.0.0.1:0"
"""Where a scheduler serves its status page: on any free port, so that schedulers do not conflict, and only for this machine."""

_RERUN = "run the search again when the cluster is back; it resumes"
_log = logging.getLogger("manyarms")


class DaskRunner:
    """Runs pulls on a Dask cluster, each in a child process of its Dask worker.

    Each worker gets the function once. Workers may join and leave during a search. A pull whose worker leaves is run again on
    another worker, and is counted once. If the scheduler is lost, the runner waits for it to come back.

    Args:
        cluster: "dask" for a new cluster on this machine, the address of a scheduler such as "dask://host:8786", or a
            `distributed.Client`.
        workers: Maximum number of pulls that run at once; "all" means all workers of the cluster, even if their number changes.
        pull_timeout: As for `ProcessRunner`.
        resources: {"gpu": 1} runs pulls on workers with the Dask resource "GPU"; {"cpu": 2} gives each pull two threads.
        patience: Seconds to wait for a lost scheduler, or for the first worker.
        security: TLS settings for an address, as for `distributed.Client`.
        clock: Returns the time in seconds since an arbitrary moment.
    """

    def __init__(
        self,
        cluster: str | Client = "dask",
        workers: int | str | None = "all",
        pull_timeout: float | str | None = None,
        resources: Mapping[str, float] | None = None,
        *,
        patience: float = _PATIENCE,
        security: Any = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not isinstance(cluster, str) and cluster.asynchronous:
            raise ValueError(f"runner must be a Dask client without asynchronous=True, got {cluster!r}")
        self._address = _address_of(cluster) if isinstance(cluster, str) else None
        self._client: Client | None = None if isinstance(cluster, str) else cluster
        self._own: LocalCluster | None = None
        self._known: tuple[str, Any] = "a local Dask cluster", security  # address and TLS settings of the client
        self._limit = None if workers in (None, "all") else checks.whole("workers", workers, 1)  # type: ignore[arg-type]
        PullLimit.of(pull_timeout)  # raises if it is not valid
        self._pull_timeout = pull_timeout
        self._needs = Needs(**checked_resources(resources))
        self._patience, self._security, self._clock = patience, security, clock
        self._setup: Setup | None = None
        self._place: tuple[Location, str | None] | None = None
        self._hosts: dict[str, str] = {}  # by address of a worker: the id of its host
        self._slots, self._pace = Slots(), Pace()  # of these workers
        self._looked = -math.inf
        self._greeting: Answer[dict[str, Any]] | None = None  # the answers of new workers, requested in another thread
        self._waiting: deque[Task] = deque()  # submitted, but no worker was free
        self._end = math.inf  # when the search ends, by the clock
        self._flight: dict[Answer[Any], _Flight] = {}
        self._spent: list[Future] = []  # futures that have ended, but are not released yet
        self._holders: dict[int, str] = {}  # by arm: the worker that ran its last pull
        self._answers = Answers()
        self._numbers = count()

    @property
    def workers(self) -> int:
        return in_flight(self._slots.total, self._limit, self._slots.depth)

    def __repr__(self) -> str:
        return f"DaskRunner({self._where}, workers={'all' if self._limit is None else self._limit})"

    def check(self, function: Function) -> None:
        """Raise an error if the function cannot be sent to workers."""
        check_picklable(function)

    def start(self, function: Function) -> None:
        # not the argument `threads`, which does not replace the variables that Dask sets to 1 in its workers
        environment = {} if self._needs.cpu is None else thread_limits(max(1, int(self._needs.cpu)))
        self._setup = Setup(pickled(function), self._pull_timeout, gpus=self._needs.gpu, environment=environment)
        self._client = self._client or self._connected()
        self._known = str(self._client.scheduler.address), self._client.security
        self._client.register_plugin(Hosting(self._setup), name=plugin_name(self._setup.key))
        self._look(at_once=True)

    def check_access(self, directory: Location, owner: str | None) -> None:
        """Raise `WorkerError` if no worker can run pulls for the study. Waits for the first worker.

        Args:
            directory: The directory of checkpoints, which all workers must be able to read.
            owner: The content of its owner file.
        """
        self._place, self._greeting = (directory, owner), None
        self._forget_workers()
        deadline = self._clock() + self._patience
        while True:
            refused = self._look(at_once=True)
            if self._hosts:
                return
            if refused:
                raise WorkerError(refused[0])
            if self._clock() >= deadline:
                raise WorkerError(f"no worker joined {self._where} within {self._patience:g} s")
            time.sleep(min(_LOOK, self._patience))

    def submit(self, task: Task) -> None:
        self._end = self._clock() + task.start_within
        self._waiting.append(task)
        self._assign()

    def collect(self) -> list[Outcome]:
        size = self.workers
        while True:
            outcomes = [outcome for answer in self._answers.take(_LOOK) if (outcome := self._outcome(answer)) is not None]
            self._look()
            self._assign()
            if outcomes or self.workers > size:
                return outcomes
            if not self._flight and self._clock() >= self._end:  # the search has ended, and there is still no worker
                raise PullsAbandoned

    def now(self) -> float:
        return self._clock()

    def close(self) -> None:
        client, setup = self._client, self._setup
        flight, self._flight = self._flight, {}
        self._hosts, self._slots, self._holders, self._answers = {}, Slots(), {}, Answers()
        self._waiting.clear()
        self._release()
        self._greeting = None
        if client is None or setup is None:
            return
        self._setup = None
        if client.status == "running":  # otherwise this would wait for a scheduler that may be gone
            with suppress(Exception):
                client.cancel([running.future for running in flight.values()], force=True)
                client.unregister_worker_plugin(plugin_name(setup.key))  # ends the child processes
        for answer in flight:
            answer.cancel()
        if self._address is not None:
            self._client = None
            with suppress(Exception):
                client.close(timeout=_LOOK)
        if self._own is not None:
            self._own.close()
            self._own = None

    # -- the cluster

    @property
    def _where(self) -> str:
        return self._address or self._known[0]

    def _connected(self) -> Client:
        if self._address is None:
            self._own = LocalCluster(
                n_workers=1,
                threads_per_worker=self._limit or os.cpu_count() or 1,
                processes=False,  # pulls run in child processes anyway
                resources={"GPU": len(visible_devices())},
                dashboard_address=STATUS_ADDRESS,
                worker_dashboard_address=STATUS_ADDRESS,
                scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL,
            )
        try:
            return Client(
                self._own or self._address, set_as_default=False, timeout=_CONNECT, security=self._security, name="manyarms"
            )
        except (OSError, TimeoutError) as error:
            raise WorkerError(f"the Dask scheduler at {self._where} cannot be reached: {error}") from error

    def _look(self, at_once: bool = False) -> list[str]:
        """Find out which workers have joined or left. Returns why some of the new workers cannot be used.

        Args:
            at_once: Whether to check even if the last check was a moment ago, and to wait for the answers of new workers. By
                default it does not wait: an unreachable worker may take minutes, which must not delay the others.
        """
        if not at_once and self._clock() < self._looked + _LOOK:
            return []
        self._release()
        sizes = self._sizes()
        self._looked = self._clock()
        for address in [address for address in self._hosts if address not in sizes]:
            self._forget(address)
            _log.info("Dask worker %s has left", address)
            if not sizes:
                _log.warning("waiting for a worker: the last one of %s has left", self._where)
        self._give_up([answer for answer, running in self._flight.items() if running.address not in sizes])
        if self._greeting is None and (new := [address for address in sizes if address not in self._hosts]):
            self._greeting = self._greeted(new)
        if self._greeting is None or not (at_once or self._greeting.done()):
            return []
        arrived, self._greeting = self._greeting, None
        try:
            answers = arrived.result()
        except (OSError, TimeoutError, CancelledError) as error:  # the scheduler was lost, or the client was closed
            _log.debug("the new Dask workers did not answer: %s", error)
            return []
        return self._use({address: answer for address, answer in answers.items() if address in sizes})

    def _greeted(self, addresses: Collection[str]) -> Answer[dict[str, Any]]:
        """Ask new workers, in another thread, whether they can run pulls."""
        setup, client = self._started
        directory, owner = self._place or (None, None)
        arguments = setup.key, setup.versions, directory, owner
        answer: Answer[dict[str, Any]] = Answer()

        def greet() -> dict[str, Any]:
            return dict(client.run(greeting, *arguments, workers=list(addresses), on_error="return"))

        def ask() -> None:
            try:
                answers = greet()
                if any(answer is None for answer in answers.values()):  # a restarted scheduler has no plugin
                    client.register_plugin(Hosting(setup), name=plugin_name(setup.key))
                    answers = greet()
                answer.set_result(answers)
            except BaseException as error:
                answer.set_exception(error)

        threading.Thread(target=ask, name="manyarms-greeting", daemon=True).start()
        return answer

    def _use(self, answers: Mapping[str, Any]) -> list[str]:
        """Start to use the workers that can run pulls. Returns the reasons why the others cannot."""
        refused = []
        for address, answer in answers.items():
            if answer is None or isinstance(answer, OSError):
                continue  # it has left again
            if isinstance(answer, BaseException):
                answer = {"refusal": f"the Dask worker {address} cannot run pulls: {type(answer).__name__}: {answer}"}
            slots = self._needs.fitting(answer.get("threads", 0), answer.get("resources", {}))
            reason = answer["refusal"] or (None if slots else self._needs.shortage(address))
            if reason is not None:
                refused.append(reason)
            elif answer["differences"]:
                _log.warning("Dask worker %s has %s; results may differ", address, ", ".join(answer["differences"]))
            self._hosts[address] = answer.get("host", "")
            self._slots.add(address, slots if reason is None else 0)
        if not self._slots.total:
            self._forget_workers()  # ask them again later, because no other worker can be used
        elif refused:
            warnings.warn(f"not using {len(refused)} Dask worker(s), because {refused[0]}", ManyarmsWarning, stacklevel=2)
        return refused

    def _forget(self, address: str) -> None:
        """Stop using a worker until it has answered the questions for new workers again."""
        if address in self._hosts:
            given = [running for answer, running in self._flight.items() if running.address == address and not _is_done(answer)]
            for running in given[self._slots.size(address) :]:
                running.has_started = False
            del self._hosts[address]
        self._slots.remove(address)

    def _forget_workers(self) -> None:
        self._hosts = {}
        self._slots.clear()

    def _sizes(self) -> dict[str, int]:
        """The number of threads of each worker. If the scheduler was lost, waits for it to come back."""
        deadline = self._clock() + self._patience
        while True:
            try:
                _, client = self._started
                if client.status == "running":
                    return dict(client.nthreads())
                if client.status == "closed":
                    self._client = self._connected_again(client)
                    continue
                error: Exception = OSError("the connection to the scheduler was lost")
            except (OSError, TimeoutError, WorkerError) as failure:
                error = failure
            if self._clock() >= deadline:
                raise WorkerError(f"the Dask scheduler at {self._where} was lost ({error}): {_RERUN}") from error
            _log.warning("waiting for the Dask scheduler at %s: %s", self._where, error)
            time.sleep(_LOOK)

    def _connected_again(self, client: Client) -> Client:
        """A new client, because Dask closes a client that could not reconnect for half a minute."""
        if self._own is not None:
            raise WorkerError(f"the local Dask cluster was closed: {_RERUN}")
        self._address, self._security = self._known
        client.close(timeout=_LOOK)
        connected = self._connected()
        for future in self._flight:  # their pulls count as lost and run again
            self._answers.add(future)
        return connected

    @property
    def _started(self) -> tuple[Setup, Client]:
        if self._setup is None or self._client is None:
            raise WorkerError("the runner is closed: start it again with a function")
        return self._setup, self._client

    # -- tasks

    def _assign(self) -> None:
        """Send waiting tasks to free workers: each to the worker that ran the last pull of its arm, if that is free."""
        if self._started[1].status != "running":
            self._looked = -math.inf  # wait for the scheduler
            return
        while self._waiting:
            address = self._slots.take(self._holders.get(self._waiting[0].pull.arm.id))
            if address is None:
                return
            try:
                self._send(self._waiting[0], address)
            except ClosedClientError:  # the client was closed just now
                self._slots.give_back(address)
                self._looked = -math.inf
                return
            self._waiting.popleft()

    def _send(self, task: Task, address: str) -> None:
        setup, client = self._started
        future = client.submit(
            run_pull,
            setup.key,
            self._hosts[address],
            task,
            key=f"manyarms-{setup.key}-{next(self._numbers)}",
            workers=[address],
            allow_other_workers=True,  # or a task whose worker has left waits forever; others return `MOVED`
            resources=self._needs.of_dask(),
            retries=0,
            pure=False,
        )
        # Dask's thread fetches the answer as soon as it is available, together with those of other workers.
        fetching = client.gather(future, asynchronous=True)
        answer = asyncio.run_coroutine_threadsafe(fetching, client.loop.asyncio_loop)
        self._flight[answer] = _Flight(task, address, future)
        self._answers.expect(answer)

    def _give_up(self, answers: Collection[Answer[Any]]) -> None:
        """Cancel tasks whose workers have left. Otherwise, Dask would keep them until that worker returns."""
        if answers:
            _, client = self._started
            client.cancel([self._flight[answer].future for answer in answers], force=True)
        for answer in answers:
            answer.cancel()  # its pull counts as lost and runs again

    def _release(self) -> None:
        """Let Dask forget tasks that have ended.

        This is done about once a second: Dask sends one message every 10 ms, so a release would delay the next pull.
        """
        for future in self._spent:
            with suppress(Exception):  # its client may be closed
                future.release()
        self._spent = []

    def _outcome(self, answer: Answer[Any]) -> Outcome | None:
        """The outcome of a task; None if the task was abandoned."""
        if answer not in self._flight:
            return None
        running = self._flight[answer]
        task, address = running.task, running.address
        try:
            outcome = answer.result() if running.future.client is self._client else MOVED
        except WorkerError:
            raise
        except (Exception, CancelledError) as error:
            outcome = _read_error(error, address)
        if not isinstance(outcome, Outcome):
            self._forget(address)  # if it is still there, ask again whether it can run pulls
            self._looked = -math.inf
        del self._flight[answer]
        self._slots.give_back(address)
        self._spent.append(running.future)
        if not isinstance(outcome, Outcome):
            _log.info("Dask worker %s was lost; the pull of arm %d runs again", address, task.pull.arm.id)
            return lost_outcome(task, "often: out of memory", running.has_started)
        self._holders[task.pull.arm.id] = address
        self._pace.note(outcome.seconds)
        self._slots.depth = self._pace.depth
        return outcome


@dataclass(slots=True)
class _Flight:
    """A task that was given to a worker, with its future. Until the worker is lost, it counts as started."""

    task: Task
    address: str
    future: Future
    has_started: bool = True


def _is_done(answer: Answer[Any]) -> bool:
    """Whether the worker has run the task."""
    return has_result(answer) and answer.result() != MOVED


def _read_error(error: BaseException, address: str) -> str:
    """Interpret an exception of Dask. Returns `MOVED` if the pull can run again; otherwise raises `WorkerError`."""
    if isinstance(error, (KilledWorker, FutureCancelledError, CancelledError, OSError, TimeoutError)):
        return MOVED
    raise WorkerError(f"the Dask worker {address} cannot run pulls: {type(error).__name__}: {error}") from error


def _address_of(cluster: str) -> str | None:
    """The address of a scheduler as Dask writes it; None for a new cluster on this machine."""
    if cluster in ("dask", "dask://"):
        return None
    place = cluster.removeprefix("dask://")
    return place if "://" in place else f"tcp://{place}"
