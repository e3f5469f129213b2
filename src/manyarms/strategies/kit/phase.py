"""A part of a strategy's plan."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of what a strategy will do: at most `arms` new arms and `steps` steps; None if that is not known in advance."""

    name: str
    arms: int | None
    steps: int | None
