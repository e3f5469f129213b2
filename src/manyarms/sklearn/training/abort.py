"""Abort a pull that runs in this process and exceeds its time."""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ...runners import PullsAbandoned
from .time_limit import Clock


@contextmanager
def aborted_at(end: float, clock: Clock) -> Iterator[None]:
    """Raise `PullsAbandoned` in the block at a given time, between two Python instructions, like Ctrl-C.

    A call into compiled code is not interrupted before it returns.

    Args:
        end: When to abort, by the clock; infinity for never.
        clock: Returns the time in seconds.
    """
    if end == math.inf:
        yield
        return
    abort = _Abort(threading.get_ident())
    timer = threading.Timer(max(0.0, end - clock()), abort.fire)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        abort.cancel()


class _Abort:
    """Raises the error in a thread, unless it was canceled before."""

    def __init__(self, thread: int) -> None:
        self._thread, self._active, self._lock = ctypes.c_ulong(thread), True, threading.Lock()

    def fire(self) -> None:
        with self._lock:
            if self._active:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(self._thread, ctypes.py_object(PullsAbandoned))

    def cancel(self) -> None:
        """Make sure that nothing is raised any more, not even an error that is already pending."""
        with self._lock:
            self._active = False
            ctypes.pythonapi.PyThreadState_SetAsyncExc(self._thread, None)
