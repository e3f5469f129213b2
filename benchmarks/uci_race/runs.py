"""Running runs: each in a fresh process that keeps to its cores, and is ended when it takes far too long."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from . import sets
from .cpu_time import end, processor_seconds
from .methods import METHODS
from .results import Result, Run

_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
_CONTEXT = multiprocessing.get_context("forkserver")  # each run is a copy of a process that has only imported libraries
_NOTE = 300  # characters
_NOT_READY = 3  # what a process returns that could not even begin


def hard_limit(seconds: float) -> float:
    """After so long a run is ended, counted from the start of its process."""
    return 2 * seconds + 30


def run(run: Run, seconds: float, cores: int) -> Result:
    """Run one run, in a process of its own. An method that cannot be imported has not failed: that is raised."""
    method = METHODS[run.method]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        began = time.perf_counter()
        told, note = _in_process(run, seconds, cores, Path(directory))
        took = time.perf_counter() - began
    if told is None:
        accuracy = sets.split(run.set, run.split).majority()
        return Result(run.set, run.split, run.method, seconds, cores, "failed", accuracy, took, 0.0, method.version, note)
    return Result(run.set, run.split, run.method, seconds, cores, "ok", **told, version=method.version)


def _in_process(run: Run, seconds: float, cores: int, directory: Path) -> tuple[dict[str, Any] | None, str]:
    """What the run told, or why it did not."""
    errors, told = directory / "errors.txt", directory / "told.json"
    watched, lifeline = _CONTEXT.Pipe(duplex=False)  # nothing is ever sent: it closes when this process ends, however that is
    process = _CONTEXT.Process(target=take_part, args=(run, seconds, cores, directory, watched))
    process.start()
    watched.close()
    try:
        process.join(hard_limit(seconds))
        if process.exitcode == _NOT_READY:
            raise RuntimeError(f"{run.method} cannot take part: {_last_line(errors)}")
        late = f"ended after {hard_limit(seconds):g} seconds"
        note = late if process.is_alive() else _last_line(errors) or f"ended with {process.exitcode}"
    finally:
        end(process.pid)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # what it left behind
        process.join()
        lifeline.close()
    return (json.loads(told.read_text()) if told.exists() else None), note


def _last_line(file: Path) -> str:
    lines = file.read_text(errors="replace").split("\n")
    return next((line.strip()[:_NOTE] for line in reversed(lines) if line.strip()), "")


def race(runs: list[Run], seconds: float, cores: int, at_once: int) -> Iterator[Result]:
    """Run runs in their order, several at once, and give each result when it is there."""
    os.environ.update({**dict.fromkeys(_THREADS, str(cores)), "PYTHONWARNINGS": "ignore"})
    wanted = {module for run in runs for module in METHODS[run.method].modules}
    _CONTEXT.set_forkserver_preload([f"{__package__}.runs", *sorted(wanted)])
    pool = ThreadPoolExecutor(at_once)
    try:
        for future in as_completed([pool.submit(run, run, seconds, cores) for run in runs]):
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def take_part(run: Run, seconds: float, cores: int, directory: Path, watched: Connection) -> None:
    """What the process of a run does."""
    os.setsid()  # Ctrl-C does not reach it
    threading.Thread(target=_end_with_parent, args=[watched], daemon=True).start()
    tempfile.tempdir = os.environ["TMPDIR"] = str(directory)
    with open(directory / "errors.txt", "w") as errors:
        os.dup2(errors.fileno(), 1)
        os.dup2(errors.fileno(), 2)
    warnings.simplefilter("ignore")
    method, split = METHODS[run.method], sets.split(run.set, run.split)
    try:
        method.load()
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(_NOT_READY)
    busy = processor_seconds()
    task = sets.Task(split.X, split.y, seconds, cores, seed=run.split)
    model, note = method.fit(task)
    took, busy = time.perf_counter() - task.began, processor_seconds() - busy
    result = {"accuracy": split.accuracy(model.predict(split.X_test)), "seconds": took, "processor": busy, "note": note[:_NOTE]}
    aside = directory / "told.part"
    aside.write_text(json.dumps(result))
    aside.replace(directory / "told.json")


def _end_with_parent(watched: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        watched.recv()
    end(None)
