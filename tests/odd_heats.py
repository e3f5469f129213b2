"""Heats that do what their entrant's name says, for the tests of the workers that run them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings

from pyarrow import parquet


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
            time.sleep(60)
        case "starts a program":
            subprocess.Popen(["sleep", "60"])
            time.sleep(60)
        case "looks":  # at the file of its race, until others are in it
            return [{"seed": rows_within(20.0)}]
        case "warns":
            warnings.warn("look", stacklevel=1)
    return [{"seed": heat.seed, "process": os.getpid(), "threads": os.environ["OMP_NUM_THREADS"]}]


def rows_within(seconds):
    """How many rows the file has once it has two, or in the end."""
    deadline, rows = time.monotonic() + seconds, 0
    while rows < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
        rows = len(parquet.read_table("race.parquet")) if os.path.exists("race.parquet") else 0
    return rows
