"""The inside of a worker process: gets the function once, then runs task after task until the pipe closes."""

from __future__ import annotations

import contextlib
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
    threading.Thread(target=_die_with_the_study, args=(lifeline,), daemon=True).start()
    connection = Connection(pipe)
    try:
        function = cloudpickle.loads(connection.recv_bytes())
    except EOFError:
        return
    except BaseException:
        connection.send(traceback.format_exc())
        return
    connection.send(READY)
    with contextlib.suppress(EOFError, OSError):
        while True:
            outcome = execute(function, pickle.loads(connection.recv_bytes()))
            sys.stdout.flush()
            connection.send_bytes(cloudpickle.dumps(outcome))


def _die_with_the_study(lifeline: int) -> None:
    """Only the study holds the other end, so reading returns when it is gone."""
    os.read(lifeline, 1)
    os._exit(1)
