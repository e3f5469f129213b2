"""Runs pulls on a Ray cluster."""

from __future__ import annotations

import logging
import math
import pickle
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from typing import Any

import cloudpickle

from ... import checks
from ...checkpoints.remote import Location
from ...core import Outcome
from ...errors import WorkerError
from ..execute import Function
from ..pickling import check_picklable, pickled
from ..pull_limit import PullLimit
from ..resources import checked_resources
from ..task import Task
from .answers import Answers
from .host import Host, Setup, refusal
from .pace import Pace, in_flight

try:
    import ray
    from ray.exceptions import RayError, RayTaskError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError:
    raise ImportError('runner="ray" needs Ray: pip install "manyarms[ray]"') from None

_LOOK = 1.0  # seconds between checks for nodes that have joined or left
_END = 5.0  # seconds to wait until abandoned pulls have ended
_MOST_HOSTS = 4  # searches that share a worker; an older one is set up again if it needs the worker
_REST = 10.0  # seconds after which a worker ends its child process: Ray does not tell workers that a search has ended
_log = logging.getLogger("manyarms")
_hosts: dict[str, Host] = {}  # used in workers; by key of the search
_mutex = threading.Lock()


class RayRunner:
    """Runs pulls on a Ray cluster, each in a child process of its Ray worker.

    Each worker gets the function once. Nodes may join and leave during a search. A pull whose worker or node is lost is run
    again, and is counted once.

    Args:
        address: "ray" for the cluster that this process is connected to or this machine belongs to, or else a new one on this
            machine; "ray://host:10001" for a remote cluster, through Ray Client; "auto" or "host:6379" for the cluster that
            this machine belongs to.
        workers: Maximum number of pulls that run at once; "all" means as many as fit on the cluster, even if its size changes.
        pull_timeout: As for `ProcessRunner`.
        resources: What Ray reserves for each pull, such as {"cpu": 2, "gpu": 1}. By default, one CPU.
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
        self._remote: Any = None  # the function that runs a pull; made once, because Ray sends each new one to all workers
        self._flight: dict[Future[Any], tuple[Task, Any]] = {}  # with the object reference
        self._answers = Answers()
        self._nodes: dict[int, str] = {}  # by arm: the node that ran its last pull
        self._slots, self._n_nodes, self._looked = 1, 1, -math.inf
        self._pace = Pace()

    @property
    def workers(self) -> int:
        return in_flight(self._slots, self._limit, self._pace.depth)

    def __repr__(self) -> str:
        return f"RayRunner({self._address or 'ray'}, workers={'all' if self._limit is None else self._limit})"

    def check(self, function: Function) -> None:
        """Raise an error if the function cannot be sent to workers."""
        check_picklable(function)

    def start(self, function: Function) -> None:
        setup = Setup(pickled(function), self._pull_timeout, max(1, int(self._cpus)))
        self._connect()
        self._setup, self._sent = setup, ray.put(setup)
        self._remote = ray.remote(num_cpus=self._cpus, num_gpus=self._gpus, max_retries=0)(_run)
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
        self._send(task)

    def collect(self) -> list[Outcome]:
        size = self.workers
        while True:
            outcomes = [outcome for answer in self._answers.take(_LOOK) if (outcome := self._outcome(answer)) is not None]
            self._look()
            if outcomes or self.workers > size:
                return outcomes

    def now(self) -> float:
        return self._clock()

    def close(self) -> None:
        references, self._flight = [reference for _, reference in self._flight.values()], {}
        self._answers = Answers()
        if self._setup is None:
            return
        self._setup = self._sent = self._remote = None
        if ray.is_initialized():
            for reference in references:
                ray.cancel(reference, force=True)  # ends its worker, and with it the child process
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
        """Connect to the cluster that this machine belongs to, or start one."""
        try:
            ray.init(address="auto", log_to_driver=False, logging_level=logging.ERROR)
        except ConnectionError:
            ray.init(
                address="local",
                num_cpus=None if self._limit is None else math.ceil(self._limit * self._cpus),
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )

    def _disconnect(self) -> None:
        if self._own:
            ray.shutdown()
            self._own = False

    def _alive(self) -> list[str]:
        return [node["NodeID"] for node in ray.nodes() if node["Alive"]]

    def _look(self, at_once: bool = False) -> None:
        """Count the nodes, and the pulls that fit on the cluster."""
        if not at_once and self._clock() < self._looked + _LOOK:
            return
        self._looked = self._clock()
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        self._n_nodes = len(nodes)
        slots = max(1, sum(self._fitting(resources) for resources in nodes))
        if slots != self._slots and self._limit is None and not at_once:
            _log.info("the Ray cluster now has room for %d pulls at once", slots)
        self._slots = slots

    def _fitting(self, resources: Mapping[str, float]) -> int:
        """How many pulls fit on a node."""
        needs = [(self._cpus, resources.get("CPU", 0.0)), (self._gpus, resources.get("GPU", 0.0))]
        return min((int(there / needed + 1e-9) for needed, there in needs if needed), default=1)

    # -- tasks

    @property
    def _started(self) -> Setup:
        if self._setup is None:
            raise WorkerError("the runner is closed: start it again with a function")
        return self._setup

    def _send(self, task: Task, with_setup: bool = False) -> None:
        setup, node = self._started, self._nodes.get(task.pull.arm.id)
        options: dict[str, Any] = {"name": f"pull of arm {task.pull.arm.id}"}
        if node is not None and self._n_nodes > 1:  # with one node, this would only keep Ray from reusing a worker
            options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node, soft=True)
        # The setup is left out where possible, because Ray tracks each reference. Bytes are faster to send than objects.
        reference = self._remote.options(**options).remote(
            setup.key, [self._sent] if with_setup else None, cloudpickle.dumps(task)
        )
        answer = reference.future()
        self._flight[answer] = task, reference
        self._answers.expect(answer)

    def _outcome(self, answer: Future[Any]) -> Outcome | None:
        """The outcome of a task; None if it is not known yet, or if the task was abandoned."""
        if answer not in self._flight:
            return None
        task, _ = self._flight.pop(answer)
        try:
            result = answer.result()
        except RayTaskError as error:
            if isinstance(error.cause, WorkerError):
                raise error.cause from error
            raise WorkerError(f"a Ray worker cannot run pulls: {error.cause!r}") from error
        except (RayError, CancelledError) as error:  # the worker or its node was lost
            _log.info("a Ray worker was lost (%s); the pull of arm %d runs again", type(error).__name__, task.pull.arm.id)
            reason = f"its worker was lost {task.losses + 1} times ({type(error).__name__}; often: out of memory)"
            return Outcome(task.pull, reason=reason, attempts=task.attempt, lost=True)
        if result is None:  # a worker that has not run a pull of this search before
            self._send(task, with_setup=True)
            return None
        data, self._nodes[task.pull.arm.id] = result
        outcome: Outcome = pickle.loads(data)
        self._pace.note(outcome.seconds)
        return outcome


def _run(key: str, setup: list[Any] | None, task: bytes) -> tuple[bytes, str] | None:
    """Run a pull. Runs in a Ray worker. Returns the outcome and the node, or None if the worker needs the setup first.

    Args:
        key: Identifies the search.
        setup: A list with the reference to the setup, if this may be the first pull of the search in this worker.
        task: The pull, pickled.
    """
    with _mutex:
        host = _hosts.get(key)
        if host is None:
            if setup is None:
                return None
            for old in list(_hosts)[: 1 - _MOST_HOSTS]:  # Ray uses a worker for several searches, one after another or in turn
                _hosts.pop(old).close()
            host = _hosts[key] = Host(ray.get(setup[0]), rest=_REST)
    outcome = host.run(pickle.loads(task))
    return cloudpickle.dumps(outcome), ray.get_runtime_context().get_node_id()
