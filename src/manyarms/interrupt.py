"""Ctrl-C, handled so that nothing is lost."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def first_interrupt_stops(stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C calls `stop`; the second raises `KeyboardInterrupt`. Outside the main thread nothing is changed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def handle(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print(
            "\nStopping: the pulls in flight are finished first. Ctrl-C again ends now; they will run again.", file=sys.stderr
        )
        stop()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
