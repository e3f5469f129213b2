"""The side of a Dask worker: the plugin that hosts the pulls of a search, and the functions that the study calls there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from distributed import WorkerPlugin, get_worker
from distributed.worker import Worker

from ...checkpoints.remote import Location
from ...core import Outcome
from ..task import Task
from .host import Host, Setup, differences, refusal

MOVED = "moved"
"""The answer of a worker that got a pull which was meant for another one."""


@dataclass(frozen=True, slots=True)
class Needs:
    """The resources that a pull needs."""

    cpu: float | None = None
    gpu: float | None = None

    def fitting(self, threads: int, resources: Mapping[str, float]) -> int:
        """How many pulls fit on a worker."""
        slots = float(threads) if not self.cpu else threads // self.cpu
        return int(slots if not self.gpu else min(slots, resources.get("GPU", 0) / self.gpu + 1e-9))

    def shortage(self, address: str) -> str:
        """Why no pull fits on a worker."""
        if self.gpu:
            return (
                f"the Dask worker {address} does not offer {self.gpu:g} of the resource GPU: start it with "
                f'`dask worker --resources "GPU={math.ceil(self.gpu)}"`, or remove "gpu" from resources'
            )
        return f"the Dask worker {address} has fewer threads than resources['cpu'], which is {self.cpu:g}"

    def of_dask(self) -> dict[str, float] | None:
        """The resources as Dask names them."""
        return {"GPU": self.gpu} if self.gpu else None


class Hosting(WorkerPlugin):  # type: ignore[misc]
    """Makes each worker of the cluster, including those that join later, a host for the pulls of a search."""

    def __init__(self, setup: Setup) -> None:
        self.setup_of_search = setup
        self.host: Host | None = None
        self.id = ""

    def setup(self, worker: Worker) -> None:
        self.host, self.id = Host(self.setup_of_search), str(worker.id)

    def teardown(self, worker: Worker) -> None:
        if self.host is not None:
            self.host.close()


def plugin_name(key: str) -> str:
    """The name of the plugin of a search."""
    return f"manyarms-{key}"


def greeting(
    key: str, versions: Mapping[str, str], directory: Location | None, owner: str | None, dask_worker: Worker
) -> dict[str, Any] | None:
    """What the study needs to know about this worker; None if it does not have the plugin of the search."""
    plugin = dask_worker.plugins.get(plugin_name(key))
    if plugin is None:
        return None
    return {
        "host": plugin.id,
        "threads": dask_worker.state.nthreads,
        "resources": dict(dask_worker.state.total_resources),
        "refusal": None if directory is None else refusal(versions, directory, owner),
        "differences": differences(versions),
    }


def run_pull(key: str, host: str, task: Task) -> Outcome | str:
    """Run a pull on the worker that was chosen for it. Does nothing if Dask moved it to another worker."""
    plugin = get_worker().plugins.get(plugin_name(key))
    if plugin is None or plugin.id != host or plugin.host is None:
        return MOVED
    outcome: Outcome = plugin.host.run(task)
    return outcome
