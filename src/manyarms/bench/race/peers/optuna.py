"""Optuna: TPE, Gaussian processes and random search on full trainings, and TPE with Hyperband's pruner.

A failure is told as `TrialState.FAIL`; Optuna's samplers and pruners ignore such trials.
"""

from __future__ import annotations

from typing import Any

import optuna
from optuna.trial import TrialState

from ....spaces import Choice, Int
from ..flat import Flat, Leaf
from ..track import Track
from .common import ETA, flat_space, rungs


def tpe(track: Track) -> None:
    """The default: a tree-structured Parzen estimator, multivariate since Optuna 5."""
    _full_trainings(track, optuna.samplers.TPESampler(seed=track.seed))


def gp(track: Track) -> None:
    """A Gaussian process with expected improvement. It samples conditional parameters at random."""
    sampler = optuna.samplers.GPSampler(seed=track.seed, warn_independent_sampling=False)
    _full_trainings(track, sampler)


def random(track: Track) -> None:
    """Random search."""
    _full_trainings(track, optuna.samplers.RandomSampler(seed=track.seed))


def hyperband(track: Track) -> None:
    """TPE, and Hyperband's pruner asked after 1, 3, 9, ... steps. A pruned trial is final, as always in Optuna."""
    flat, max_steps = flat_space(track), track.problem.max_steps
    pruner = optuna.pruners.HyperbandPruner(min_resource=1, max_resource=max_steps, reduction_factor=ETA)
    study = _study(track, optuna.samplers.TPESampler(seed=track.seed), pruner)
    while True:
        trial = study.ask()
        _tell_pruned(study, trial, track, flat.config(_values(trial, flat)))


def _full_trainings(track: Track, sampler: Any) -> None:
    flat = flat_space(track)
    study = _study(track, sampler, optuna.pruners.NopPruner())
    while True:
        trial = study.ask()
        reward = track.train(flat.config(_values(trial, flat)))
        study.tell(trial, reward, state=TrialState.FAIL if reward is None else None)


def _tell_pruned(study: Any, trial: Any, track: Track, config: dict[str, Any]) -> None:
    """Train until the pruner stops it."""
    for steps in rungs(track.problem.max_steps):
        reward = track.train(config, steps)
        if reward is None:
            study.tell(trial, state=TrialState.FAIL)
            return
        trial.report(reward, steps)
        if trial.should_prune():
            study.tell(trial, state=TrialState.PRUNED)
            return
    study.tell(trial, reward)


def _study(track: Track, sampler: Any, pruner: Any) -> Any:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    # The name decides which bracket a trial belongs to; by default it is drawn anew each time.
    return optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner, study_name=f"race {track.seed}")


def _values(trial: Any, flat: Flat) -> dict[str, Any]:
    """A value for each leaf that exists, defined by run."""
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
