"""Runs that do what their method's name says, for tests of the processes that execute them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from typing import NamedTuple

from pyarrow import parquet
from waiting import wait_until


class OddRun(NamedTuple):
    method: str
    seed: int = 0


def odd(run):
    match run.method:
        case "raises":
            raise OSError("no room\nleft")
        case "exits":
            sys.exit("enough")
        case "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        case "leaves":
            os._exit(3)
        case "leaves a child":  # which holds the pipe open
            if os.fork():
                os._exit(3)
            time.sleep(600)
        case "sleeps":
            time.sleep(600)
        case "starts a program":
            subprocess.Popen(["sleep", "600"])
            time.sleep(600)
        case "looks":  # at the result file, until two other runs are in it
            wait_until(lambda: rows_in_file() >= 2)
            return [row(run, rows_in_file())]
        case "warns":
            warnings.warn("look", stacklevel=1)
    return [row(run, run.seed)]


def row(run, seed):
    return {"method": run.method, "seed": seed, "process": os.getpid(), "threads": os.environ["OMP_NUM_THREADS"]}


def rows_in_file():
    if not os.path.exists("runs.parquet"):
        return 0
    with open("runs.parquet", "rb") as file:
        return len(parquet.read_table(file))
