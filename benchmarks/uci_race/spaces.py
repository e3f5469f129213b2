"""The spaces of `AutoClassifier` in the form of scikit-learn and of Optuna."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from manyarms import Choice, Float, Int, Space

_PLAIN = (str, int, float, bool, type(None))  # types that Optuna accepts as categories


class Drawn:
    """A parameter as a SciPy distribution, with the same probabilities as ours, also for logarithmic integers."""

    def __init__(self, parameter: Float | Int) -> None:
        self._parameter = parameter

    def rvs(self, *, random_state: Any) -> float:
        """A random value."""
        return self._parameter.decode([random_state.uniform()])


def to_scipy(space: Space) -> dict[str, Any]:
    """The space for `ParameterSampler`."""
    return {name: _distribution(parameter) for name, parameter in space.parameters.items()}


def _distribution(parameter: Any) -> Any:
    if isinstance(parameter, Choice):
        return list(parameter.options)
    return Drawn(parameter) if isinstance(parameter, Float | Int) else [parameter.value]


def suggest(trial: Any, family: str, space: Space) -> dict[str, Any]:
    """A config of the space, suggested by a trial of Optuna. Parameters of different families are different parameters."""
    return {name: _suggested(trial, f"{family}.{name}", parameter) for name, parameter in space.parameters.items()}


def _suggested(trial: Any, name: str, parameter: Any) -> Any:
    if isinstance(parameter, Float):
        return trial.suggest_float(name, parameter.low, parameter.high, log=parameter.log)
    if isinstance(parameter, Int):
        return trial.suggest_int(name, parameter.low, parameter.high, log=parameter.log)
    if isinstance(parameter, Choice):
        options = {_category(option): option for option in parameter.options}
        return options[trial.suggest_categorical(name, list(options))]
    return parameter.value


def as_trial(family: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the Optuna trial that has this config."""
    return {"family": family, **{f"{family}.{name}": _category(value) for name, value in config.items()}}


def _category(option: Any) -> Any:
    return option if isinstance(option, _PLAIN) else json.dumps(option)
