"""How much a search may spend in total, over all runs of the script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import checks


@dataclass(frozen=True, slots=True, repr=False)
class Budget:
    """Totals that end a search; the first one that is reached ends it. With larger totals, the search continues.

    Args:
        steps: Steps of training.
        seconds: Time spent in pulls, summed over all workers: a number, or text such as "8h".
        cost: Sum of the "cost" that pulls return.

    >>> Budget(seconds="2h").seconds
    7200.0
    """

    steps: int | None = None
    seconds: float | str | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        if self.steps is None and self.seconds is None and self.cost is None:
            raise ValueError("budget must give steps, seconds or cost, got none of them")
        if self.steps is not None:
            object.__setattr__(self, "steps", checks.whole("budget", self.steps, 1))
        if self.seconds is not None:
            object.__setattr__(self, "seconds", checks.seconds("budget", self.seconds))
        if self.cost is not None:
            object.__setattr__(self, "cost", checks.between("cost", self.cost, 0))

    def __repr__(self) -> str:
        limits = {"steps": self.steps, "seconds": self.seconds, "cost": self.cost}
        return f"Budget({', '.join(f'{name}={limit!r}' for name, limit in limits.items() if limit is not None)})"

    @classmethod
    def of(cls, value: int | str | Budget) -> Budget:
        """A budget from a number of steps, or from text such as "8h", which is time spent in pulls."""
        if isinstance(value, Budget):
            return value
        return cls(seconds=value) if isinstance(value, str) else cls(steps=value)

    def allows(self, seconds: float, cost: float) -> bool:
        """Whether more may be spent. Steps are not checked, because the strategy counts them."""
        return (self.seconds is None or seconds < float(self.seconds)) and (self.cost is None or cost < self.cost)

    def as_json(self) -> dict[str, Any]:
        """The limits in seconds and cost that are set. Steps are not included, because the strategy keeps them."""
        named = {"seconds": self.seconds, "cost": self.cost}
        return {name: limit for name, limit in named.items() if limit is not None}

    def beyond_steps(self) -> Budget | None:
        """The limits in seconds and cost; None if neither is set."""
        return None if self.seconds is None and self.cost is None else Budget(seconds=self.seconds, cost=self.cost)
