"""Nevergrad: NGOpt, which picks an evolutionary method by the size of the problem, on full trainings."""

from __future__ import annotations

from typing import Any

import nevergrad as ng
import numpy as np

from ....spaces import Choice, Int
from ..flat import Leaf
from ..track import Track
from .common import Costs, flat_space


def ngopt(track: Track) -> None:
    """By ask and tell; parameters that do not exist in a config are ignored. What NGOpt picks depends on the budget.

    Nevergrad has no word for failures: one costs as much as the worst success so far.
    """
    flat, costs = flat_space(track), Costs()
    parameters = ng.p.Dict(**{leaf.name: _parameter(leaf) for leaf in flat.leaves})
    parameters.random_state = np.random.RandomState(track.seed)
    optimizer = ng.optimizers.NGOpt(parameters, budget=track.budget // track.problem.max_steps, num_workers=1)
    while True:
        candidate = optimizer.ask()
        optimizer.tell(candidate, costs.of(track.train(flat.config(candidate.value))))


def _parameter(leaf: Leaf) -> Any:
    parameter = leaf.parameter
    if isinstance(parameter, Choice):
        numbers = range(len(parameter.options))
        return ng.p.TransitionChoice(numbers) if parameter.ordered else ng.p.Choice(numbers)
    kind = ng.p.Log if parameter.log else ng.p.Scalar
    number = kind(lower=parameter.low, upper=parameter.high)
    return number.set_integer_casting() if isinstance(parameter, Int) else number
