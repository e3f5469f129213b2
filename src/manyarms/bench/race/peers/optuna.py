"""Optuna: TPE, Gaussian processes and random search with full trainings, and TPE with the Hyperband pruner.

A failed training is reported as `TrialState.FAIL`; Optuna's samplers and pruners ignore such trials.
"""

from __future__ import annotations

from typing import Any

import optuna
from optuna.trial import TrialState

from ....spaces import Choice, Int
from ..charged_problem import ChargedProblem
from ..flat_space import FlatSpace, Leaf
from .common import ETA, flat_space, rungs


def tpe(charged: ChargedProblem) -> None:
    """The default sampler: a tree-structured Parzen estimator, multivariate since Optuna 5."""
    _full_trainings(charged, optuna.samplers.TPESampler(seed=charged.seed))


def gp(charged: ChargedProblem) -> None:
    """A Gaussian process with expected improvement. It samples conditional parameters at random."""
    sampler = optuna.samplers.GPSampler(seed=charged.seed, warn_independent_sampling=False)
    _full_trainings(charged, sampler)


def random(charged: ChargedProblem) -> None:
    """Random search."""
    _full_trainings(charged, optuna.samplers.RandomSampler(seed=charged.seed))


def hyperband(charged: ChargedProblem) -> None:
    """TPE with the Hyperband pruner, which decides after 1, 3, 9, ... steps. A pruned trial is never resumed."""
    flat, max_steps = flat_space(charged), charged.problem.max_steps
    pruner = optuna.pruners.HyperbandPruner(min_resource=1, max_resource=max_steps, reduction_factor=ETA)
    study = _study(charged, optuna.samplers.TPESampler(seed=charged.seed), pruner)
    while True:
        trial = study.ask()
        _tell_pruned(study, trial, charged, flat.config(_values(trial, flat)))


def _full_trainings(charged: ChargedProblem, sampler: Any) -> None:
    flat = flat_space(charged)
    study = _study(charged, sampler, optuna.pruners.NopPruner())
    while True:
        trial = study.ask()
        reward = charged.train(flat.config(_values(trial, flat)))
        study.tell(trial, reward, state=TrialState.FAIL if reward is None else None)


def _tell_pruned(study: Any, trial: Any, charged: ChargedProblem, config: dict[str, Any]) -> None:
    """Train until the pruner stops the trial."""
    for steps in rungs(charged.problem.max_steps):
        reward = charged.train(config, steps)
        if reward is None:
            study.tell(trial, state=TrialState.FAIL)
            return
        trial.report(reward, steps)
        if trial.should_prune():
            study.tell(trial, state=TrialState.PRUNED)
            return
    study.tell(trial, reward)


def _study(charged: ChargedProblem, sampler: Any, pruner: Any) -> Any:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    # Brackets depend on the name of the study, which is random by default.
    return optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner, study_name=f"race {charged.seed}")


def _values(trial: Any, flat: FlatSpace) -> dict[str, Any]:
    """A suggested value for each active parameter."""
    values: dict[str, Any] = {}
    for leaf in flat.leaves:
        if leaf.parent is None or values.get(leaf.parent) == leaf.option:
            values[leaf.name] = _suggest(trial, leaf)
    return values


def _suggest(trial: Any, leaf: Leaf) -> Any:
    parameter = leaf.parameter
    if isinstance(parameter, Choice):
        numbers = range(len(parameter.options))
        if parameter.ordered:
            return trial.suggest_int(leaf.name, numbers[0], numbers[-1])
        return trial.suggest_categorical(leaf.name, list(numbers))
    suggest = trial.suggest_int if isinstance(parameter, Int) else trial.suggest_float
    return suggest(leaf.name, parameter.low, parameter.high, log=parameter.log)
