"""Processes and all that they start: ending them, and what they cost."""

from __future__ import annotations

import contextlib

import psutil

_ended: list[float] = []  # processor seconds of what was killed before its parent could count it


def end(pid: int | None) -> None:
    """Kill a process (None: this one) and all that it started, itself last."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        below = process.children(recursive=True)
        _ended.extend(map(_seconds, below))
        for one in (*below, process):
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()


def processor_seconds() -> float:
    """Used by this process and all that it started, those that ended included."""
    living = psutil.Process().children(recursive=True)
    return _seconds(psutil.Process()) + sum(map(_seconds, living)) + sum(_ended)


def _seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    # What started here and was waited for is counted with its parent.
    return float(times.user + times.system + getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0))
