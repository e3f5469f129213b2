"""Ctrl-C, handled so that nothing is lost."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

FINISHING = "Stopping: the pulls in flight are finished first. Ctrl-C again ends now; they will run again."
ABANDONING = "Stopping: the pulls in flight are abandoned, and run again when the search is resumed."


@contextmanager
def first_interrupt_stops(stop: Callable[[], None], message: str = FINISHING) -> Iterator[None]:
    """The first Ctrl-C calls `stop`; the second raises `KeyboardInterrupt`. Outside the main thread nothing is changed.

    Args:
        stop: What to do. May raise `KeyboardInterrupt` itself.
        message: For the user, on the first Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def handle(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print(f"\n{message}", file=sys.stderr)
        stop()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
