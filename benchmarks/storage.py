"""How fast a whole sequential study is when the objective is free and everything is stored: pulls per second.

What is durable when: ours commits each pull to SQLite with synchronous=FULL before the next decision is made, the ask and the
reward together. Optuna on SQLite commits each trial five times, for its start, its three parameters and its value, with
SQLite's default, which is FULL as well. Optuna's journal file is written and synced at the same five points.

Timed is the run alone; making the database is not. The three take turns in each round; figures are medians over the rounds.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from problem import mutant_ucb, objective, random_study, train
from report import AtLeast, Row, parser, show

import manyarms as ma


def ours(directory: Path, pulls: int) -> float:
    """Our pulls per second."""
    study = ma.Study(mutant_ucb(budget=pulls), storage=f"sqlite:///{directory}/ours.db")
    seconds = _seconds(lambda: study.optimize(train, progress=False))
    study.close()
    return study.counts.pulls / seconds  # a few less than the budget: the finalist was partly trained


def optuna_sqlite(directory: Path, trials: int) -> float:
    """Optuna's trials per second on SQLite."""
    study = random_study(f"sqlite:///{directory}/optuna.db")
    return trials / _seconds(lambda: study.optimize(objective, n_trials=trials))


def optuna_journal(directory: Path, trials: int) -> float:
    """Optuna's trials per second on its journal file."""
    study = random_study(JournalStorage(JournalFileBackend(f"{directory}/optuna.log")))
    return trials / _seconds(lambda: study.optimize(objective, n_trials=trials))


def _seconds(run: Callable[[], None]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--pulls", type=int, help="pulls or trials of each study (default 200; 100 with --quick)")
    arguments.add_argument("--rounds", type=int, help="how often each is measured (default 5; 2 with --quick)")
    arguments.add_argument("--directory", help="where the files go; a temporary directory by default")
    options = arguments.parse_args()
    pulls = options.pulls or (100 if options.quick else 200)
    rounds = options.rounds or (2 if options.quick else 5)
    measured = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir=options.directory) as directory:
            measured.append([run(Path(directory), pulls) for run in (ours, optuna_sqlite, optuna_journal)])
    typical = [median(rates) for rates in zip(*measured, strict=True)]
    faster = [median(rates[0] / rates[peer] for rates in measured) for peer in (1, 2)]
    mine = f"{typical[0]:.0f} pulls/s"
    show(
        f"A study of {pulls} pulls, each durable before the next decision",
        "Optuna random",
        [
            Row("SQLite / Optuna's SQLite", mine, f"{typical[1]:.0f} trials/s", AtLeast(10, faster[0], "times as fast")),
            Row("SQLite / Optuna's journal file", mine, f"{typical[2]:.0f} trials/s", AtLeast(1, faster[1], "times as fast")),
        ],
        rounds,
    )


if __name__ == "__main__":
    main()
