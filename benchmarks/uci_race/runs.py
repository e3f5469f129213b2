"""Executes runs, each in a new process that keeps to its cores and is killed if it takes far too long."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from manyarms.bench.runs.execute import Ended, execute
from manyarms.bench.runs.pool import Pool
from manyarms.bench.runs.results import Results, Row

from . import datasets
from .cpu_time import cpu_seconds
from .methods import METHODS
from .results import Run

_LONGEST_NOTE = 300  # characters


def hard_limit(seconds: float) -> float:
    """Seconds after which a run is killed."""
    return 2 * seconds + 30


def execute_runs(runs: Sequence[Run], results: Results, seconds: float, cores: int, workers: int) -> Iterator[tuple[Run, Row]]:
    """Execute runs in their order, and yield each with its row when it has ended.

    Args:
        runs: Runs to execute.
        results: File for their rows.
        seconds: Time limit of a method.
        cores: Number of cores that a method may use.
        workers: Number of runs at the same time.
    """
    methods = [METHODS[name] for name in dict.fromkeys(run.method for run in runs)]
    for method in methods:
        method.load()  # a library that is not installed is an error here, not a failed run
    modules = sorted({module for method in methods for module in method.modules})
    settings = {"limit": seconds, "cores": cores}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        function = partial(execute_run, settings=settings, scratch=scratch)
        pool = Pool(function, workers, hard_limit(seconds), threads=cores, preload=[__name__, *modules])
        failure_rows = partial(failure_rows_of, settings=settings)
        for finished in execute(runs, results, pool, failure_rows=failure_rows):
            yield finished.run, (finished.value or failure_rows(finished))[0]


def execute_run(run: Run, settings: dict[str, Any], scratch: str) -> list[Row]:
    """Fit the method on the split and measure its accuracy. The process is not used for another run."""
    _silence()
    tempfile.tempdir = os.environ["TMPDIR"] = tempfile.mkdtemp(dir=scratch)
    method, split = METHODS[run.method], datasets.split(run.dataset, run.split)
    method.load()
    cpu = cpu_seconds()
    task = datasets.Task(split.X, split.y, settings["limit"], settings["cores"], seed=run.split)
    model, note = method.fit(task)
    seconds, cpu = time.perf_counter() - task.began, cpu_seconds() - cpu
    accuracy = split.accuracy(model.predict(split.X_test))
    return [_row(run, settings, status="ok", accuracy=accuracy, seconds=seconds, processor=cpu, note=note)]


def _silence() -> None:
    """Discard what libraries print, also from processes they start."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    os.environ["PYTHONWARNINGS"] = "ignore"


def failure_rows_of(finished: Ended[Run], settings: dict[str, Any]) -> list[Row]:
    """The row of a failed run, which gets the accuracy of the most frequent class."""
    run = finished.run
    accuracy = datasets.split(run.dataset, run.split).majority()
    measured = {"accuracy": accuracy, "seconds": finished.seconds, "processor": 0.0, "note": finished.reason or ""}
    return [_row(run, settings, status="failed", **measured)]


def _row(run: Run, settings: dict[str, Any], **measured: Any) -> Row:
    identity = {"dataset": run.dataset, "split": run.split, "method": run.method, "version": METHODS[run.method].version}
    return {**identity, **settings, **measured, "note": measured["note"][:_LONGEST_NOTE]}
