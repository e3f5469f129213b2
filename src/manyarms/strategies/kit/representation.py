"""How a strategy is shown in a terminal: its class, space, settings and progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...spaces import Joint, Space
from .ledger import Ledger

LONGEST = 200
"""The most characters of the line that shows a strategy."""

_LONGEST_VALUE = 40  # the most characters of one setting


def strategy_repr(strategy: Any) -> str:
    """The line for any strategy with a ledger and settings. Use it as `__repr__ = strategy_repr` in the class.

    >>> from manyarms import Float, RandomSearch, Space
    >>> strategy = RandomSearch(Space(x=Float(0, 1)), budget=20, seed=0)
    >>> strategy
    RandomSearch(Space(x=Float(0, 1)), budget=20, max_steps=1, seed=0)
    >>> strategy.tell(strategy.ask(), 0.5)
    >>> strategy
    RandomSearch(Space(x=Float(0, 1)), budget=20, max_steps=1, seed=0) at 1 of 20 steps
    """
    return one_line(type(strategy).__name__, space_texts(strategy.ledger.space), strategy.settings, strategy.ledger)


def one_line(name: str, subjects: Sequence[str], settings: Mapping[str, Any], ledger: Ledger) -> str:
    """The line, with the longest of the `subjects` that fits: the first argument in ever shorter forms.

    Settings that are None are left out.
    """
    given = "".join(f", {key}={_shown(value)}" for key, value in settings.items() if value is not None)
    lines = [f"{name}({subject}{given}){_progress(ledger)}" for subject in subjects]
    return _cut(next((line for line in lines if len(line) <= LONGEST), lines[-1]), LONGEST)


def space_texts(space: Any) -> list[str]:
    """A space in ever shorter forms: in full, the names of its parameters, their number."""
    texts = [" ".join(repr(space).split())]
    if isinstance(space, (Space, Joint)):
        names = list(space.parameters if isinstance(space, Space) else space.spaces)
        kind = type(space).__name__
        texts += [f"{kind}({', '.join(names)})", f"{kind} of {len(names)}"]
    return [*texts, _cut(texts[-1], _LONGEST_VALUE)]


def _progress(ledger: Ledger) -> str:
    if not ledger.spent:
        return ""
    return f" at {ledger.spent} steps" if ledger.budget is None else f" at {ledger.spent} of {ledger.budget} steps"


def _shown(value: Any) -> str:
    text = getattr(value, "__qualname__", None) if callable(value) else None  # the name of a function, without its address
    return _cut(" ".join((text or repr(value)).split()), _LONGEST_VALUE)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
