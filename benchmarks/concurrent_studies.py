"""How fast eight studies are that run at the same time in one PostgreSQL server, when the objective is free.

Each study has a process of its own, which is its only writer and runs its pulls one after the other. All processes start
together, once every one of them has opened its study; the time is that from the first start to the last end. Optuna has as many
studies, processes and trials in the same server, with its random sampler and the same driver. The methods take turns in each
round; figures are medians over the rounds, and ratios are taken within a round.

What is durable when: the server has its usual settings, so a commit waits for the disk. Ours commits each pull once, the ask
and the reward together, before the next decision is made. Optuna commits each trial several times: its start, each parameter,
and its value.

Errors are studies whose process failed, pulls or trials that are missing or failed, and problems that `manyarms verify` finds.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.pool import AsyncResult
from statistics import median
from typing import Any

import optuna
from postgres_server import running_server
from problem import SPACE, mutant_ucb, objective, train
from report import AtLeast, AtMost, Row, parser, show

import manyarms as ma
from manyarms.journal.database import parse_url
from manyarms.study.verify import audit

PATIENCE = 600.0  # seconds after which a process counts as failed


@dataclass(frozen=True, slots=True)
class Run:
    """When a study began and ended on the clock that all processes share, and the pulls that it counted."""

    study: str
    began: float
    ended: float
    pulls: int


@dataclass(frozen=True, slots=True)
class Measured:
    """Pulls or trials per second of all studies together, and the number of errors."""

    rate: float
    errors: int


def random_search(pulls: int, seed: int) -> ma.RandomSearch:
    """Whole trainings of random configurations, as in Optuna's trials."""
    return ma.RandomSearch(SPACE, budget=pulls, max_steps=1, seed=seed)


def run_ours(make: Callable[..., Any], url: str, number: int, pulls: int) -> Run:
    """Run one of our studies."""
    with ma.Study(make(pulls, seed=number), storage=url, name=f"study {number}") as study:
        _start.wait()
        began = time.monotonic()
        study.optimize(train, progress=False)
        return Run(study.name, began, time.monotonic(), study.counts.pulls)


def run_optuna(url: str, number: int, trials: int) -> Run:
    """Run one of Optuna's studies."""
    sampler = optuna.samplers.RandomSampler(seed=number)
    study = optuna.create_study(storage=url, study_name=f"study {number}", sampler=sampler, direction="maximize")
    _start.wait()
    began = time.monotonic()
    study.optimize(objective, n_trials=trials)
    return Run(study.study_name, began, time.monotonic(), trials)


def ours(make: Callable[..., Any], url: str, studies: int, pulls: int) -> Measured:
    """Run our studies, and verify what is in the storage."""
    found, errors = _run_together(partial(run_ours, make, url), studies, pulls)
    for run in found:
        with ma.load_study(url, run.study) as study:
            errors += abs(run.pulls - study.counts.pulls) + study.counts.failures + len(list(audit(study.journal)))
    return Measured(_rate(found), errors)


def peer(url: str, studies: int, trials: int) -> Measured:
    """Run Optuna's studies, and count the trials that are in the storage."""
    url = parse_url(url).render_as_string(hide_password=False)  # names the driver
    optuna.storages.RDBStorage(url)  # makes the tables, which several processes cannot do at once
    found, errors = _run_together(partial(run_optuna, url), studies, trials)
    for run in found:
        states = [trial.state for trial in optuna.load_study(study_name=run.study, storage=url).get_trials()]
        errors += abs(run.pulls - states.count(optuna.trial.TrialState.COMPLETE))
    return Measured(_rate(found), errors)


def _run_together(run: Callable[[int, int], Run], studies: int, pulls: int) -> tuple[list[Run], int]:
    """The runs of all studies, each in its own process, and the number of processes that failed."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(studies, _share, (context.Barrier(studies),)) as processes:
        results = [processes.apply_async(run, (number, pulls)) for number in range(studies)]
        found = [_result(result) for result in results]
    runs = [run for run in found if run is not None]
    return runs, studies - len(runs)


def _share(barrier: Any) -> None:
    """Give a process the barrier at which all of them wait."""
    global _start
    _start = barrier


def _result(result: AsyncResult[Run]) -> Run | None:
    try:
        return result.get(PATIENCE)
    except Exception as error:
        print(f"a study failed: {type(error).__name__}: {error}")
        return None


def _rate(runs: list[Run]) -> float:
    seconds = max(run.ended for run in runs) - min(run.began for run in runs)
    return sum(run.pulls for run in runs) / seconds


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--studies", type=int, default=8, help="studies, each in its own process (default 8)")
    arguments.add_argument("--pulls", type=int, help="pulls or trials of each study (default 200; 50 with --quick)")
    arguments.add_argument("--rounds", type=int, help="how often each is measured (default 3; 1 with --quick)")
    options = arguments.parse_args()
    studies = options.studies
    pulls = options.pulls or (50 if options.quick else 200)
    rounds = options.rounds or (1 if options.quick else 3)
    methods = {
        "RandomSearch": partial(ours, random_search),
        "MutantUCB": partial(ours, mutant_ucb),
        "Optuna": peer,
    }
    measured: dict[str, list[Measured]] = {name: [] for name in methods}
    with running_server() as make_database:
        for _ in range(rounds):
            for name, run in methods.items():
                measured[name].append(run(make_database(), studies, pulls))
    rates = {name: median(found.rate for found in each) for name, each in measured.items()}
    errors = {name: sum(found.errors for found in each) for name, each in measured.items()}
    theirs, rows = measured["Optuna"], []
    for name in ("RandomSearch", "MutantUCB"):
        faster = median(mine.rate / other.rate for mine, other in zip(measured[name], theirs, strict=True))
        target = AtLeast(2.5, faster, "times as fast")
        rows.append(Row(f"{name} / Optuna random", f"{rates[name]:.0f} pulls/s", f"{rates['Optuna']:.0f} trials/s", target))
    wrong = errors["RandomSearch"] + errors["MutantUCB"]
    rows.append(Row("errors", f"{wrong}", f"{errors['Optuna']}", AtMost(0, wrong, "errors")))
    show(f"{studies} studies of {pulls} pulls at the same time in one PostgreSQL server", "Optuna", rows, rounds)


if __name__ == "__main__":
    main()
