"""NePS: PriorBand, which is Hyperband whose new configs are drawn near good ones. No expert's prior is given."""

from __future__ import annotations

import logging
from typing import Any

import neps
import torch
from neps.optimizers.ask_and_tell import AskAndTell

from ....spaces import Choice, Int
from ..charged_problem import ChargedProblem
from ..flat_space import Leaf
from .common import ETA, Costs, flat_space

_STEPS = "steps of the training"


def priorband(charged: ChargedProblem) -> None:
    """Search with PriorBand by ask and tell. Inactive parameters are ignored; a failure costs as much as the worst success."""
    logging.getLogger("neps").setLevel(logging.CRITICAL)
    flat, costs = flat_space(charged), Costs()
    parameters = {leaf.name: _parameter(leaf) for leaf in flat.leaves}
    steps = neps.HPOInteger(1, charged.problem.max_steps, is_fidelity=True)
    search = AskAndTell(neps.algorithms.priorband(neps.SearchSpace({**parameters, _STEPS: steps}), eta=ETA))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(charged.seed)
        while True:
            trial = search.ask()
            values = dict(trial.config)
            reward = charged.train(flat.config(values), int(values.pop(_STEPS)))
            search.tell(trial, costs.of(reward))


def _parameter(leaf: Leaf) -> Any:
    parameter = leaf.parameter
    if isinstance(parameter, Choice):
        numbers = range(len(parameter.options))
        return neps.HPOInteger(0, numbers[-1]) if parameter.ordered else neps.HPOCategorical(list(numbers))
    kind = neps.HPOInteger if isinstance(parameter, Int) else neps.HPOFloat
    return kind(parameter.low, parameter.high, log=parameter.log)
