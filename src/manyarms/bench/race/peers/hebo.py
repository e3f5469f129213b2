"""HEBO: a Gaussian process on transformed rewards, with several acquisition functions and full trainings."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from hebo.design_space.design_space import DesignSpace
from hebo.optimizers.hebo import HEBO

from ....spaces import Choice, Int
from ..charged_problem import ChargedProblem
from ..flat_space import Leaf
from .common import Costs, flat_space


def search(charged: ChargedProblem) -> None:
    """Search by suggest and observe. Inactive parameters are ignored; a failure costs as much as the worst success so far."""
    flat, costs = flat_space(charged), Costs()
    space = DesignSpace().parse([_parameter(leaf) for leaf in flat.leaves])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(charged.seed)
        optimizer = HEBO(space, scramble_seed=charged.seed)
        while True:
            suggested = optimizer.suggest(n_suggestions=1)
            reward = charged.train(flat.config(suggested.iloc[0].to_dict()))
            optimizer.observe(suggested, np.array([[costs.of(reward)]]))


def _parameter(leaf: Leaf) -> dict[str, Any]:
    parameter = leaf.parameter
    if isinstance(parameter, Choice):
        numbers = range(len(parameter.options))
        if parameter.ordered:
            return {"name": leaf.name, "type": "int", "lb": numbers[0], "ub": numbers[-1]}
        return {"name": leaf.name, "type": "cat", "categories": list(numbers)}
    kinds = ("pow_int", "int") if isinstance(parameter, Int) else ("pow", "num")
    return {"name": leaf.name, "type": kinds[0 if parameter.log else 1], "lb": parameter.low, "ub": parameter.high}
