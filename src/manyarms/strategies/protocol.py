"""What a strategy is, and what else it may offer to the study that runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, cast

from ..core import Arm, Pull
from .kit.ledger import Ledger, State


class Strategy(Protocol):
    """Chooses which arms to pull, from the rewards seen so far; larger is better.

    Many pulls may be in flight and are told in any order. An `ask` that gives None changes nothing.
    """

    def ask(self) -> Pull | None:
        """The next pull to start; None while it must wait for a reward, or is done."""

    def tell(self, pull: Pull, reward: float | None) -> None:
        """Learn the reward of a pull, a finite number; None means the pull failed. Told twice, it changes nothing."""

    def best(self) -> Arm:
        """The arm it would recommend now; `NoResult` if no pull has succeeded."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of what a strategy will do: at most `arms` new arms and `steps` steps; None where that is open."""

    name: str
    arms: int | None
    steps: int | None


class ExtendedStrategy(Strategy, Protocol):
    """What the library's own strategies offer beyond the three methods.

    One that is not made of a space and its settings alone also has `restart(**changed)`, which does what the function does.
    One that takes rewards for repeated measurements of one value also has `uses_mean(arm)`.

    Attributes:
        ledger: its space, seed, budget and counts. Setting `ledger.budget` makes it go on to another total.
        settings: the keyword arguments as they were given, so that the same strategy can be made again.
    """

    ledger: Ledger
    settings: dict[str, Any]

    def priority(self, arm: int) -> float:
        """How likely the arm is to be pulled again, on any scale: who keeps a checkpoint when disk is short."""

    def plan(self) -> list[Phase]:
        """What will be spent where."""

    def warning(self) -> str | None:
        """What the user should know about how the search goes."""

    def state(self) -> State:
        """All it knows, its generator included."""

    def load(self, state: State) -> None:
        """Be in the state that another strategy with the same arguments gave."""


def fresh_copy(strategy: ExtendedStrategy, **changes: Any) -> ExtendedStrategy:
    """A new strategy with the same arguments, some of them changed, which has not been asked for anything yet.

    A strategy that is not made from a space and its settings alone has a method `fresh_copy(**changes)` for this.
    """
    if (own := getattr(strategy, "fresh_copy", None)) is not None:
        return cast(ExtendedStrategy, own(**changes))
    return type(strategy)(strategy.ledger.space, **{**strategy.settings, **changes})  # type: ignore[call-arg]


def restart(strategy: ExtendedStrategy, **changed: Any) -> None:
    """Put a strategy back to its beginning, with some settings changed."""
    if hasattr(strategy, "restart"):  # it is made of more than a space and settings
        strategy.restart(**changed)
        return
    type(strategy).__init__(strategy, strategy.ledger.space, **{**strategy.settings, **changed})  # type: ignore[call-arg]


def uses_mean(strategy: Strategy, arm: int) -> bool:
    """Whether the arm is worth the mean of its rewards, which are repeated measurements of one value, and not the best one.

    False where the strategy does not say: rewards are then points of a learning curve.
    """
    says = getattr(strategy, "uses_mean", None)
    return bool(says(arm)) if says is not None else False


def is_built_in(part: Any) -> bool:
    """Whether a strategy or picker is one of the library's, and not the user's own."""
    return type(part).__module__.startswith(f"{__package__}.")


def kind_of(part: Any) -> str:
    """The name of the class of a strategy or picker, in full where it is not one of the library's."""
    kind = type(part)
    return kind.__name__ if is_built_in(part) else f"{kind.__module__}.{kind.__qualname__}"


def extended(strategy: Strategy) -> ExtendedStrategy | None:
    """The strategy as a `ExtendedStrategy` one; None if it has only ask, tell and best."""
    names = ("ledger", "settings", "priority", "plan", "warning", "state", "load")
    return cast(ExtendedStrategy, strategy) if all(hasattr(strategy, name) for name in names) else None
