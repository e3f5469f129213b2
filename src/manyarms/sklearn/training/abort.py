"""Ending a pull that runs in this process and does not end by itself."""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ...runners import PullsAbandoned
from .time_limit import Clock


@contextmanager
def abandoned_at(end: float, clock: Clock) -> Iterator[None]:
    """Raise `PullsAbandoned` in what runs inside when the time comes, between two lines of Python, as Ctrl-C would.

    Code of other languages, which a call of theirs runs, is not ended before it returns.

    Args:
        end: When, by the clock; never if it is infinite.
        clock: Gives the time in seconds.
    """
    if end == math.inf:
        yield
        return
    alarm = _Alarm(threading.get_ident())
    timer = threading.Timer(max(0.0, end - clock()), alarm.ring)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        alarm.disarm()


class _Alarm:
    """Raises the error in a thread, unless it was disarmed before."""

    def __init__(self, thread: int) -> None:
        self._thread, self._armed, self._lock = ctypes.c_ulong(thread), True, threading.Lock()

    def ring(self) -> None:
        with self._lock:
            if self._armed:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(self._thread, ctypes.py_object(PullsAbandoned))

    def disarm(self) -> None:
        """After this nothing is raised any more, even if it was about to be."""
        with self._lock:
            self._armed = False
            ctypes.pythonapi.PyThreadState_SetAsyncExc(self._thread, None)
