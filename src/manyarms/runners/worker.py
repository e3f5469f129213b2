"""The main program of a worker process: loads the function, then runs tasks until the pipe is closed."""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import sys
import traceback
from dataclasses import replace

import cloudpickle

from .child_process import PipeEnd, die_with, ignore_interrupts, pipe_end
from .execute import execute

READY = "ready"


def main(pipe: int, lifeline: int) -> None:
    """Run tasks for the study at the other end of `pipe`. If the study dies, so does this process, even during a pull."""
    ignore_interrupts()
    die_with(pipe_end(lifeline, writable=False))
    with contextlib.suppress(EOFError, OSError):  # the study has ended
        serve(pipe_end(pipe))


def serve(connection: PipeEnd) -> None:
    """Load the function, then run tasks until the pipe is closed."""
    code = connection.recv_bytes()
    try:
        function = cloudpickle.loads(code)
    except BaseException:
        connection.send(traceback.format_exc())
        return
    connection.send(READY)
    here = f"{socket.gethostname()}:{os.getpid()}"
    while True:
        outcome = replace(execute(function, pickle.loads(connection.recv_bytes())), worker=here)
        with contextlib.suppress(Exception):  # it may be closed
            sys.stdout.flush()
        connection.send_bytes(cloudpickle.dumps(outcome))
