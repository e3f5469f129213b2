"""Clusters of Dask and Ray on this machine whose parts can be killed and added."""

from __future__ import annotations

import contextlib
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

_CHECK = 0.2  # seconds between checks whether a process must be started again
PULL_PROCESS = "manyarms.runners.worker"
"""Part of the command line of a process that runs pulls."""


class DaskCluster:
    """A Dask scheduler and workers, each a process of its own. As in a batch system, processes that end are started again.

    Args:
        directory: For files of the workers.
        workers: Number of workers at the start.
    """

    def __init__(self, directory: Path, workers: int) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.port = server.getsockname()[1]
        self._directory, self._closing = directory, False
        self._mutex = threading.Lock()
        scheduler = ["scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"]
        self._commands = [[*scheduler, "--dashboard-address", "127.0.0.1:0"]]
        self._processes = [self._start(self._commands[0])]
        for _ in range(workers):
            self.add()
        threading.Thread(target=self._supervise, daemon=True).start()

    @property
    def address(self) -> str:
        return f"dask://127.0.0.1:{self.port}"

    def add(self) -> None:
        """Add a worker."""
        command = ["worker", f"tcp://127.0.0.1:{self.port}", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]
        with self._mutex:
            self._commands.append([*command, "--death-timeout", "60", "--local-directory", str(self._directory)])
            self._processes.append(self._start(self._commands[-1]))

    def kill_worker(self, rng: random.Random) -> bool:
        """Kill a worker, which its nanny starts again, and sometimes also the nanny. Returns whether there was one."""
        with self._mutex:
            nannies = [psutil.Process(process.pid) for process in self._processes[1:] if process.poll() is None]
        rng.shuffle(nannies)
        for nanny in nannies:
            with contextlib.suppress(psutil.NoSuchProcess):
                workers = [child for child in nanny.children(recursive=True) if "spawn_main" in " ".join(child.cmdline())]
                if workers:
                    if rng.random() < 1 / 3:
                        nanny.kill()
                    workers[-1].kill()
                    return True
        return False

    def kill_scheduler(self) -> None:
        with self._mutex:
            self._processes[0].kill()

    def close(self) -> None:
        self._closing = True
        with self._mutex:
            for process in reversed(self._processes):
                end_tree(process.pid)
                process.wait()

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        with open(self._directory / "dask.log", "ab") as log:
            return subprocess.Popen([sys.executable, "-m", "dask", *command], stdout=log, stderr=log)

    def _supervise(self) -> None:
        while not self._closing:
            time.sleep(_CHECK)
            with self._mutex:
                for number, process in enumerate(self._processes):
                    if not self._closing and process.poll() is not None:
                        self._processes[number] = self._start(self._commands[number])


class RayCluster:
    """A Ray cluster with a head node and further nodes, all on this machine.

    Args:
        workers: Number of pulls that the head node runs at once.
    """

    def __init__(self, workers: int) -> None:
        import ray
        from ray.cluster_utils import Cluster

        self._cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": workers, "include_dashboard": False})
        self._added: list[Any] = []
        ray.init(address=self._cluster.address, log_to_driver=False, logging_level="ERROR")

    def add(self) -> None:
        """Add a node that runs one pull at a time."""
        self._added.append(self._cluster.add_node(num_cpus=1))

    def kill_node(self) -> None:
        """Kill all processes of an added node."""
        self._cluster.remove_node(self._added.pop(), allow_graceful=False)

    def kill_worker(self, rng: random.Random) -> bool:
        """Kill a worker that runs a pull. Returns whether there was one."""
        busy = [process for process in _descendants() if _name(process).startswith("ray::_Worker.run")]
        if not busy:
            return False
        with contextlib.suppress(psutil.NoSuchProcess):
            rng.choice(busy).kill()
            return True
        return False

    def close(self) -> None:
        import ray

        ray.shutdown()
        self._cluster.shutdown()


def pull_processes() -> list[psutil.Process]:
    """The processes for pulls that were started by this process, or by processes that it started."""
    return [process for process in _descendants() if PULL_PROCESS in _name(process)]


def end_tree(pid: int) -> None:
    """Kill a process and all that it started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for one in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()


def wait_until(holds: Callable[[], Any], seconds: float) -> bool:
    """Whether the condition came to hold within this time."""
    deadline = time.monotonic() + seconds
    while not (held := bool(holds())) and time.monotonic() < deadline:
        time.sleep(0.05)
    return held


def _descendants() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def _name(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""
