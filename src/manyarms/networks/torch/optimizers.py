"""Optimizers by name, and the hyperparameters that the training of a network can have."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ... import checks
from ...spaces import Space
from ..layers.layer import extreme_values
from .pytorch import nn, torch

_OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": functools.partial(torch.optim.SGD, momentum=0.9, nesterov=True),
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "rmsprop": torch.optim.RMSprop,
}
_FORMER_SPELLING = "optimiser"  # in `TRAINING`, and thus in stored studies
_REQUIRED = ("learning_rate", "batch_size", "optimizer")
_RULES: dict[str, Callable[[str, Any], Any]] = {
    "learning_rate": checks.positive,
    "batch_size": functools.partial(checks.whole, low=2),  # normalization needs two
    "optimizer": functools.partial(checks.one_of, options=tuple(_OPTIMIZERS)),
    "weight_decay": functools.partial(checks.between, low=0),
}


def make_optimizer(
    name: str, weights: Iterable[nn.Parameter], learning_rate: float, weight_decay: float | None = None
) -> torch.optim.Optimizer:
    """An optimizer.

    Args:
        name: sgd (with Nesterov momentum), adam, adamw or rmsprop.
        weights: Parameters to optimize.
        learning_rate: Learning rate.
        weight_decay: Weight decay; None means PyTorch's default.
    """
    options = {} if weight_decay is None else {"weight_decay": weight_decay}
    return _OPTIMIZERS[checks.one_of("optimizer", name, tuple(_OPTIMIZERS))](weights, learning_rate, **options)


def training_optimizer(training: Mapping[str, Any], weights: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """The optimizer that the training of a network asks for."""
    name = training["optimizer"] if "optimizer" in training else training[_FORMER_SPELLING]
    return make_optimizer(name, weights, training["learning_rate"], training.get("weight_decay"))


def check_training(training: Space) -> None:
    """Raise an error unless the space has the required hyperparameters, no unknown ones, and only valid values."""
    parameters = {_current_spelling(name): parameter for name, parameter in training.parameters.items()}
    missing = sorted(set(_REQUIRED) - parameters.keys())
    if missing:
        raise ValueError(f"the training space must have learning_rate, batch_size and optimizer, got no {missing[0]}")
    unknown = sorted(parameters.keys() - _RULES.keys())
    if unknown or len(parameters) < len(training.parameters):
        found = unknown[0] if unknown else f"both optimizer and {_FORMER_SPELLING}"
        raise ValueError(f"the training space must have no parameters other than {', '.join(_RULES)}, got {found}")
    for name, parameter in training.parameters.items():
        for value in extreme_values(parameter):
            _RULES[_current_spelling(name)](f"{name} of the training space", value)


def _current_spelling(name: str) -> str:
    return "optimizer" if name == _FORMER_SPELLING else name
