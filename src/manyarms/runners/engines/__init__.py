"""Runners for several machines, on the workers of Dask, Ray or any `concurrent.futures.Executor`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any, Protocol, runtime_checkable

from ...checkpoints.remote import Location
from ..protocol import Runner


@runtime_checkable
class EngineRunner(Runner, Protocol):
    """A runner whose workers may be on other machines."""

    def check_access(self, directory: Location, owner: str | None) -> None:
        """Raise `WorkerError` if the workers cannot run pulls for a study.

        Args:
            directory: The directory of checkpoints, which all workers must be able to read.
            owner: The content of its owner file.
        """


@runtime_checkable
class PublishingRunner(Runner, Protocol):
    """A runner that other processes can join, at an address that is stored with the study."""

    def publish_with(self, publish: Callable[[str | None], None]) -> None:
        """Set the function that stores the address where other processes can join. It gets None when they no longer can."""


def engine_runner(
    engine: Any, workers: int | str | None, pull_timeout: float | str | None, resources: Mapping[str, float] | None
) -> EngineRunner | None:
    """The runner for an engine; None if the argument is not an engine.

    Args:
        engine: "dask", "dask://host:8786", a `distributed.Client`, "ray", "ray://host:10001", or an `Executor`.
        workers, pull_timeout, resources: As for `Study.optimize`.
    """
    if isinstance(engine, str):
        name = engine.partition("://")[0]
        if name == "dask":
            from .dask import DaskRunner

            return DaskRunner(engine, workers, pull_timeout, resources)
        if name == "ray":
            from .ray import RayRunner

            return RayRunner(engine, workers, pull_timeout, resources)
        raise ValueError(f'runner must be "dask", "dask://host:8786", "ray", "ray://host:10001" or an object, got {engine!r}')
    distributed = sys.modules.get("distributed")
    if distributed is not None and isinstance(engine, distributed.Client):
        from .dask import DaskRunner

        return DaskRunner(engine, workers, pull_timeout, resources)
    if isinstance(engine, Executor):
        from .executor import ExecutorRunner

        return ExecutorRunner(engine, workers, pull_timeout, resources)
    return None
