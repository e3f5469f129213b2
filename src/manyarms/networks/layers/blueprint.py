"""How a layer's module is made, known before PyTorch is there: it can be built, and it can be written down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import nn


class Blueprint:
    """A class of modules and the arguments to make one with.

    Args:
        kind: a class of torch.nn, or its name, or a class of one's own.
        arguments: by position; plain values, so that they can be written down.
        options: by name.

    >>> str(Blueprint("Conv2d", 3, 16, 5, padding=2))
    'nn.Conv2d(3, 16, 5, padding=2)'
    """

    def __init__(self, kind: str | type[nn.Module], /, *arguments: Any, **options: Any) -> None:
        self.kind = _name_in_pytorch(kind)
        self.arguments: tuple[Any, ...] = _plain(arguments)
        self.options = {name: _plain(value) for name, value in options.items()}

    @property
    def own(self) -> type[nn.Module] | None:
        """The class, where it is not one of PyTorch."""
        return None if isinstance(self.kind, str) else self.kind

    def build(self) -> nn.Module:
        """A new module."""
        from ..torch.pytorch import nn

        make = getattr(nn, self.kind) if isinstance(self.kind, str) else self.kind
        module: nn.Module = make(*self.arguments, **self.options)
        return module

    def __str__(self) -> str:
        name = f"nn.{self.kind}" if isinstance(self.kind, str) else self.kind.__name__
        given = [*map(repr, self.arguments), *(f"{name}={value!r}" for name, value in self.options.items())]
        return f"{name}({', '.join(given)})"


def _name_in_pytorch(kind: str | type[nn.Module]) -> str | type[nn.Module]:
    """PyTorch's classes by their names, so that they are written down as such."""
    if isinstance(kind, str) or not kind.__module__.startswith("torch.nn.modules."):
        return kind
    return kind.__name__


def _plain(value: Any) -> Any:
    """A value without NumPy's numbers, which are not written down as they could be read.

    >>> import numpy as np
    >>> _plain((np.int64(3), [np.float32(0.5)], "same"))
    (3, [0.5], 'same')
    """
    if isinstance(value, (list, tuple)):
        return (tuple if isinstance(value, tuple) else list)(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value
