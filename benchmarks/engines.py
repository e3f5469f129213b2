"""How busy two workers are kept with pulls of 50 ms, and the overhead of a pull, with worker processes, Dask and Ray.

Utilization is the sum of the seconds of the pulls over the wall-clock time of two workers. Overhead is measured with one worker
and pulls that take no time: the wall-clock time per pull, without the seconds of the pull and without an empty task of the same
engine, which is sent and collected one at a time in the same round. For worker processes, the empty task is one of a
`ProcessPoolExecutor`. Every reward is stored on SQLite before the next decision, so the overhead includes a commit, whose time
depends on the disk. It is measured as well. `--directory /dev/shm` shows the overhead without a disk.

The start of the clusters and of the processes is not counted: the clock starts once each worker has answered several times.
Optuna runs its trials in threads (`n_jobs`). All take turns, with a new cluster each time; figures are medians over the rounds.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import optuna
import problem
from report import AtLeast, AtMost, Row, parser, show

import manyarms as ma
from manyarms.runners import ProcessRunner

SLEEP = 0.05
WORKERS = 2
WARM = 3  # answers of each worker before the clock starts


@dataclass(frozen=True, slots=True)
class Engine:
    """Where pulls run: what `optimize` needs for a number of workers, and how an empty task is sent and collected."""

    arguments: Callable[[int], dict[str, Any]]
    run_empty_task: Callable[[], object]


def nothing() -> None:
    """An empty task."""


@contextmanager
def processes() -> Iterator[Engine]:
    """Worker processes on this machine."""
    with ProcessPoolExecutor(1) as pool:
        yield Engine(lambda workers: {"runner": ProcessRunner(workers)}, lambda: pool.submit(nothing).result())


@contextmanager
def dask() -> Iterator[Engine]:
    """A Dask cluster with single-threaded workers."""
    from distributed import Client, LocalCluster

    local = LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL)
    with local as cluster, Client(cluster, set_as_default=False) as client:
        yield Engine(
            lambda workers: {"runner": client, "workers": workers}, lambda: client.submit(nothing, pure=False).result()
        )


@contextmanager
def ray() -> Iterator[Engine]:
    """A Ray cluster on this machine."""
    import ray

    ray.init("local", num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    try:
        empty = ray.remote(nothing)
        yield Engine(lambda workers: {"runner": "ray", "workers": workers}, lambda: ray.get(empty.remote()))
    finally:
        ray.shutdown()


ENGINES: dict[str, Callable[[], AbstractContextManager[Engine]]] = {"worker processes": processes, "Dask": dask, "Ray": ray}


class Stopwatch:
    """Times the pulls that end once all workers are warm, up to a number of them."""

    def __init__(self, workers: int, pulls: int) -> None:
        self._workers, self._pulls = workers, pulls
        self._answers: Counter[Any] = Counter()
        self._began: float | None = None
        self._counted = 0
        self.wall = self.busy = 0.0  # seconds

    def finished(self, worker: Any, seconds: float) -> bool:
        """Note an answer of this worker, for a pull that took these seconds; True once enough were timed."""
        if self._began is None:
            self._answers[worker] += 1
            if len(self._answers) >= self._workers and min(self._answers.values()) >= WARM:
                self._began = time.perf_counter()
        elif self._counted < self._pulls:
            self._counted += 1
            self.busy += seconds
            self.wall = time.perf_counter() - self._began
        return self._counted == self._pulls

    @property
    def utilization(self) -> float:
        """Percentage of the workers' time in which pulls ran."""
        return 100 * self.busy / (self._workers * self.wall)

    @property
    def overhead(self) -> float:
        """Milliseconds of a worker's time that each pull took in addition to its own."""
        return 1000 * (self._workers * self.wall - self.busy) / self._pulls


def train(pull: Any) -> dict[str, float]:
    """Our objective; the metric tells which worker answered."""
    return {"reward": problem.train(pull), "worker": os.getpid()}


def sleep(pull: Any) -> dict[str, float]:
    """Our objective with 50 ms of work."""
    time.sleep(SLEEP)
    return train(pull)


def ours(engine: Engine, function: Callable[[Any], dict[str, float]], workers: int, pulls: int, place: str | None) -> Stopwatch:
    """Time our pulls."""
    watch = Stopwatch(workers, pulls)

    def look(study: ma.Study, outcome: ma.Outcome) -> None:
        if watch.finished(outcome.metrics["worker"], outcome.seconds):
            study.stop()

    with tempfile.TemporaryDirectory(dir=place) as directory:
        study = ma.Study(problem.mutant_ucb(), storage=f"sqlite:///{directory}/ours.db")
        study.optimize(function, callbacks=[look], progress=False, **engine.arguments(workers))
        study.close()
    return watch


def peer(seconds: float, workers: int, trials: int, in_memory: bool, place: str | None) -> Stopwatch:
    """Time Optuna's trials, whose objective sleeps for these seconds."""
    watch, lock = Stopwatch(workers, trials), threading.Lock()
    slept: dict[int, float] = {}  # by thread

    def objective(trial: optuna.Trial) -> float:
        value, began = problem.objective(trial), time.perf_counter()
        if seconds:
            time.sleep(seconds)
        slept[threading.get_ident()] = time.perf_counter() - began
        return value

    def look(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        with lock:
            if watch.finished(threading.get_ident(), slept[threading.get_ident()]):
                study.stop()

    with tempfile.TemporaryDirectory(dir=place) as directory:
        study = problem.random_study(None if in_memory else f"sqlite:///{directory}/optuna.db")
        study.optimize(objective, n_jobs=workers, callbacks=[look])
    return watch


def empty_task(engine: Engine, tasks: int) -> float:
    """Milliseconds of an empty task of the engine, once it is warm."""
    for _ in range(WARM):
        engine.run_empty_task()
    began = time.perf_counter()
    for _ in range(tasks):
        engine.run_empty_task()
    return 1000 * (time.perf_counter() - began) / tasks


def bare_commit(commits: int, place: str | None) -> float:
    """Milliseconds of a durable commit of one row on SQLite, without us: how fast the disk is now."""
    with (
        tempfile.TemporaryDirectory(dir=place) as directory,
        closing(sqlite3.connect(Path(directory, "bare.db"), isolation_level=None)) as connection,
    ):
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE rows (text TEXT)")
        began = time.perf_counter()
        for _ in range(commits):
            connection.execute("INSERT INTO rows VALUES (?)", ("x" * 200,))
        return 1000 * (time.perf_counter() - began) / commits


@dataclass(frozen=True, slots=True)
class Figures:
    """What one round measured for an engine; the last two in milliseconds."""

    utilization: float
    overhead: float
    empty: float = 0.0


def our_figures(name: str, pulls: int, place: str | None) -> Figures:
    """Measure one of our engines."""
    with ENGINES[name]() as engine:
        utilization = ours(engine, sleep, WORKERS, pulls, place).utilization
        before = empty_task(engine, pulls)
        overhead = ours(engine, train, 1, pulls, place).overhead
        empty = (before + empty_task(engine, pulls)) / 2
    return Figures(utilization, overhead - empty, empty)


def peer_figures(pulls: int, in_memory: bool, place: str | None) -> Figures:
    """Measure Optuna."""
    utilization = peer(SLEEP, WORKERS, pulls, in_memory, place).utilization
    return Figures(utilization, peer(0.0, 1, pulls, in_memory, place).overhead)


def typical(rounds: list[Figures]) -> Figures:
    """The medians over the rounds."""
    columns = ((figures.utilization, figures.overhead, figures.empty) for figures in rounds)
    return Figures(*(median(column) for column in zip(*columns, strict=True)))


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--pulls", type=int, help="pulls or trials that are timed (default 100; 40 with --quick)")
    arguments.add_argument("--rounds", type=int, help="how often each is measured (default 5; 2 with --quick)")
    arguments.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES), help="default: all")
    arguments.add_argument("--directory", help="where the files go; a temporary directory by default")
    options = arguments.parse_args()
    pulls = options.pulls or (40 if options.quick else 100)
    rounds = options.rounds or (2 if options.quick else 5)
    measured: dict[str, list[Figures]] = {name: [] for name in options.engines}
    stored: list[Figures] = []
    in_memory: list[Figures] = []
    commits: list[float] = []
    for _ in range(rounds):
        for name, figures in measured.items():
            figures.append(our_figures(name, pulls, options.directory))
            commits.append(bare_commit(pulls, options.directory))
        stored.append(peer_figures(pulls, in_memory=False, place=options.directory))
        in_memory.append(peer_figures(pulls, in_memory=True, place=options.directory))
    found, sqlite, memory = {name: typical(figures) for name, figures in measured.items()}, typical(stored), typical(in_memory)
    show(
        f"{WORKERS} workers, {SLEEP * 1000:g} ms a pull, {pulls} pulls",
        f"Optuna random, n_jobs={WORKERS}",
        [
            *(
                Row(
                    f"utilization, {name}",
                    f"{figures.utilization:.1f}%",
                    f"{sqlite.utilization:.1f}%",
                    AtLeast(90, figures.utilization, "%"),
                )
                for name, figures in found.items()
            ),
            Row("utilization, in memory", peer=f"{memory.utilization:.1f}%"),
            *(
                Row(
                    f"overhead per pull, {name} (empty task: {figures.empty:.2f} ms)",
                    f"{figures.overhead:.2f} ms",
                    f"{sqlite.overhead:.2f} ms",
                    AtMost(2, figures.overhead, "ms"),
                )
                for name, figures in found.items()
            ),
            Row("overhead per trial, in memory", peer=f"{memory.overhead:.2f} ms"),
            Row("a commit on SQLite, which the overhead includes", f"{median(commits):.2f} ms"),
        ],
        rounds,
    )


if __name__ == "__main__":
    main()
