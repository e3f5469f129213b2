"""Syne Tune: ASHA, and BOHB, whose newcomers come from density estimates.

Its schedulers stop trials for good: version 0.16 has none that pauses and promotes. A failure is told by `on_trial_error`: the
trial ends, and what was reported of it before stays in the model and in the rungs.
"""

from __future__ import annotations

import datetime
import itertools
import logging
from typing import Any

from syne_tune.backend.trial_status import Trial
from syne_tune.config_space import choice, lograndint, loguniform, randint, uniform
from syne_tune.optimizer.baselines import ASHA, BOHB
from syne_tune.optimizer.scheduler import SchedulerDecision
from syne_tune.optimizer.schedulers.searchers.kde import KernelDensityEstimator as KernelDensityEstimator  # loads it now

from ....spaces import Choice, Int
from ..flat import Leaf
from ..track import Track
from .common import ETA, flat_space, rungs


def asha(track: Track) -> None:
    """Asynchronous successive halving with one worker: the first configs go on as long as no better was seen."""
    _search(track, ASHA)


def bohb(track: Track) -> None:
    """The same, with configs from two density estimates, of the good ones and of the others."""
    _search(track, BOHB)


def _search(track: Track, scheduler_class: Any) -> None:
    """Drive a scheduler as Syne Tune's tuner does; parameters that do not exist in a config are ignored."""
    logging.getLogger("syne_tune").setLevel(logging.ERROR)
    flat = flat_space(track)
    scheduler = scheduler_class(
        {leaf.name: _domain(leaf) for leaf in flat.leaves},
        metric="reward",
        time_attr="steps",
        max_t=track.problem.max_steps,
        reduction_factor=ETA,
        do_minimize=False,
        random_seed=track.seed,
    )
    for number in itertools.count():
        trial = Trial(number, scheduler.suggest().config, datetime.datetime.now())
        scheduler.on_trial_add(trial)
        _run(scheduler, trial, track, flat.config(trial.config))


def _run(scheduler: Any, trial: Any, track: Track, config: dict[str, Any]) -> None:
    """Train until the scheduler stops it; it decides at rungs, so other steps are not reported."""
    for steps in rungs(track.problem.max_steps):
        reward = track.train(config, steps)
        if reward is None:
            scheduler.on_trial_error(trial)
            return
        result = {"reward": reward, "steps": steps}
        if scheduler.on_trial_result(trial, result) == SchedulerDecision.STOP:
            break
    scheduler.on_trial_remove(trial)


def _domain(leaf: Leaf) -> Any:
    parameter = leaf.parameter
    if isinstance(parameter, Choice):
        n = len(parameter.options)
        return randint(0, n - 1) if parameter.ordered else choice(list(range(n)))
    if isinstance(parameter, Int):
        return (lograndint if parameter.log else randint)(parameter.low, parameter.high)
    return (loguniform if parameter.log else uniform)(parameter.low, parameter.high)
