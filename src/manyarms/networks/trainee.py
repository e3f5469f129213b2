"""A network in training, and how it is kept between pulls: tensors and plain values, never a pickle that runs code."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .building import NetworkModule, build
from .cycles import Cycle, Precision, seed_of, seeded, subtrain
from .network import Network
from .pytorch import nn, torch
from .space import NetworkSpace

FILE = "network.pt"
"""The file of a checkpoint."""

_MAKERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": lambda weights, rate: torch.optim.SGD(weights, rate, momentum=0.9, nesterov=True),
    "adam": lambda weights, rate: torch.optim.Adam(weights, rate),
    "adamw": lambda weights, rate: torch.optim.AdamW(weights, rate),
    "rmsprop": lambda weights, rate: torch.optim.RMSprop(weights, rate),
}


def make_optimiser(name: str, weights: Iterable[nn.Parameter], rate: float) -> torch.optim.Optimizer:
    """The optimiser of this name: sgd (with momentum), adam, adamw or rmsprop."""
    if name not in _MAKERS:
        raise ValueError(f"optimiser must be one of {', '.join(_MAKERS)}, got {name!r}")
    return _MAKERS[name](weights, rate)


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
        optimiser = make_optimiser(network.training["optimiser"], module.parameters(), network.training["learning_rate"])
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


def read_state(directory: Path, device: torch.device) -> dict[str, Any]:
    """The state that a pull saved. What is not tensors and plain values is refused, and never run."""
    state: dict[str, Any] = torch.load(directory / FILE, map_location=device, weights_only=True)
    return state
