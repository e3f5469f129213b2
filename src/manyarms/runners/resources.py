"""Assigns devices to workers, before any user code runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from .. import checks


def device_leases(
    workers: int, resources: Mapping[str, float] | None, devices: Sequence[str] | None = None
) -> list[str | None]:
    """The value of CUDA_VISIBLE_DEVICES for each worker; None leaves it unchanged.

    Args:
        workers: Number of workers.
        resources: {"gpu": n} gives n devices to each worker. With 0.5, two workers share a device. "cpu" is ignored here.
        devices: Names of the devices. By default, the devices that this process may use.

    >>> device_leases(2, {"gpu": 2}, devices=["0", "1", "2", "3"])
    ['0,1', '2,3']
    >>> device_leases(4, {"gpu": 0.5}, devices=["0", "1"])
    ['0', '0', '1', '1']
    """
    if "gpu" not in checked_resources(resources):
        return [None] * workers
    share = checked_resources(resources)["gpu"]
    if share == 0:
        return [""] * workers  # no device is visible
    devices = visible_devices() if devices is None else devices
    if share >= 1:
        each = checks.whole("resources['gpu'] of 1 or more", int(share) if share == int(share) else share, 1)  # type: ignore[arg-type]
        leases = [",".join(devices[i * each : (i + 1) * each]) for i in range(workers)]
        needed = workers * each
    else:
        sharing = int(1 / share + 1e-9)
        leases = [devices[i // sharing] if i // sharing < len(devices) else "" for i in range(workers)]
        needed = -(-workers // sharing)
    if needed > len(devices):
        raise ValueError(
            f"resources: {workers} workers with {share:g} gpu each need {needed} devices, but {len(devices)} are visible"
        )
    return list(leases)


def cpu_share(resources: Mapping[str, float] | None) -> int | None:
    """Number of threads that the libraries of each worker may use, as given by `resources`; None if it is not given."""
    share = checked_resources(resources).get("cpu")
    return None if share is None else max(1, int(share))


def checked_resources(resources: Mapping[str, float] | None, known: Sequence[str] = ("gpu", "cpu")) -> dict[str, float]:
    """The resources of one worker, as a dict.

    Args:
        resources: The argument `resources`.
        known: The names that are allowed.
    """
    if resources is not None and not isinstance(resources, Mapping):
        raise TypeError(f'resources must be a dict such as {{"gpu": 1}}, got {resources!r}')
    unknown = sorted(set(resources or ()) - set(known), key=str)
    if unknown:
        raise ValueError(f"resources must name {' or '.join(map(repr, known))} only, got {unknown[0]!r}")
    return {name: checks.between(f"resources[{name!r}]", amount, 0) for name, amount in (resources or {}).items()}


def visible_devices() -> list[str]:
    """The devices that this process may use: those in CUDA_VISIBLE_DEVICES if it is set, otherwise those of the driver."""
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if listed is not None:
        return [name.strip() for name in listed.split(",") if name.strip()]
    if shutil.which("nvidia-smi") is None:
        return []
    answer = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30, check=False)
    return [str(i) for i, line in enumerate(line for line in answer.stdout.splitlines() if line.startswith("GPU "))]
