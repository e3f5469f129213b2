"""Nevergrad: NGOpt, which picks an evolutionary method by the size of the problem, with full trainings."""

from __future__ import annotations

from typing import Any

import nevergrad as ng
import numpy as np

from ....spaces import Choice, Int
from ..charged_problem import ChargedProblem
from ..flat_space import Leaf
from .common import Costs, flat_space


def ngopt(charged: ChargedProblem) -> None:
    """Search with NGOpt by ask and tell. The method it picks depends on the budget. Inactive parameters are ignored.

    Nevergrad cannot be told that a training failed, so a failure costs as much as the worst success so far.
    """
    flat, costs = flat_space(charged), Costs()
    parameters = ng.p.Dict(**{leaf.name: _parameter(leaf) for leaf in flat.leaves})
    parameters.random_state = np.random.RandomState(charged.seed)
    optimizer = ng.optimizers.NGOpt(parameters, budget=charged.budget // charged.problem.max_steps, num_workers=1)
    while True:
        candidate = optimizer.ask()
        optimizer.tell(candidate, costs.of(charged.train(flat.config(candidate.value))))


def _parameter(leaf: Leaf) -> Any:
    parameter = leaf.parameter
    if isinstance(parameter, Choice):
        numbers = range(len(parameter.options))
        return ng.p.TransitionChoice(numbers) if parameter.ordered else ng.p.Choice(numbers)
    kind = ng.p.Log if parameter.log else ng.p.Scalar
    number = kind(lower=parameter.low, upper=parameter.high)
    return number.set_integer_casting() if isinstance(parameter, Int) else number
