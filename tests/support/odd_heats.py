"""Heats that do what their entrant's name says, for the tests of the workers that run them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings

from pyarrow import parquet
from waiting import wait_until


def odd(heat):
    match heat.entrant:
        case "raises":
            raise OSError("no room\nleft")
        case "exits":
            sys.exit("enough")
        case "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        case "leaves":
            os._exit(3)
        case "sleeps":
            time.sleep(600)
        case "starts a program":
            subprocess.Popen(["sleep", "600"])
            time.sleep(600)
        case "looks":  # at the file of its race, until two others are in it
            wait_until(lambda: rows_in_file() >= 2)
            return [{"seed": rows_in_file()}]
        case "warns":
            warnings.warn("look", stacklevel=1)
    return [{"seed": heat.seed, "process": os.getpid(), "threads": os.environ["OMP_NUM_THREADS"]}]


def rows_in_file():
    return len(parquet.read_table("race.parquet")) if os.path.exists("race.parquet") else 0
