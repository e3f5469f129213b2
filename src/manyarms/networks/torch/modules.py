"""Modules that PyTorch does not have. Exported networks contain their source, so they must only refer to PyTorch."""

from __future__ import annotations

from .pytorch import nn, torch


class RecurrentModule(nn.Module):
    """A GRU or an LSTM over rows x channels x length."""

    def __init__(self, cell: str, channels: int, units: int) -> None:
        super().__init__()
        self.cell = {"gru": nn.GRU, "lstm": nn.LSTM}[cell](channels, units, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outputs: torch.Tensor = self.cell(x.transpose(1, 2))[0]
        return outputs.transpose(1, 2)


class AttentionModule(nn.Module):
    """Multi-head self-attention over rows x channels x length, added to its input."""

    def __init__(self, channels: int, heads: int, size: int) -> None:
        super().__init__()
        self.heads, self.size = heads, size
        self.project = nn.Linear(channels, 3 * heads * size)
        self.merge = nn.Linear(heads * size, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        projected = self.project(x.transpose(1, 2)).unflatten(2, (3, self.heads, self.size))
        query, key, value = projected.permute(2, 0, 3, 1, 4).unbind(0)  # each rows x heads x length x size
        attended = nn.functional.scaled_dot_product_attention(query, key, value)
        added: torch.Tensor = self.merge(attended.transpose(1, 2).flatten(2))
        return x + added.transpose(1, 2)
