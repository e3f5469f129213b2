"""A space in the form of ConfigSpace, for SMAC and DEHB."""

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
from ..flat_space import FlatSpace, Leaf


def configuration_space(flat: FlatSpace, seed: int) -> Any:
    """The parameters as hyperparameters of ConfigSpace, with their conditions."""
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
