"""Runs pulls on a Ray cluster."""

from __future__ import annotations

import logging
import math
import pickle
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from itertools import count
from typing import Any

import cloudpickle

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
from .answers import Answers, has_result
from .host import Host, Setup, refusal
from .losses import lost_outcome
from .pace import Pace, in_flight
from .slots import Slots

try:
    import ray
    from ray.exceptions import RayError, RayTaskError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError:
    raise ImportError('runner="ray" needs Ray: pip install "manyarms[ray]"') from None

_LOOK = 1.0  # seconds between checks for nodes that have joined or left
_TURN = 600.0  # seconds after which a worker is given back, so that several searches that use the whole cluster take turns
_END = 5.0  # seconds to wait until abandoned pulls have ended
_PATIENCE = 30.0  # seconds without a worker after which that is reported
_STARTS = 3  # workers that may fail to start in a row
_log = logging.getLogger("manyarms")


class RayRunner:
    """Runs pulls on a Ray cluster, each in a child process of its Ray worker.

    The workers are actors, which get the function once and stay until the search ends. Nodes may join and leave during a
    search. A pull whose worker or node is lost is run again, and is counted once.

    Args:
        address: "ray" for the cluster that this process is connected to or this machine belongs to, or else a new one on this
            machine; "ray://host:10001" for a remote cluster, through Ray Client; "auto" or "host:6379" for the cluster that
            this machine belongs to.
        workers: Maximum number of pulls that run at once; "all" means as many as fit on the cluster, even if its size changes.
            Then each worker is given back to Ray every ten minutes, so that searches that share a cluster take turns.
        pull_timeout: As for `ProcessRunner`.
        resources: What Ray reserves for each worker, such as {"cpu": 2, "gpu": 1}. By default, one CPU.
        clock: Returns the time in seconds since an arbitrary moment.
    """

    def __init__(
        self,
        address: str = "ray",
        workers: int | str | None = "all",
        pull_timeout: float | str | None = None,
        resources: Mapping[str, float] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = None if address in ("ray", "ray://") else address
        self._limit = None if workers in (None, "all") else checks.whole("workers", workers, 1)  # type: ignore[arg-type]
        PullLimit.of(pull_timeout)  # raises if it is not valid
        self._pull_timeout, self._clock = pull_timeout, clock
        needs = checked_resources(resources)
        self._cpus, self._gpus = needs.get("cpu", 1.0), needs.get("gpu", 0.0)
        self._own = False  # whether this object connected to Ray, and so must disconnect
        self._setup: Setup | None = None
        self._sent: Any = None  # the setup in Ray's object store
        self._starting: dict[Future[Any], tuple[str, Any]] = {}  # name and actor of each worker that is not ready yet
        self._members: dict[str, _Member] = {}  # by name
        self._slots, self._pace = Slots(), Pace()  # of these workers
        self._names = map(str, count())
        self._failed_starts = 0  # in a row
        self._waiting: deque[Task] = deque()  # submitted, but no worker was free
        self._end = math.inf  # when the search ends, by the clock
        self._flight: dict[Future[Any], _Flight] = {}
        self._answers = Answers()
        self._holders: dict[int, str] = {}  # by arm: the worker that ran its last pull
        self._room, self._looked = 0, -math.inf
        self._alone = clock()  # when there was a worker, or when it was last reported that there is none

    @property
    def workers(self) -> int:
        slots = self._slots.total or self._room  # before the first worker is ready, as many as there should be
        return in_flight(slots, self._limit, self._slots.depth)

    def __repr__(self) -> str:
        return f"RayRunner({self._address or 'ray'}, workers={'all' if self._limit is None else self._limit})"

    def check(self, function: Function) -> None:
        """Raise an error if the function cannot be sent to workers."""
        check_picklable(function)

    def start(self, function: Function) -> None:
        setup = Setup(pickled(function), self._pull_timeout, max(1, int(self._cpus)))
        self._connect()
        self._setup, self._sent = setup, ray.put(setup)
        self._look(at_once=True)

    def check_access(self, directory: Location, owner: str | None) -> None:
        """Raise `WorkerError` if a node cannot run pulls for the study.

        Args:
            directory: The directory of checkpoints, which all nodes must be able to read.
            owner: The content of its owner file.
        """
        setup = self._started
        probe = ray.remote(num_cpus=0, max_retries=0)(refusal)
        probes = [
            probe.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=True)).remote(
                setup.versions, directory, owner
            )
            for node in self._alive()
        ]
        try:
            refused = [reason for reason in ray.get(probes) if reason is not None]
        except RayTaskError as error:
            raise WorkerError(f"a Ray worker cannot run pulls: {error.cause!r}") from error
        if refused:
            raise WorkerError(refused[0])

    def submit(self, task: Task) -> None:
        self._end = self._clock() + task.start_within
        self._waiting.append(task)
        self._assign()

    def collect(self) -> list[Outcome]:
        size = self.workers
        while True:
            outcomes = [outcome for answer in self._answers.take(_LOOK) for outcome in self._outcomes(answer)]
            self._look()
            self._assign()
            if outcomes or self.workers > size:
                return outcomes
            if not self._flight and self._clock() >= self._end:  # the search has ended, and there is still no worker
                raise PullsAbandoned

    def now(self) -> float:
        return self._clock()

    def close(self) -> None:
        actors = [actor for _, actor in self._starting.values()] + [member.actor for member in self._members.values()]
        references = [running.reference for running in self._flight.values()]
        self._starting, self._members, self._flight, self._holders = {}, {}, {}, {}
        self._slots, self._answers, self._room = Slots(), Answers(), 0
        self._waiting.clear()
        if self._setup is None:
            return
        self._setup = self._sent = None
        if ray.is_initialized():
            for actor in actors:
                ray.kill(actor)  # and with it the child process
            if references:  # or they could save a checkpoint after the study has removed those of abandoned pulls
                ray.wait(references, num_returns=len(references), timeout=_END, fetch_local=False)
        self._disconnect()

    # -- the cluster

    def _connect(self) -> None:
        """Connect to the cluster, unless this process is already connected."""
        if ray.is_initialized():
            return
        try:
            if self._address is not None:
                ray.init(address=self._address, logging_level=logging.ERROR)
            else:
                self._connect_here()
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise WorkerError(f"the Ray cluster at {self._address or 'this machine'} cannot be reached: {error}") from error
        self._own = True

    def _connect_here(self) -> None:
        """Connect to the cluster that this machine belongs to, or start one.

        The address "auto" would also find the cluster that another search has started for itself, and that ends with it.
        """
        cpus = None if self._limit is None else math.ceil(self._limit * self._cpus)
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        try:
            try:
                ray.init(num_cpus=cpus, include_dashboard=False, **quiet)
            except ValueError:  # a cluster, whose resources are given
                ray.init(**quiet)
        except ConnectionError:  # it has ended, but its address is still stored
            ray.init(address="local", num_cpus=cpus, include_dashboard=False, **quiet)

    def _disconnect(self) -> None:
        if self._own:
            ray.shutdown()
            self._own = False

    def _alive(self) -> list[str]:
        return [node["NodeID"] for node in ray.nodes() if node["Alive"]]

    def _look(self, at_once: bool = False) -> None:
        """Start and end workers, so that their number is right for the cluster."""
        if not at_once and self._clock() < self._looked + _LOOK:
            return
        self._looked = self._clock()
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        room = max(1, sum(self._fitting(resources) for resources in nodes))
        if self._room not in (0, room) and self._limit is None:
            _log.info("the Ray cluster now has room for %d pulls at once", room)
        self._room = room
        wanted = room if self._limit is None else self._limit
        for _ in range(len(self._members) + len(self._starting), wanted):
            self._start_worker()
        while self._starting and len(self._members) + len(self._starting) > wanted:
            ray.kill(self._starting.popitem()[1][1])
        if self._limit is None:
            self._take_turns()
        if self._members:
            self._alone = self._clock()
        elif self._clock() - self._alone >= _PATIENCE:
            _log.warning("waiting for Ray, which has not started a worker yet: other work may be using the cluster")
            self._alone = self._clock()

    def _fitting(self, resources: Mapping[str, float]) -> int:
        """How many pulls fit on a node."""
        needs = [(self._cpus, resources.get("CPU", 0.0)), (self._gpus, resources.get("GPU", 0.0))]
        return min((int(there / needed + 1e-9) for needed, there in needs if needed), default=1)

    # -- workers

    def _start_worker(self) -> None:
        worker = ray.remote(num_cpus=self._cpus, num_gpus=self._gpus, max_restarts=0, max_task_retries=0)(_Worker)
        actor = worker.remote(self._sent)
        answer = actor.is_ready.remote().future()
        self._starting[answer] = next(self._names), actor
        self._answers.expect(answer)

    def _welcome(self, answer: Future[Any]) -> None:
        """Use a worker that is ready now."""
        name, actor = self._starting.pop(answer)
        try:
            answer.result()
        except (RayError, CancelledError) as error:
            self._failed_starts += 1
            if self._failed_starts >= _STARTS:
                raise WorkerError(f"Ray workers cannot be started: {error}") from error
            _log.info("a Ray worker did not start: %s", error)
            return
        self._failed_starts = 0
        self._members[name] = _Member(actor, self._clock())
        self._slots.add(name, 1)

    def _take_turns(self) -> None:
        """Give a worker back to Ray if it has been used for a long time. Its successor waits behind those of other searches."""
        for name, member in self._members.items():
            if name in self._slots and self._clock() - member.since >= _TURN:
                self._slots.remove(name)  # gets no more pulls
                self._end_if_idle(name)
                return

    def _end_if_idle(self, name: str) -> None:
        """End a worker that gets no more pulls, unless it is still running one."""
        if name not in self._slots and all(running.worker != name for running in self._flight.values()):
            ray.kill(self._members.pop(name).actor)

    def _lose(self, name: str) -> list[Task]:
        """Stop using a worker that does not answer. It may still run, so it is killed. Returns its tasks, oldest first."""
        self._slots.remove(name)
        member = self._members.pop(name, None)
        if member is not None:
            ray.kill(member.actor)
        self._looked = -math.inf  # start another one
        lost = [answer for answer, running in self._flight.items() if running.worker == name and not has_result(answer)]
        for _ in lost:
            self._slots.give_back(name)
        return [self._flight.pop(answer).task for answer in lost]

    # -- tasks

    @property
    def _started(self) -> Setup:
        if self._setup is None:
            raise WorkerError("the runner is closed: start it again with a function")
        return self._setup

    def _assign(self) -> None:
        """Send waiting tasks to free workers: each to the worker that ran the last pull of its arm, if that is free."""
        while self._waiting:
            name = self._slots.take(self._holders.get(self._waiting[0].pull.arm.id))
            if name is None:
                return
            task = self._waiting.popleft()
            reference = self._members[name].actor.run.remote(cloudpickle.dumps(task))  # bytes are faster to send than objects
            answer = reference.future()
            self._flight[answer] = _Flight(task, name, reference)
            self._answers.expect(answer)

    def _outcomes(self, answer: Future[Any]) -> list[Outcome]:
        """The outcome of a task, or those of all tasks of a lost worker. Empty if a new worker is ready, or for an old task."""
        if answer in self._starting:
            self._welcome(answer)
        if answer not in self._flight:
            return []
        task, name = self._flight[answer].task, self._flight[answer].worker
        try:
            outcome: Outcome = pickle.loads(answer.result())
        except RayTaskError as error:
            if isinstance(error.cause, WorkerError):
                raise error.cause from error
            raise WorkerError(f"a Ray worker cannot run pulls: {error.cause!r}") from error
        except (RayError, CancelledError) as error:
            lost = self._lose(name)
            _log.info("a Ray worker was lost (%s); %d of its pulls run again", type(error).__name__, len(lost))
            cause = f"{type(error).__name__}; often: out of memory"
            return [lost_outcome(task, cause, has_started=task is lost[0]) for task in lost]
        del self._flight[answer]
        self._slots.give_back(name)
        self._holders[task.pull.arm.id] = name
        self._pace.note(outcome.seconds)
        self._slots.depth = self._pace.depth
        self._end_if_idle(name)
        return [outcome]


@dataclass(frozen=True, slots=True)
class _Member:
    """A worker that runs pulls.

    Args:
        actor: Its handle.
        since: When it became ready, by the runner's clock.
    """

    actor: Any
    since: float


@dataclass(frozen=True, slots=True)
class _Flight:
    """A task that was sent to a worker, with the reference to its answer."""

    task: Task
    worker: str
    reference: Any


class _Worker:
    """Runs the pulls of a search, one at a time. A Ray actor."""

    def __init__(self, setup: Setup) -> None:
        self._host = Host(setup)

    def is_ready(self) -> bool:
        return True

    def run(self, task: bytes) -> bytes:
        """Run a pull, pickled. Returns the outcome, pickled."""
        outcome: bytes = cloudpickle.dumps(self._host.run(pickle.loads(task)))
        return outcome
