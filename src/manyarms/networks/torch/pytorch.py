"""PyTorch, or an error that says how to install it. Every module of the library that needs PyTorch imports it from here."""

from __future__ import annotations

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    raise ImportError('building and training networks needs PyTorch: pip install "manyarms[torch]"') from None

__all__ = ["F", "nn", "torch"]
