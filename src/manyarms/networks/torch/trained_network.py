"""A network in training, and how it is kept between pulls: tensors and plain values, never a pickle that runs code."""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import checks
from ...spaces import Space
from ..graphs.network import Network
from ..graphs.network_space import NetworkSpace
from ..layers.layer import values_of
from .network_module import NetworkModule, build
from .pytorch import nn, torch
from .training import Cycle, Precision, seed_of, seeded, subtrain

FILE = "network.pt"
"""The file of a checkpoint."""

_MAKERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": functools.partial(torch.optim.SGD, momentum=0.9, nesterov=True),
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "rmsprop": torch.optim.RMSprop,
}
_REQUIRED: dict[str, Callable[[str, Any], Any]] = {
    "learning_rate": checks.positive,
    "batch_size": functools.partial(checks.whole, low=2),  # normalisation needs two
    "optimiser": functools.partial(checks.one_of, options=tuple(_MAKERS)),
}
_KNOWN = _REQUIRED | {"weight_decay": functools.partial(checks.between, low=0)}


def make_optimiser(
    name: str, weights: Iterable[nn.Parameter], rate: float, weight_decay: float | None = None
) -> torch.optim.Optimizer:
    """The optimiser of this name: sgd (with momentum), adam, adamw or rmsprop; without `weight_decay`, with PyTorch's."""
    options = {} if weight_decay is None else {"weight_decay": weight_decay}
    return _MAKERS[checks.one_of("optimiser", name, tuple(_MAKERS))](weights, rate, **options)


def check_training(training: Space) -> None:
    """Refuse a space that lacks a parameter of the training, has one that is none, or has values that none can have."""
    missing = _REQUIRED.keys() - training.parameters.keys()
    if missing:
        raise ValueError(f"the space's training must have learning_rate, batch_size and optimiser, got no {min(missing)}")
    unknown = training.parameters.keys() - _KNOWN.keys()
    if unknown:
        raise ValueError(f"the space's training must have no parameters but {', '.join(_KNOWN)}, got {min(unknown)}")
    for name, parameter in training.parameters.items():
        for value in values_of(parameter):
            _KNOWN[name](f"{name} of the space's training", value)


@dataclass(slots=True)
class Trainee:
    """All that a training goes on from.

    Attributes:
        network: the genotype.
        module: the weights.
        optimiser, scaler: of the weights and of the loss, with their states.
        seed: of the whole training; each cycle has one that derives from it, so that it does not matter how it is sliced.
        precision: where and how it is computed.
        steps: cycles it was trained for.
        loss: of the last epoch.
    """

    network: Network
    module: NetworkModule
    optimiser: torch.optim.Optimizer
    scaler: torch.amp.GradScaler
    seed: int
    precision: Precision
    steps: int = 0
    loss: float = 0.0

    @classmethod
    def begin(cls, network: Network, space: NetworkSpace, seed: int, precision: Precision) -> Trainee:
        """Untrained, with weights that follow from the seed."""
        with seeded(seed, precision.device):
            module = build(network, space).to(precision.device)
        training = network.training
        rate, decay = training["learning_rate"], training.get("weight_decay")
        optimiser = make_optimiser(training["optimiser"], module.parameters(), rate, decay)
        return cls(network, module, optimiser, precision.scaler(), seed, precision)

    @classmethod
    def resume(cls, state: Mapping[str, Any], space: NetworkSpace, precision: Precision) -> Trainee:
        """As it was when `state` was taken."""
        trainee = cls.begin(space.from_json(json.loads(state["network"])), space, state["seed"], precision)
        trainee.module.load_state_dict(state["weights"])
        trainee.optimiser.load_state_dict(state["optimiser"])
        trainee.scaler.load_state_dict(state["scaler"])
        trainee.steps, trainee.loss = state["steps"], state["loss"]
        return trainee

    def train(self, x: torch.Tensor, y: torch.Tensor, cycle: Cycle) -> None:
        """One more cycle."""
        seed = seed_of(self.seed, self.steps)
        self.loss = subtrain(self.module, self.optimiser, x, y, cycle, seed, self.precision, self.scaler)
        self.steps += 1

    def state(self) -> dict[str, Any]:
        """Everything, as tensors and plain values."""
        return {
            "network": json.dumps(self.network.to_json()),
            "seed": self.seed,
            "steps": self.steps,
            "loss": self.loss,
            "weights": self.module.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "scaler": self.scaler.state_dict(),
        }


def packed(state: Mapping[str, Any]) -> bytes:
    """A state as the bytes of a file."""
    buffer = io.BytesIO()
    torch.save(dict(state), buffer)
    return buffer.getvalue()


def read_state(directory: Path) -> dict[str, Any]:
    """The state that a pull saved. What is not tensors and plain values is refused, and never run.

    Modules and optimisers take the tensors of a state to their own devices. Optimisers leave their counts of steps where they
    were read: on a GPU, each step would wait for them.
    """
    state: dict[str, Any] = torch.load(directory / FILE, map_location="cpu", weights_only=True)
    return state
