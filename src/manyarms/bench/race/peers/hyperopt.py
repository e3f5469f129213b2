"""Hyperopt: its tree-structured Parzen estimator (TPE), with full trainings.

A failed training is reported as `STATUS_FAIL`; TPE ignores such trials.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Any

import hyperopt
import numpy as np
from hyperopt import hp

from ....spaces import Choice, Int
from ..charged_problem import ChargedProblem
from ..flat_space import FlatSpace, Leaf
from .common import flat_space


def tpe(charged: ChargedProblem) -> None:
    """Search with `fmin`, without a limit: it ends when `train` raises."""
    logging.getLogger("hyperopt").setLevel(logging.CRITICAL)
    flat = flat_space(charged)

    def objective(point: Mapping[str, Any]) -> dict[str, Any]:
        reward = charged.train(flat.config(_values(point)))
        if reward is None:
            return {"status": hyperopt.STATUS_FAIL}
        return {"status": hyperopt.STATUS_OK, "loss": -reward}

    hyperopt.fmin(
        objective,
        _space(flat, None, None),
        algo=hyperopt.tpe.suggest,
        rstate=np.random.default_rng(charged.seed),
        verbose=False,
    )


def _space(flat: FlatSpace, parent: str | None, option: int | None) -> dict[str, Any]:
    """The parameters that are active with this option, with their children nested in them."""
    return {leaf.name: _node(flat, leaf) for leaf in flat.leaves if (leaf.parent, leaf.option) == (parent, option)}


def _node(flat: FlatSpace, leaf: Leaf) -> Any:
    name, parameter = leaf.name, leaf.parameter
    if isinstance(parameter, Choice):
        n = len(parameter.options)
        if parameter.ordered:
            return hp.uniformint(name, 0, n - 1)
        return hp.choice(name, [{name: number, **_space(flat, name, number)} for number in range(n)])
    if not parameter.log:
        return (hp.uniformint if isinstance(parameter, Int) else hp.uniform)(name, parameter.low, parameter.high)
    low, high = math.log(parameter.low), math.log(parameter.high)
    return hp.qloguniform(name, low, high, 1) if isinstance(parameter, Int) else hp.loguniform(name, low, high)


def _values(point: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a nested point, by parameter."""
    values: dict[str, Any] = {}
    for name, value in point.items():
        values.update(_values(value) if isinstance(value, Mapping) else {name: value})
    return values
