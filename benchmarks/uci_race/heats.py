"""Running heats: each in a fresh process that keeps to its cores, and is ended when it takes far too long."""

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
from .entrants import ENTRANTS
from .processes import end, processor_seconds
from .results import Heat, Result

_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
_CONTEXT = multiprocessing.get_context("forkserver")  # each heat is a copy of a process that has only imported libraries
_NOTE = 300  # characters
_NOT_READY = 3  # what a process returns that could not even begin


def hard_limit(seconds: float) -> float:
    """After so long a heat is ended, counted from the start of its process."""
    return 2 * seconds + 30


def run(heat: Heat, seconds: float, cores: int) -> Result:
    """Run one heat, in a process of its own. An entrant that cannot be imported has not failed: that is raised."""
    entrant = ENTRANTS[heat.entrant]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        began = time.perf_counter()
        told, note = _in_process(heat, seconds, cores, Path(directory))
        took = time.perf_counter() - began
    if told is None:
        accuracy = sets.split(heat.set, heat.split).majority()
        return Result(heat.set, heat.split, heat.entrant, seconds, cores, "failed", accuracy, took, 0.0, entrant.version, note)
    return Result(heat.set, heat.split, heat.entrant, seconds, cores, "ok", **told, version=entrant.version)


def _in_process(heat: Heat, seconds: float, cores: int, directory: Path) -> tuple[dict[str, Any] | None, str]:
    """What the heat told, or why it did not."""
    errors, told = directory / "errors.txt", directory / "told.json"
    watched, lifeline = _CONTEXT.Pipe(duplex=False)  # nothing is ever sent: it closes when this process ends, however that is
    process = _CONTEXT.Process(target=take_part, args=(heat, seconds, cores, directory, watched))
    process.start()
    watched.close()
    try:
        process.join(hard_limit(seconds))
        if process.exitcode == _NOT_READY:
            raise RuntimeError(f"{heat.entrant} cannot take part: {_last_line(errors)}")
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


def race(heats: list[Heat], seconds: float, cores: int, at_once: int) -> Iterator[Result]:
    """Run heats in their order, several at once, and give each result when it is there."""
    os.environ.update({**dict.fromkeys(_THREADS, str(cores)), "PYTHONWARNINGS": "ignore"})
    wanted = {module for heat in heats for module in ENTRANTS[heat.entrant].modules}
    _CONTEXT.set_forkserver_preload([f"{__package__}.heats", *sorted(wanted)])
    pool = ThreadPoolExecutor(at_once)
    try:
        for future in as_completed([pool.submit(run, heat, seconds, cores) for heat in heats]):
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def take_part(heat: Heat, seconds: float, cores: int, directory: Path, watched: Connection) -> None:
    """What the process of a heat does."""
    os.setsid()  # Ctrl-C does not reach it
    threading.Thread(target=_end_with_parent, args=[watched], daemon=True).start()
    tempfile.tempdir = os.environ["TMPDIR"] = str(directory)
    with open(directory / "errors.txt", "w") as errors:
        os.dup2(errors.fileno(), 1)
        os.dup2(errors.fileno(), 2)
    warnings.simplefilter("ignore")
    entrant, split = ENTRANTS[heat.entrant], sets.split(heat.set, heat.split)
    try:
        entrant.load()
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(_NOT_READY)
    busy = processor_seconds()
    task = sets.Task(split.X, split.y, seconds, cores, seed=heat.split)
    model, note = entrant.fit(task)
    took, busy = time.perf_counter() - task.began, processor_seconds() - busy
    result = {"accuracy": split.accuracy(model.predict(split.X_test)), "seconds": took, "processor": busy, "note": note[:_NOTE]}
    aside = directory / "told.part"
    aside.write_text(json.dumps(result))
    aside.replace(directory / "told.json")


def _end_with_parent(watched: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        watched.recv()
    end(None)
