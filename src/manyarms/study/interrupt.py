"""Handles Ctrl-C so that nothing is lost."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

FINISHING = "Stopping after the pulls in flight. Press Ctrl-C again to stop now; they will run again."
ABANDONING = "Stopping now. The pulls in flight will run again when the search is resumed."


@contextmanager
def first_interrupt_stops(stop: Callable[[], None], message: str = FINISHING) -> Iterator[None]:
    """Make the first Ctrl-C call `stop`, and the second raise `KeyboardInterrupt`. Only works in the main thread.

    Args:
        stop: Called on the first Ctrl-C. It may raise `KeyboardInterrupt` itself.
        message: Printed on the first Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def handle(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with suppress(OSError, ValueError, RuntimeError):  # the stream is a broken pipe, closed, or just being written
            print(f"\n{message}", file=sys.stderr)
        stop()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
