"""The inside of a worker process: gets the function once, then runs task after task until the pipe closes."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import signal
import sys
import threading
import traceback
from multiprocessing.connection import Connection

import cloudpickle

from .execute import execute

READY = "ready"


def main(pipe: int, lifeline: int) -> None:
    """Serve the study on the other end of `pipe`; die with it, even in the middle of a pull."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the study's to handle
    die_with(lifeline)
    with contextlib.suppress(EOFError, OSError):  # the study has ended, perhaps while this process was starting
        serve(Connection(pipe))


def serve(connection: Connection) -> None:
    """Load the function, then run each task that comes, until the pipe is closed."""
    code = connection.recv_bytes()
    try:
        function = cloudpickle.loads(code)
    except BaseException:
        connection.send(traceback.format_exc())
        return
    connection.send(READY)
    while True:
        outcome = execute(function, pickle.loads(connection.recv_bytes()))
        with contextlib.suppress(Exception):  # the function may have closed it, or its reader may be gone
            sys.stdout.flush()
        connection.send_bytes(cloudpickle.dumps(outcome))


def die_with(lifeline: int) -> None:
    """Have this process, and all it starts, killed when its owner is gone: only the owner holds the other end of the pipe.

    Where it can, the kernel does it, since a thread has to wait for code that keeps the interpreter's lock.
    """
    threading.Thread(target=_die_when_closed, args=(lifeline,), daemon=True).start()
    if hasattr(fcntl, "F_SETSIG"):
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


def _die_when_closed(lifeline: int) -> None:
    os.read(lifeline, 1)
    os.killpg(os.getpgrp(), signal.SIGKILL)
