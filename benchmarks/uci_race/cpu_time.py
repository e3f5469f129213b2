"""CPU time of processes and of all processes that they start, and killing them."""

from __future__ import annotations

import contextlib

import psutil

_killed: list[float] = []  # CPU seconds of killed processes, which their parent cannot count


def kill_tree(pid: int | None) -> None:
    """Kill a process and all processes that it started. It is killed last."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        below = process.children(recursive=True)
        _killed.extend(map(_seconds, below))
        for one in (*below, process):
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()


def cpu_seconds() -> float:
    """CPU time of this process and of all processes that it started, including those that have ended."""
    living = psutil.Process().children(recursive=True)
    return _seconds(psutil.Process()) + sum(map(_seconds, living)) + sum(_killed)


def _seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    # Children that have ended are counted with their parent.
    return float(times.user + times.system + getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0))
