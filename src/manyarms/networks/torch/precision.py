"""Mixed precision: the forward pass in half precision, and the loss scaled to keep small gradients."""

from __future__ import annotations

from dataclasses import dataclass

from .pytorch import torch


@dataclass(frozen=True, slots=True)
class Precision:
    """Where a network is computed, and whether in mixed precision.

    Args:
        device: Device of the network.
        mixed: Whether to use mixed precision.
    """

    device: torch.device
    mixed: bool

    @property
    def dtype(self) -> torch.dtype:
        """The half-precision type: bfloat16, or float16 on GPUs that only emulate bfloat16."""
        native = self.device.type != "cuda" or torch.cuda.get_device_capability(self.device)[0] >= 8
        return torch.bfloat16 if native else torch.float16

    def autocast(self) -> torch.autocast:
        """Context manager for the forward pass."""
        return torch.autocast(self.device.type, self.dtype, enabled=self.mixed)

    def scaler(self) -> torch.amp.GradScaler:
        """Scaler of the loss, disabled where it is not needed."""
        return torch.amp.GradScaler(self.device.type, enabled=self.mixed and self.dtype == torch.float16)
