"""The three other searches: random search, halving and Optuna. Each continues until it is killed."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingRandomSearchCV, ParameterSampler
from sklearn.pipeline import Pipeline

from .candidates import Candidates
from .datasets import Task
from .searches import Found, refit_seconds, scored
from .spaces import as_trial, suggest, to_scipy

_UNLIMITED = 10**9  # candidates
_FIRST_HALVING = 12  # candidates
_TIME_SHARE = 0.8  # of the remaining time, for which a halving is planned


def at_random(task: Task, candidates: Candidates) -> Iterator[Found]:
    """Like RandomizedSearchCV, with as many candidates as time allows: a random family, then its parameters."""
    spaces = [{"family": [name], **to_scipy(family.space)} for name, family in candidates.families()]
    drawn = iter(ParameterSampler(spaces, _UNLIMITED, random_state=task.seed))
    while True:
        configs = [next(drawn) for _ in range(task.cores)]  # so that no core waits for the last fold of one candidate
        yield from scored(candidates, [(config.pop("family"), config) for config in configs], task.cores)


def by_halving(task: Task, candidates: Candidates) -> Iterator[Found]:
    """HalvingRandomSearchCV repeatedly, each time with twice as many candidates; the last one with as many as time allows."""
    estimators = {name: candidates.estimator(name, {}) for name, _ in candidates.families()}
    names = {id(estimator): name for name, estimator in estimators.items()}
    spaces = [
        {"family": [estimators[name]], **{f"family__{key}": law for key, law in to_scipy(family.space).items()}}
        for name, family in candidates.families()
    ]
    count, number = _FIRST_HALVING, 0
    while number == 0 or count >= _FIRST_HALVING:
        began = time.perf_counter()
        search = HalvingRandomSearchCV(
            Pipeline([("family", "passthrough")]),
            spaces,
            n_candidates=count,
            min_resources="exhaust",  # so that the last candidates are compared on all rows
            scoring="accuracy",
            cv=candidates.folds,
            refit=False,
            n_jobs=task.cores,
            random_state=task.seed + 1000 * number,
        ).fit(candidates.X, candidates.y)
        seconds = refit_seconds(float(search.cv_results_["mean_fit_time"][search.best_index_]), len(candidates.folds))
        yield Found(float(search.best_score_), *_named(search.best_params_, names), seconds, tried=count)
        now = time.perf_counter()
        count = min(2 * count, int(_TIME_SHARE * (task.deadline - now) / (now - began) * count))
        number += 1


def _named(params: dict[str, Any], names: dict[int, str]) -> tuple[str, dict[str, Any]]:
    """The family and the config, from the parameters of the pipeline."""
    config = {name.removeprefix("family__"): value for name, value in params.items() if name != "family"}
    return names[id(params["family"])], config


def by_optuna(task: Task, candidates: Candidates) -> Iterator[Found]:
    """Optuna's TPE. The family is a categorical parameter, and the parameters of the families depend on it.

    Like ours, it starts with the default configuration of each family.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    several = task.cores > 1
    sampler = optuna.samplers.TPESampler(seed=task.seed, constant_liar=several)  # so that simultaneous trials differ
    study, spaces = optuna.create_study(direction="maximize", sampler=sampler), {}
    for name, family in candidates.families():
        spaces[name] = family.space
        for config in family.space.firsts:
            study.enqueue_trial(as_trial(name, config))
    while True:
        trials = [study.ask() for _ in range(task.cores)]
        chosen = [(trial, trial.suggest_categorical("family", list(spaces))) for trial in trials]
        configs = [(name, suggest(trial, name, spaces[name])) for trial, name in chosen]
        for trial, found in zip(trials, scored(candidates, configs, task.cores), strict=True):
            failed = math.isnan(found.score)
            study.tell(trial, None if failed else found.score, optuna.trial.TrialState.FAIL if failed else None)
            yield found
