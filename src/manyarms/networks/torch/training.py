"""A sub-train: one cycle of the learning rate, from its highest to its lowest."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .pytorch import F, nn, torch


@dataclass(frozen=True, slots=True)
class Cycle:
    """How long a cycle is, and which learning rates it goes through.

    Args:
        epochs: passes over the examples.
        batch_size: examples of an iteration.
        highest, lowest: the learning rate at the beginning and at the end.
    """

    epochs: int
    batch_size: int
    highest: float
    lowest: float

    def rate(self, share: float) -> float:
        """The learning rate after a share of the cycle (SGDR, equation 5).

        >>> cycle = Cycle(epochs=10, batch_size=32, highest=0.01, lowest=0.0)
        >>> [round(cycle.rate(share), 4) for share in (0.0, 0.5, 1.0)]
        [0.01, 0.005, 0.0]
        """
        return self.lowest + (self.highest - self.lowest) * (1 + math.cos(math.pi * share)) / 2


@dataclass(frozen=True, slots=True)
class Precision:
    """Half precision where it is faster: the forward pass in it, and the loss scaled so that small gradients survive.

    Args:
        device: where the network is.
        mixed: whether to use it at all.
    """

    device: torch.device
    mixed: bool

    @property
    def dtype(self) -> torch.dtype:
        """The one with a wide range of numbers, where the device has it, and does not only imitate it."""
        wide = self.device.type != "cuda" or torch.cuda.get_device_capability(self.device)[0] >= 8
        return torch.bfloat16 if wide else torch.float16

    def autocast(self) -> torch.autocast:
        """For the forward pass."""
        return torch.autocast(self.device.type, self.dtype, enabled=self.mixed)

    def scaler(self) -> torch.amp.GradScaler:
        """Of the loss; one that does nothing where there is no need."""
        return torch.amp.GradScaler(self.device.type, enabled=self.mixed and self.dtype == torch.float16)


def subtrain(
    module: nn.Module,
    optimiser: torch.optim.Optimizer,
    x: torch.Tensor,
    y: torch.Tensor,
    cycle: Cycle,
    seed: int,
    precision: Precision | None = None,
    scaler: torch.amp.GradScaler | None = None,
) -> float:
    """Train a classifier for one cycle; gives the mean loss of the last epoch. The same seed shuffles and drops out alike.

    A loss that is not finite raises `FloatingPointError` at the end of its epoch.

    >>> x, y = torch.linspace(-1, 1, 20).reshape(20, 1), torch.arange(20) // 10
    >>> module, cycle = nn.Linear(1, 2), Cycle(epochs=3, batch_size=20, highest=0.1, lowest=0.001)
    >>> optimiser = torch.optim.SGD(module.parameters())
    >>> first, second = (subtrain(module, optimiser, x, y, cycle, seed) for seed in (0, 1))
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
                _set_rate(optimiser, cycle.rate((epoch + number / len(batches)) / cycle.epochs))
                rows = batch.to(x.device)
                losses.append(_descend(module, optimiser, x[rows], y[rows], precision, scaler))
            loss = float(torch.stack(losses).mean())  # once an epoch: asking a GPU for a number makes it wait
            if not math.isfinite(loss):
                raise FloatingPointError(f"the loss was {loss} in epoch {epoch + 1} of {cycle.epochs}")
    return loss


def _set_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    for group in optimiser.param_groups:
        group["lr"] = rate


def _descend(
    module: nn.Module,
    optimiser: torch.optim.Optimizer,
    x: torch.Tensor,
    y: torch.Tensor,
    precision: Precision,
    scaler: torch.amp.GradScaler,
) -> torch.Tensor:
    """One iteration; gives its loss."""
    with precision.autocast():
        loss = F.cross_entropy(module(x), y)
    optimiser.zero_grad()
    torch.autograd.backward(scaler.scale(loss))
    scaler.step(optimiser)
    scaler.update()
    return loss.detach()


def shuffled(count: int, batch_size: int, generator: torch.Generator) -> list[torch.Tensor]:
    """All rows in random order, in batches; a last one of a single row is left out, since normalisation needs two."""
    batches = list(torch.split(torch.randperm(count, generator=generator), batch_size))
    return batches[:-1] if len(batches) > 1 and len(batches[-1]) == 1 else batches


@contextlib.contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """PyTorch's generators begun with this seed; afterwards as they were."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def seed_of(seed: int, *address: int) -> int:
    """A seed for a part of what has this seed."""
    return int(np.random.SeedSequence([seed, *address]).generate_state(1)[0])
