"""The space as a ConfigSpace, which SMAC and DEHB search."""

from __future__ import annotations

from typing import Any

from ConfigSpace import (
    CategoricalHyperparameter,
    ConfigurationSpace,
    EqualsCondition,
    OrdinalHyperparameter,
    UniformFloatHyperparameter,
    UniformIntegerHyperparameter,
)

from ....spaces import Choice, Int
from ..flat import Flat, Leaf


def configuration_space(flat: Flat, seed: int) -> Any:
    """The leaves as hyperparameters, each with a condition where it does not always exist."""
    space = ConfigurationSpace(seed=seed)
    space.add(*(_hyperparameter(leaf) for leaf in flat.leaves))
    for leaf in flat.leaves:
        if leaf.parent is not None:
            space.add(EqualsCondition(space[leaf.name], space[leaf.parent], leaf.option))
    return space


def _hyperparameter(leaf: Leaf) -> Any:
    parameter = leaf.parameter
    if isinstance(parameter, Choice):
        numbers = list(range(len(parameter.options)))
        return (OrdinalHyperparameter if parameter.ordered else CategoricalHyperparameter)(leaf.name, numbers)
    number = UniformIntegerHyperparameter if isinstance(parameter, Int) else UniformFloatHyperparameter
    return number(leaf.name, lower=parameter.low, upper=parameter.high, log=parameter.log)
