"""Syne Tune: ASHA, and BOHB, whose new configs come from density estimates.

Its schedulers stop trials for good: version 0.16 has none that pauses and promotes. A failed training is reported by
`on_trial_error`: the trial ends, and its earlier results remain in the model and in the rungs.
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
from syne_tune.optimizer.schedulers.searchers.kde import (
    KernelDensityEstimator as KernelDensityEstimator,  # so that it is imported now
)

from ....spaces import Choice, Int
from ..charged_problem import ChargedProblem
from ..flat_space import Leaf
from .common import ETA, flat_space, rungs


def asha(charged: ChargedProblem) -> None:
    """Asynchronous successive halving with one worker: the first configs continue as long as none was better."""
    _search(charged, ASHA)


def bohb(charged: ChargedProblem) -> None:
    """ASHA with configs from two density estimates: one of good configs and one of the others."""
    _search(charged, BOHB)


def _search(charged: ChargedProblem, scheduler_class: Any) -> None:
    """Drive a scheduler like the tuner of Syne Tune. Inactive parameters are ignored."""
    logging.getLogger("syne_tune").setLevel(logging.ERROR)
    flat = flat_space(charged)
    scheduler = scheduler_class(
        {leaf.name: _domain(leaf) for leaf in flat.leaves},
        metric="reward",
        time_attr="steps",
        max_t=charged.problem.max_steps,
        reduction_factor=ETA,
        do_minimize=False,
        random_seed=charged.seed,
    )
    for number in itertools.count():
        trial = Trial(number, scheduler.suggest().config, datetime.datetime.now())
        scheduler.on_trial_add(trial)
        _run(scheduler, trial, charged, flat.config(trial.config))


def _run(scheduler: Any, trial: Any, charged: ChargedProblem, config: dict[str, Any]) -> None:
    """Train until the scheduler stops the trial. It decides at rungs, so other steps are not reported."""
    for steps in rungs(charged.problem.max_steps):
        reward = charged.train(config, steps)
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
