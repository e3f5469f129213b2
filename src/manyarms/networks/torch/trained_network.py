"""A network with the state of its training, and its checkpoints: tensors and plain values, never a pickle that runs code."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..graphs.network import Network
from ..graphs.network_space import NetworkSpace
from .network_module import NetworkModule, build
from .optimizers import training_optimizer
from .precision import Precision
from .pytorch import torch
from .training import Cycle, derived_seed, seeded, subtrain

FILE = "network.pt"
"""Name of the checkpoint file."""


@dataclass(slots=True)
class TrainedNetwork:
    """A network with everything that is needed to continue its training.

    Attributes:
        network: The config.
        module: The module with its weights.
        optimizer: Optimizer of the weights.
        scaler: Scaler of the loss.
        seed: Random seed of the whole training. The seed of each cycle derives from it, so that pauses change nothing.
        precision: Device and precision.
        steps: Number of cycles it was trained for.
        loss: Mean loss of the last epoch.
    """

    network: Network
    module: NetworkModule
    optimizer: torch.optim.Optimizer
    scaler: torch.amp.GradScaler
    seed: int
    precision: Precision
    steps: int = 0
    loss: float = 0.0

    @classmethod
    def initialize(cls, network: Network, space: NetworkSpace, seed: int, precision: Precision) -> TrainedNetwork:
        """An untrained network, whose weights follow from the seed."""
        with seeded(seed, precision.device):
            module = build(network, space).to(precision.device)
        optimizer = training_optimizer(network.training, module.parameters())
        return cls(network, module, optimizer, precision.scaler(), seed, precision)

    @classmethod
    def restore(cls, state: Mapping[str, Any], space: NetworkSpace, precision: Precision) -> TrainedNetwork:
        """The network whose `state()` this is."""
        trained = cls.initialize(space.from_json(json.loads(state["network"])), space, state["seed"], precision)
        trained.module.load_state_dict(state["weights"])
        trained.optimizer.load_state_dict(state["optimiser"])
        trained.scaler.load_state_dict(state["scaler"])
        trained.steps, trained.loss = state["steps"], state["loss"]
        return trained

    def train(self, x: torch.Tensor, y: torch.Tensor, cycle: Cycle) -> None:
        """Train for one more cycle."""
        seed = derived_seed(self.seed, self.steps)
        self.loss = subtrain(self.module, self.optimizer, x, y, cycle, seed, self.precision, self.scaler)
        self.steps += 1

    def state(self) -> dict[str, Any]:
        """Everything as tensors and plain values. The keys are those of stored checkpoints."""
        return {
            "network": json.dumps(self.network.to_json()),
            "seed": self.seed,
            "steps": self.steps,
            "loss": self.loss,
            "weights": self.module.state_dict(),
            "optimiser": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
        }


def state_bytes(state: Mapping[str, Any]) -> bytes:
    """The content of a checkpoint file with this state."""
    buffer = io.BytesIO()
    torch.save(dict(state), buffer)
    return buffer.getvalue()


def read_state(directory: Path) -> dict[str, Any]:
    """The state in a checkpoint directory. A file that contains code is refused and not run.

    The tensors are on the CPU. Modules and optimizers move them to their own devices, except that optimizers leave their step
    counters on the CPU, because on a GPU every step would wait for them.
    """
    state: dict[str, Any] = torch.load(directory / FILE, map_location="cpu", weights_only=True)
    return state
