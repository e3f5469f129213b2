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
        resources: {"gpu": n} gives n devices to each worker. With 0.5, two workers share a device.
        devices: Names of the devices. By default, those that this process may use.

    >>> device_leases(2, {"gpu": 2}, devices=["0", "1", "2", "3"])
    ['0,1', '2,3']
    >>> device_leases(4, {"gpu": 0.5}, devices=["0", "1"])
    ['0', '0', '1', '1']
    """
    if resources is not None and not isinstance(resources, Mapping):
        raise TypeError(f'resources must be a dict such as {{"gpu": 1}}, got {resources!r}')
    if not resources:
        return [None] * workers
    unknown = sorted(set(resources) - {"gpu"})
    if unknown:
        raise ValueError(f"resources must name 'gpu' only, got {unknown[0]!r}")
    share = checks.between("resources['gpu']", resources["gpu"], 0)
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


def visible_devices() -> list[str]:
    """The devices that this process may use: CUDA_VISIBLE_DEVICES if it is set, otherwise those that the driver lists."""
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if listed is not None:
        return [name.strip() for name in listed.split(",") if name.strip()]
    if shutil.which("nvidia-smi") is None:
        return []
    answer = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30, check=False)
    return [str(i) for i, line in enumerate(line for line in answer.stdout.splitlines() if line.startswith("GPU "))]
