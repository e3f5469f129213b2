"""How the module of a layer is constructed. A blueprint needs no PyTorch until the module is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import nn


class Blueprint:
    """A module class and the arguments to construct it with.

    Args:
        kind: A class of torch.nn, its name, or a custom module class.
        arguments: Positional arguments. Plain values, so that they can be written as Python source.
        options: Keyword arguments.

    >>> str(Blueprint("Conv2d", 3, 16, 5, padding=2))
    'nn.Conv2d(3, 16, 5, padding=2)'
    """

    def __init__(self, kind: str | type[nn.Module], /, *arguments: Any, **options: Any) -> None:
        self.kind = _name_in_pytorch(kind)
        self.arguments: tuple[Any, ...] = _plain(arguments)
        self.options = {name: _plain(value) for name, value in options.items()}

    @property
    def custom_class(self) -> type[nn.Module] | None:
        """The module class, if it is not one of PyTorch."""
        return None if isinstance(self.kind, str) else self.kind

    def build(self) -> nn.Module:
        """A new module."""
        from ..torch.pytorch import nn

        construct = getattr(nn, self.kind) if isinstance(self.kind, str) else self.kind
        module: nn.Module = construct(*self.arguments, **self.options)
        return module

    def __str__(self) -> str:
        name = f"nn.{self.kind}" if isinstance(self.kind, str) else self.kind.__name__
        arguments = [*map(repr, self.arguments), *(f"{name}={value!r}" for name, value in self.options.items())]
        return f"{name}({', '.join(arguments)})"


def _name_in_pytorch(kind: str | type[nn.Module]) -> str | type[nn.Module]:
    """The name of a class of torch.nn; custom classes stay as they are."""
    if isinstance(kind, str) or not kind.__module__.startswith("torch.nn.modules."):
        return kind
    return kind.__name__


def _plain(value: Any) -> Any:
    """The value with NumPy numbers converted to Python numbers, whose repr is valid Python source.

    >>> import numpy as np
    >>> _plain((np.int64(3), [np.float32(0.5)], "same"))
    (3, [0.5], 'same')
    """
    if isinstance(value, (list, tuple)):
        return (tuple if isinstance(value, tuple) else list)(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value
