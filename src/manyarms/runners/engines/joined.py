"""Runs pulls in processes that join a study: the leader has a Dask scheduler, and every process has workers."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from ...checkpoints.remote import Location
from ...core import Outcome
from ...errors import WorkerError
from ..execute import Function
from ..pickling import check_picklable
from ..task import Task
from .dask import STATUS_ADDRESS, DaskRunner

try:
    import dask.config
    from distributed import Client, LocalCluster, Worker
    from distributed.security import Security
except ImportError:
    raise ImportError('join=True needs Dask: pip install "manyarms[dask]"') from None

_CONNECT = "10s"  # how long to wait for a leader that may have ended
_ROLES = ("scheduler", "worker", "client")
_log = logging.getLogger("manyarms")


@dataclass(frozen=True, slots=True)
class Leader:
    """The address of the leader of a study, and the TLS key to connect to it. It is kept in the storage of the study.

    Args:
        address: The address of its scheduler.
        certificate, key: The TLS certificate and key of all processes of the study, as text.
    """

    address: str
    certificate: str
    key: str

    def as_text(self) -> str:
        """The text that is stored."""
        return json.dumps({"address": self.address, "certificate": self.certificate, "key": self.key})

    @classmethod
    def from_text(cls, text: str) -> Leader:
        """The leader that was stored."""
        stored = json.loads(text)
        return cls(str(stored["address"]), str(stored["certificate"]), str(stored["key"]))

    @property
    def security(self) -> Security:
        """Settings with which Dask encrypts all connections, and accepts only processes that have the key."""
        roles = {
            f"tls_{role}_{part}": text for role in _ROLES for part, text in (("cert", self.certificate), ("key", self.key))
        }
        return Security(require_encryption=True, tls_ca_file=self.certificate, **roles)


class LeadingRunner:
    """Runs pulls in this process and in those that join. The scheduler is started with the first pull.

    Args:
        workers: Number of pulls that this process runs at once.
        pull_timeout, resources: As for `DaskRunner`.
        host: The address at which other machines can reach this one.
        clock: Returns the time in seconds since an arbitrary moment.
    """

    def __init__(
        self,
        workers: int,
        pull_timeout: float | str | None,
        resources: Mapping[str, float] | None,
        host: str,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._size, self._host, self._clock = workers, host, clock
        self._publish: Callable[[str | None], None] = lambda text: None
        self._pull_timeout, self._resources = pull_timeout, resources
        self._function: Function | None = None
        self._access: tuple[Location, str | None] | None = None
        self._cluster: LocalCluster | None = None
        self._client: Client | None = None
        self._runner: DaskRunner | None = None

    @property
    def workers(self) -> int:
        return self._size if self._runner is None else self._runner.workers

    def __repr__(self) -> str:
        return f"LeadingRunner(workers={self.workers})"

    def check(self, function: Function) -> None:
        """Raise an error if the function cannot be sent to workers."""
        check_picklable(function)

    def start(self, function: Function) -> None:
        self.check(function)
        self._function = function

    def check_access(self, directory: Location, owner: str | None) -> None:
        """Set what each worker that joins must be able to read."""
        self._access = directory, owner

    def publish_with(self, publish: Callable[[str | None], None]) -> None:
        """Set the function that stores the address where other processes can join."""
        self._publish = publish

    def submit(self, task: Task) -> None:
        self._leading().submit(task)

    def collect(self) -> list[Outcome]:
        return self._leading().collect()

    def now(self) -> float:
        return self._clock()

    def close(self) -> None:
        if self._runner is None:
            return
        runner, self._runner = self._runner, None
        with suppress(Exception):  # the storage may be gone, or have another leader
            self._publish(None)
        runner.close()
        if self._client is not None:
            self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def _leading(self) -> DaskRunner:
        if self._runner is not None:
            return self._runner
        if self._function is None:
            raise WorkerError("the runner is closed: start it again with a function")
        security = Security.temporary()
        self._cluster = LocalCluster(
            n_workers=1,
            threads_per_worker=self._size,
            processes=False,  # pulls run in child processes anyway
            host=self._host,
            protocol="tls://",
            security=security,
            resources=_resources(self._size, self._resources),
            dashboard_address=STATUS_ADDRESS,
            worker_dashboard_address=STATUS_ADDRESS,
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
        )
        self._client = Client(self._cluster, security=security, set_as_default=False)
        self._runner = DaskRunner(self._client, "all", self._pull_timeout, self._resources, clock=self._clock)
        self._runner.start(self._function)
        if self._access is not None:
            self._runner.check_access(*self._access)
        leader = Leader(self._cluster.scheduler_address, security.tls_worker_cert, security.tls_worker_key)
        self._publish(leader.as_text())
        return self._runner


def work_for(leader: Leader, workers: int, resources: Mapping[str, float] | None, host: str, timeout: float | None) -> bool:
    """Run pulls for the leader of a study, until it ends.

    Args:
        leader: The leader.
        workers: Number of pulls to run at once.
        resources: What each of them needs.
        host: The address at which other machines can reach this one.
        timeout: Seconds after which to stop; None means no limit.

    Returns:
        Whether the leader could be reached.
    """
    with dask.config.set({"distributed.comm.timeouts.connect": _CONNECT}), _quiet():
        return asyncio.run(_serve(leader, workers, resources, host, timeout))


@contextmanager
def _quiet() -> Iterator[None]:
    """Context manager that silences Dask, which would log closed connections whenever a study ends."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


async def _serve(leader: Leader, workers: int, resources: Mapping[str, float] | None, host: str, timeout: float | None) -> bool:
    worker = Worker(
        leader.address,
        nthreads=workers,
        resources=_resources(workers, resources),
        host=host,
        security=leader.security,
        dashboard=False,
        dashboard_address=STATUS_ADDRESS,
        death_timeout=_CONNECT,
        silence_logs=logging.CRITICAL,
    )
    try:
        await worker
    except (OSError, TimeoutError, RuntimeError) as error:  # the leader has ended
        _log.debug("the leader at %s cannot be reached: %s", leader.address, error)
        return False
    try:
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(worker.finished(), timeout)
    finally:
        await worker.close(timeout=1)
    return True


def reachable_host(server: tuple[str, int] | None) -> str:
    """The address from which this machine connects to a server; the loopback address if there is no server.

    Args:
        server: Host and port of the server.
    """
    if server is None:
        return "127.0.0.1"
    try:
        with socket.create_connection(server, timeout=10) as connection:
            return str(connection.getsockname()[0])
    except OSError:
        return socket.gethostbyname(socket.gethostname())


def _resources(workers: int, resources: Mapping[str, float] | None) -> dict[str, float]:
    """The resources of a worker that runs this number of pulls, as Dask names them."""
    gpus = (resources or {}).get("gpu")
    return {"GPU": workers * gpus} if gpus else {}
