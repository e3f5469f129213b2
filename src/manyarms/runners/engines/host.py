"""Runs pulls inside a worker of an engine such as Dask or Ray, each in a child process that can be ended."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from ...checkpoints.owner import says
from ...checkpoints.remote import Location
from ...core import Outcome
from ...errors import StorageError, WorkerError
from ..processes import ProcessRunner
from ..resources import device_leases, visible_devices
from ..task import Task

_MUST_MATCH = ("manyarms", "cloudpickle")
_SHOULD_MATCH = ("numpy", "scipy", "scikit-learn", "torch", "lightgbm", "xgboost", "pandas")


@dataclass(frozen=True, slots=True)
class Setup:
    """What each worker of an engine gets once per search.

    Args:
        function: The training function, pickled.
        pull_timeout: As for `ProcessRunner`.
        threads: Number of threads that the libraries of a pull may use; None leaves that to the engine.
        gpus: Number of devices for each pull, if the worker has several; None leaves that to the engine.
        environment: Environment variables of the pulls, in addition to those of the worker.
        versions: The versions of Python and of packages in the process of the study.
        key: Identifies the search.
    """

    function: bytes = field(repr=False)
    pull_timeout: float | str | None = None
    threads: int | None = None
    gpus: float | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=lambda: versions())
    key: str = field(default_factory=lambda: secrets.token_hex(8))


class Host:
    """Runs the pulls that a worker receives. Each runs in a child process, which is reused for the next pull.

    If a pull crashes or takes too long, its process ends and the pull fails, but the worker continues. If the worker ends,
    its child processes end with it.

    Args:
        setup: The function and its settings.
        is_abandoned: Called from time to time while a pull runs. Returns whether the study has stopped waiting for it.
    """

    def __init__(self, setup: Setup, is_abandoned: Callable[[], bool] = lambda: False) -> None:
        self._setup, self.is_abandoned = setup, is_abandoned
        self._mutex = threading.Lock()
        self._idle: list[tuple[str | None, ProcessRunner]] = []  # with the devices that the worker had then
        self._leases: list[str | None] = _leases(setup.gpus)  # devices for the next processes
        self._busy: set[ProcessRunner] = set()
        self._closed = False

    def run(self, task: Task) -> Outcome:
        """Run one pull. May be called by several threads at once.

        Raises:
            WorkerError: The function cannot be loaded on this machine.
        """
        devices = os.environ.get("CUDA_VISIBLE_DEVICES")  # an engine may assign different devices to the next pull
        runner = self._take(devices)
        try:
            runner.submit(task)
            with self._mutex:
                if self._closed:  # `close` was called before there was a process to kill
                    runner.kill()
            outcome = runner.collect()[0]
        except BaseException:
            self._discard(runner)
            raise
        with self._mutex:
            self._busy.discard(runner)
            if not self._closed:
                self._idle.append((devices, runner))
                return outcome
        runner.close()
        return outcome

    def close(self) -> None:
        """End all child processes, including those of running pulls."""
        with self._mutex:
            self._closed = True
            idle, self._idle = [runner for _, runner in self._idle], []
            for runner in self._busy:
                runner.kill()
        for runner in idle:
            runner.close()

    def _take(self, devices: str | None) -> ProcessRunner:
        with self._mutex:
            if self._closed:
                raise WorkerError("the search has ended")
            fitting = [entry for entry in self._idle if entry[0] == devices]
            if fitting:
                self._idle.remove(fitting[-1])
                runner = fitting[-1][1]
            else:
                runner = self._new()
            self._busy.add(runner)
            return runner

    def _new(self) -> ProcessRunner:
        setup, lease = self._setup, self._leases.pop() if self._leases else None
        runner = ProcessRunner(
            1,
            setup.pull_timeout,
            None if setup.threads is None else {"cpu": setup.threads},
            is_abandoned=self.is_abandoned,
            environment={**setup.environment, **({} if lease is None else {"CUDA_VISIBLE_DEVICES": lease})},
        )
        runner.start_pickled(setup.function)
        return runner

    def _discard(self, runner: ProcessRunner) -> None:
        with self._mutex:
            self._busy.discard(runner)
        runner.close()


def _leases(gpus: float | None) -> list[str | None]:
    """The devices of each pull, if this worker has several; empty if the engine assigns them."""
    devices = visible_devices() if gpus else []
    return device_leases(int(len(devices) / gpus + 1e-9), {"gpu": gpus}, devices)[::-1] if devices and gpus else []


def refusal(theirs: Mapping[str, str], directory: Location, owner: str | None) -> str | None:
    """Why this machine cannot run pulls for a study; None if it can.

    Args:
        theirs: The versions in the process of the study.
        directory: The directory of checkpoints.
        owner: The content of its owner file; None if the directory has no owner.
    """
    ours = versions()
    for name in ("python", *_MUST_MATCH):
        if _significant(name, ours.get(name)) != _significant(name, theirs.get(name)):
            return f"{_here()} has {name} {ours.get(name)}, but the study runs with {name} {theirs.get(name)}"
    if owner is not None and not _can_read(directory, owner):
        return (
            f"{_here()} cannot read the checkpoint directory {str(directory)!r}: use a directory that all machines share, "
            'or a URL such as checkpoints="s3://bucket/models"'
        )
    return None


def _can_read(directory: Location, owner: str) -> bool:
    try:
        return says(directory, owner)
    except (StorageError, ImportError):  # no credentials, or no package for the URL
        return False


def differences(theirs: Mapping[str, str]) -> list[str]:
    """The packages whose version on this machine differs from that in the process of the study, as text."""
    ours = versions()
    return [
        f"{name} {ours.get(name, '(missing)')} instead of {theirs[name]}"
        for name in _SHOULD_MATCH
        if name in theirs and ours.get(name) != theirs[name]
    ]


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that may matter for a training function."""
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in (*_MUST_MATCH, *_SHOULD_MATCH):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _significant(name: str, version: str | None) -> str | None:
    """The part of a version that must be the same everywhere: a function pickled by Python 3.11 does not load in 3.12."""
    return version if version is None or name != "python" else ".".join(version.split(".")[:2])


def _here() -> str:
    return f"the worker on {socket.gethostname()}"
