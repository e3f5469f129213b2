"""Remember the keyword arguments of a constructor."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar


class _HasSettings(Protocol):
    settings: dict[str, Any]


Arguments = ParamSpec("Arguments")
Owner = TypeVar("Owner", bound=_HasSettings)


def remember_settings(init: Callable[Concatenate[Owner, Arguments], None]) -> Callable[Concatenate[Owner, Arguments], None]:
    """Decorate an `__init__` so that its keyword-only arguments, defaults included, are stored as `self.settings`.

    The class declares the attribute: `settings: dict[str, Any]`.

    >>> class Greedy:
    ...     settings: dict
    ...
    ...     @remember_settings
    ...     def __init__(self, space, *, budget=None, seed=None):
    ...         pass
    >>> Greedy("any space", budget=100).settings
    {'budget': 100, 'seed': None}
    """
    parameters = inspect.signature(init).parameters.values()
    defaults = {parameter.name: parameter.default for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}

    @functools.wraps(init)
    def wrapped(self: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        self.settings = {name: kwargs.get(name, default) for name, default in defaults.items()}
        init(self, *args, **kwargs)

    return wrapped
