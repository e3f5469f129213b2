"""Implements `pull_timeout`, the time after which a runner ends a pull."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from .. import checks
from .task import Task

REMAINING = "remaining"
"""The value of `pull_timeout` that ends pulls when the search runs out of time."""


@dataclass(frozen=True, slots=True)
class PullLimit:
    """Ends a pull after `seconds`; if `remaining`, after the time that the search has left when the pull starts."""

    seconds: float = math.inf
    remaining: bool = False

    @classmethod
    def of(cls, pull_timeout: float | str | None) -> PullLimit:
        """A limit from seconds, a string such as "10m", "remaining", or None for no limit."""
        if pull_timeout == REMAINING:
            return cls(remaining=True)
        return cls() if pull_timeout is None else cls(checks.seconds("pull_timeout", pull_timeout))

    def applied(self, task: Task) -> Task:
        """The task with this limit applied."""
        limit = task.time_left if self.remaining else self.seconds
        return task if limit == math.inf else replace(task, kill_after=limit)

    @property
    def reason(self) -> str:
        """The reason that is recorded for a pull that took too long."""
        if self.remaining:
            return 'took longer than the time that was left (pull_timeout="remaining")'
        return f"took longer than pull_timeout={self.seconds:g} s"

    def __repr__(self) -> str:
        return f'"{REMAINING}"' if self.remaining else f"{self.seconds:g}"

    def __bool__(self) -> bool:
        return self != PullLimit()
