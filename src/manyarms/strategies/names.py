"""Find strategies by name."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any

from .. import checks
from .protocol import Strategy

DEFAULT_STRATEGY = "AdaptiveMutantUCB"
"""The strategy of `tune` and `manyarms run` if none is given. The estimators use the same class with settings of their own."""

SHORT_NAMES = {
    "adaptive": "AdaptiveMutantUCB",
    "evolution": "SteadyStateEA",
    "halving": "SuccessiveHalving",
    "random": "RandomSearch",
}
"""Short names of some strategies."""


def strategy_classes() -> dict[str, type[Any]]:
    """The strategies whose constructors take a space and settings, by class name. This excludes `Cascade`."""
    package = importlib.import_module(__package__)
    classes = {name: getattr(package, name) for name in package.__all__}
    return {
        name: kind for name, kind in classes.items() if hasattr(kind, "plan") and "space" in inspect.signature(kind).parameters
    }


def strategy_class(name: str) -> type[Any]:
    """The strategy class with this name. Case, hyphens, underscores and spaces are ignored.

    >>> strategy_class("mutant-ucb").__name__, strategy_class("random").__name__
    ('MutantUCB', 'RandomSearch')
    """
    classes = strategy_classes()
    known = {_plain(key): kind for key, kind in classes.items()} | {key: classes[long] for key, long in SHORT_NAMES.items()}
    if _plain(name) not in known:
        shown = {_plain(key): _short(kind.__name__) for key, kind in known.items()}
        close = checks.closest(_plain(name), shown, 1)
        hint = f"; did you mean {shown[close[0]]!r}?" if close else ""
        raise ValueError(f"strategy must be one of {', '.join(sorted(set(shown.values())))}, got {name!r}{hint}")
    return known[_plain(name)]


def strategy_factory(strategy: str | Callable[..., Strategy]) -> Callable[..., Strategy]:
    """A function that makes a strategy from a space and settings. A name is converted to the class with that name."""
    if isinstance(strategy, str):
        return strategy_class(strategy)
    if not callable(strategy):
        raise TypeError(
            f"strategy must be a name such as 'asha', or a class or function that takes a space and settings, got {strategy!r}"
        )
    return strategy


def _short(name: str) -> str:
    """The short name of a class: from the table above, or its words with hyphens.

    >>> _short("RandomSearch"), _short("MutantUCB"), _short("ASHA")
    ('random', 'mutant-ucb', 'asha')
    """
    short = next((key for key, long in SHORT_NAMES.items() if long == name), name)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", short).lower()


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
