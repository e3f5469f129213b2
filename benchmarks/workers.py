"""How busy four workers are kept when every pull sleeps 10 ms and every reward is stored on SQLite.

Efficiency is the time the pulls would have taken with no overhead at all, over the time they took: what the objective takes
alone (measured in the same round), times the pulls, shared by the workers, over the wall clock. Starting the workers is not
counted: the clock starts once every worker has answered several times. Ours are processes, Optuna's `n_jobs` are threads.
The two take turns; figures are medians over the rounds.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections import Counter
from statistics import median
from typing import Any

import optuna
import problem
from report import AtLeast, Row, parser, show

import manyarms as ma

SLEEP = 0.01
WARM = 5  # answers of each worker before the clock starts


def train(pull: Any) -> dict[str, float]:
    """Our objective; the metric tells which worker answered."""
    time.sleep(SLEEP)
    return {"reward": problem.train(pull), "worker": os.getpid()}


def objective(trial: optuna.Trial) -> float:
    """The peer's objective."""
    value = problem.objective(trial)
    time.sleep(SLEEP)
    return value


class Stopwatch:
    """Times the pulls that end once all workers are warm, up to a number of them."""

    def __init__(self, workers: int, pulls: int) -> None:
        self._workers, self._pulls = workers, pulls
        self._answers: Counter[Any] = Counter()
        self._began: float | None = None
        self._counted = 0
        self.seconds = 0.0

    def finished(self, worker: Any) -> bool:
        """Note an answer of this worker; True once enough were timed."""
        if self._began is None:
            self._answers[worker] += 1
            if len(self._answers) == self._workers and min(self._answers.values()) >= WARM:
                self._began = time.perf_counter()
        elif self._counted < self._pulls:
            self._counted += 1
            self.seconds = time.perf_counter() - self._began
        return self._counted == self._pulls


def ours(directory: str, workers: int, pulls: int) -> float:
    """Seconds for our pulls."""
    watch = Stopwatch(workers, pulls)

    def look(study: ma.Study, outcome: ma.Outcome) -> None:
        if watch.finished(outcome.metrics["worker"]):
            study.stop()

    study = ma.Study(problem.mutant_ucb(), storage=f"sqlite:///{directory}/ours.db")
    study.optimize(train, workers=workers, callbacks=[look], progress=False)
    study.close()
    return watch.seconds


def peer(directory: str, workers: int, pulls: int) -> float:
    """Seconds for as many of Optuna's trials."""
    watch, lock = Stopwatch(workers, pulls), threading.Lock()

    def look(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        with lock:
            if watch.finished(threading.get_ident()):
                study.stop()

    study = problem.random_study(f"sqlite:///{directory}/optuna.db")
    study.optimize(objective, n_jobs=workers, callbacks=[look])
    return watch.seconds


def alone(calls: int) -> float:
    """Seconds the objective takes by itself."""
    pull = ma.Pull(ma.Arm(0, {"lr": 1e-3, "width": 30, "act": "relu"}), 0, 1)
    began = time.perf_counter()
    for _ in range(calls):
        train(pull)
    return (time.perf_counter() - began) / calls


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--workers", type=int, default=4, help="how many (default 4)")
    arguments.add_argument("--pulls", type=int, help="pulls or trials that are timed (default 300; 100 with --quick)")
    arguments.add_argument("--rounds", type=int, help="how often each is measured (default 5; 2 with --quick)")
    options = arguments.parse_args()
    workers = options.workers
    pulls = options.pulls or (100 if options.quick else 300)
    rounds = options.rounds or (2 if options.quick else 5)
    measured = []
    for _ in range(rounds):
        ideal = alone(calls=50) * pulls / workers
        with tempfile.TemporaryDirectory() as directory:
            measured.append([100 * ideal / run(directory, workers, pulls) for run in (ours, peer)])
    efficiency, peer_efficiency = (median(values) for values in zip(*measured, strict=True))
    show(
        f"{workers} workers, {SLEEP * 1000:g} ms a pull, {pulls} pulls",
        f"Optuna random, n_jobs={workers}",
        [Row("efficiency on SQLite", f"{efficiency:.1f}%", f"{peer_efficiency:.1f}%", AtLeast(90, efficiency, "%"))],
        rounds,
    )


if __name__ == "__main__":
    main()
