"""The inside of a worker process: gets the function once, then runs task after task until the pipe closes."""

from __future__ import annotations

import contextlib
import pickle
import sys
import traceback

import cloudpickle

from .child import PipeEnd, die_with, ignore_interrupts, pipe_end
from .execute import execute

READY = "ready"


def main(pipe: int, lifeline: int) -> None:
    """Serve the study on the other end of `pipe`; die with it, even in the middle of a pull."""
    ignore_interrupts()
    die_with(pipe_end(lifeline, writable=False))
    with contextlib.suppress(EOFError, OSError):  # the study has ended, perhaps while this process was starting
        serve(pipe_end(pipe))


def serve(connection: PipeEnd) -> None:
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
