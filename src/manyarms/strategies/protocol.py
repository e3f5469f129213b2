"""The strategy protocol, and the optional attributes that let a study do more."""

from __future__ import annotations

from typing import Any, Protocol, cast

from ..core import Arm, Pull
from .kit.ledger import Ledger, State
from .kit.phase import Phase


class Strategy(Protocol):
    """Chooses which arms to pull, from the rewards so far. Larger rewards are better.

    Many pulls may be in flight, and their rewards may be told in any order. An `ask` that returns None changes nothing.
    """

    def ask(self) -> Pull | None:
        """The next pull to start. None means that it must wait for a reward or, with nothing in flight, that it is done."""

    def tell(self, pull: Pull, reward: float | None) -> None:
        """Learn the reward of a pull, a finite number; None means that the pull failed. A repeated result changes nothing."""

    def best(self) -> Arm:
        """The arm to recommend now. Raises `NoResult` if no pull has succeeded."""


class ExtendedStrategy(Strategy, Protocol):
    """What the built-in strategies offer beyond the three methods.

    A strategy whose constructor takes more than a space and its settings also has a method `fresh_copy(**changes)`. A strategy
    that may treat rewards as repeated measurements of one value also has `uses_mean(arm)`. If a strategy has
    `learn_seconds(pull, seconds)`, that method is called before each `tell` in a study whose budget is a time. `study.plot` can
    show what a strategy has learned if it has `scores()`, `predictions()`, `posteriors()` or `boxes()`, which return records
    of `strategies.kit` or None.

    Attributes:
        ledger: Its space, seed, budget and counts. Setting `ledger.budget` changes the total number of steps.
        settings: The keyword arguments as given, from which `fresh_copy` recreates the strategy.
    """

    ledger: Ledger
    settings: dict[str, Any]

    def priority(self, arm: int) -> float:
        """How likely the arm is to be pulled again, on any scale. Checkpoints of arms with low priority are deleted first."""

    def plan(self) -> list[Phase]:
        """How the budget will be spent."""

    def warning(self) -> str | None:
        """A warning about the search for the user; None if there is none."""

    def state(self) -> State:
        """The complete state, including the random generator."""

    def load(self, state: State) -> None:
        """Restore a state that a strategy with the same arguments returned."""


def fresh_copy(strategy: ExtendedStrategy, **changes: Any) -> ExtendedStrategy:
    """A new strategy with the same space and settings, except for the changes. The pulls of the original are not copied.

    >>> from manyarms import Float, RandomSearch, Space
    >>> fresh_copy(RandomSearch(Space(x=Float(0, 1)), budget=20, seed=0), seed=1)
    RandomSearch(Space(x=Float(0, 1)), budget=20, max_steps=1, seed=1)
    """
    if hasattr(strategy, "fresh_copy"):  # its constructor takes more than a space and settings
        return cast(ExtendedStrategy, strategy.fresh_copy(**changes))
    make: Any = type(strategy)
    return cast(ExtendedStrategy, make(strategy.ledger.space, **{**strategy.settings, **changes}))


def uses_mean(strategy: Strategy, arm: int) -> bool:
    """Whether an arm is judged by the mean of its rewards, because they are repeated measurements of one value.

    False if the strategy has no `uses_mean`: rewards are then points of a learning curve, and the best one counts.
    """
    method = getattr(strategy, "uses_mean", None)
    return bool(method(arm)) if method is not None else False


def is_built_in(part: Any) -> bool:
    """Whether a strategy or picker is part of the library rather than the user's own."""
    return type(part).__module__.startswith(f"{__package__}.")


def kind_of(part: Any) -> str:
    """The name of the class of a strategy or picker, with its module if it is not part of the library."""
    kind = type(part)
    return kind.__name__ if is_built_in(part) else f"{kind.__module__}.{kind.__qualname__}"


def extended(strategy: Strategy) -> ExtendedStrategy | None:
    """The strategy as an `ExtendedStrategy`; None if it lacks one of the attributes."""
    names = ("ledger", "settings", "priority", "plan", "warning", "state", "load")
    return cast(ExtendedStrategy, strategy) if all(hasattr(strategy, name) for name in names) else None
