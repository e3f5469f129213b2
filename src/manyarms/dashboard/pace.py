"""Limits the processor time of the dashboard while a search runs: a small share, at a lower priority."""

from __future__ import annotations

import contextlib
import os
import sys

SERVER, DRAWING = 5, 10
"""Niceness of the server, and of the processes that draw slow charts."""

_SHARE = 0.04  # share of one processor for each task: looking for events, updating the page, drawing its charts
_LONGEST = 300.0  # seconds: a chart that takes minutes to draw is still updated now and then


def rest_after(seconds: float, least: float = 0.0) -> float:
    """Seconds to wait after work that took this long, so that only a small share of the time is spent on it.

    It is never longer than five minutes. The page does the same, with `restAfter` in `pace.js`, and waits at most a minute.

    Args:
        seconds: How long the work took.
        least: Minimum seconds to wait.

    >>> rest_after(0.1), rest_after(0.001, least=1.0), rest_after(60)
    (2.4, 1.0, 300.0)
    """
    return max(least, min(_LONGEST, round(seconds / _SHARE - seconds, 6)))


def give_way(niceness: int) -> None:
    """Let this process run only when nothing more important needs the processor. Never raises its priority."""
    if sys.platform != "win32":  # Windows has no such priorities
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, max(niceness, os.getpriority(os.PRIO_PROCESS, 0)))
