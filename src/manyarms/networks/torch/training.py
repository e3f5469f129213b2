"""Training for one cycle of the learning rate, from its highest to its lowest value."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .precision import Precision
from .pytorch import F, nn, torch


@dataclass(frozen=True, slots=True)
class Cycle:
    """One cycle of the learning rate.

    Args:
        epochs: Number of epochs.
        batch_size: Number of examples in a batch.
        highest: Learning rate at the start.
        lowest: Learning rate at the end.
    """

    epochs: int
    batch_size: int
    highest: float
    lowest: float

    def rate(self, progress: float) -> float:
        """The learning rate after a fraction of the cycle (SGDR paper, equation 5).

        >>> cycle = Cycle(epochs=10, batch_size=32, highest=0.01, lowest=0.0)
        >>> [round(cycle.rate(progress), 4) for progress in (0.0, 0.5, 1.0)]
        [0.01, 0.005, 0.0]
        """
        return self.lowest + (self.highest - self.lowest) * (1 + math.cos(math.pi * progress)) / 2


def subtrain(
    module: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: torch.Tensor,
    y: torch.Tensor,
    cycle: Cycle,
    seed: int,
    precision: Precision | None = None,
    scaler: torch.amp.GradScaler | None = None,
) -> float:
    """Train a classifier for one cycle. The Mutant-UCB paper calls this a sub-train.

    Args:
        module: The network.
        optimizer: Optimizer of the network.
        x, y: Training examples and their labels.
        cycle: Length and learning rates of the cycle.
        seed: Random seed for shuffling and dropout.
        precision: Full precision by default.
        scaler: Loss scaler. Its state carries over from cycle to cycle.

    Returns:
        The mean loss of the last epoch.

    Raises:
        FloatingPointError: If the mean loss of an epoch is not finite.

    >>> x, y = torch.linspace(-1, 1, 20).reshape(20, 1), torch.arange(20) // 10
    >>> module, cycle = nn.Linear(1, 2), Cycle(epochs=3, batch_size=20, highest=0.1, lowest=0.001)
    >>> optimizer = torch.optim.SGD(module.parameters())
    >>> first, second = (subtrain(module, optimizer, x, y, cycle, seed) for seed in (0, 1))
    >>> second < first
    True
    """
    precision = precision or Precision(x.device, mixed=False)
    scaler = scaler or precision.scaler()
    shuffling = torch.Generator().manual_seed(seed)
    module.train()
    loss = math.nan
    with seeded(seed, x.device):
        for epoch in range(cycle.epochs):
            batches = shuffled(len(y), cycle.batch_size, shuffling)
            losses = []
            for number, batch in enumerate(batches):
                _set_rate(optimizer, cycle.rate((epoch + number / len(batches)) / cycle.epochs))
                rows = batch.to(x.device)
                losses.append(_train_batch(module, optimizer, x[rows], y[rows], precision, scaler))
            loss = float(torch.stack(losses).mean())  # once per epoch, because reading a number blocks the GPU
            if not math.isfinite(loss):
                raise FloatingPointError(f"the loss was {loss} in epoch {epoch + 1} of {cycle.epochs}")
    return loss


def _set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


def _train_batch(
    module: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: torch.Tensor,
    y: torch.Tensor,
    precision: Precision,
    scaler: torch.amp.GradScaler,
) -> torch.Tensor:
    """Train on one batch and return its loss."""
    with precision.autocast():
        loss = F.cross_entropy(module(x), y)
    optimizer.zero_grad()
    torch.autograd.backward(scaler.scale(loss))
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


def shuffled(count: int, batch_size: int, generator: torch.Generator) -> list[torch.Tensor]:
    """All rows in random order, split into batches. A last batch of one row is dropped: normalization needs two."""
    batches = list(torch.split(torch.randperm(count, generator=generator), batch_size))
    return batches[:-1] if len(batches) > 1 and len(batches[-1]) == 1 else batches


@contextlib.contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Seed PyTorch's generators, and restore their state at the end."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def derived_seed(seed: int, *keys: int) -> int:
    """A seed derived from another seed and some keys."""
    return int(np.random.SeedSequence([seed, *keys]).generate_state(1)[0])
