"""How far a study is: running, waiting, interrupted or finished, and how fast it runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Literal

State = Literal["running", "waiting", "interrupted", "finished"]

_MOMENT = 5.0  # seconds; a search asks for its next pull sooner
_LEAST_PATIENCE = 60.0  # seconds
_PULLS_TO_WAIT = 3.0  # a study that was quiet for this many times its longest pull has probably ended
_WINDOW = 60.0  # seconds over which the speed is measured


def patience(in_flight: int, longest_pull: float) -> float:
    """Seconds without an event after which a study counts as interrupted. A pull in flight may take long."""
    return max(_LEAST_PATIENCE, _PULLS_TO_WAIT * longest_pull) if in_flight else _LEAST_PATIENCE


def is_spent(remaining: Mapping[str, float]) -> bool:
    """Whether a limit is reached."""
    return any(left <= 0 for left in remaining.values())


def state_of(
    events: int, in_flight: int, remaining: Mapping[str, float], whole: int, quiet: float, patience: float, is_known: bool
) -> State:
    """The state of a study. It runs if an event arrived recently. Older journals do not record times.

    Args:
        events: Number of events.
        in_flight: Number of pulls in flight.
        remaining: What is left of each limit.
        whole: Steps of a complete training. Most strategies end if fewer are left.
        quiet: Seconds since the last event, or at least since when there was none.
        patience: Seconds without an event after which the study counts as interrupted.
        is_known: Whether the time of the last event is known.

    >>> state_of(10, 2, {"steps": 50}, 5, quiet=1.0, patience=60.0, is_known=True)
    'running'
    >>> state_of(10, 2, {"steps": 50}, 5, quiet=1.0, patience=60.0, is_known=False)
    'waiting'
    """
    if events == 0:
        return "waiting"
    is_ending = is_spent(remaining) or (remaining.get("steps", whole) < whole and quiet > _MOMENT)
    if is_ending and not in_flight:
        return "finished"
    if quiet > patience:
        return "interrupted"
    return "running" if is_known else "waiting"


class Speed:
    """Steps per second over the last minute, from observations of the number of steps."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def observe(self, now: float, steps: int) -> None:
        """Record the number of steps at a time in seconds."""
        while len(self._seen) > 1 and self._seen[1][0] <= now - _WINDOW:
            self._seen.popleft()
        self._seen.append((now, steps))

    @property
    def steps_per_second(self) -> float | None:
        """The speed; None if nothing has changed."""
        if len(self._seen) < 2:
            return None
        (began, first), (ended, last) = self._seen[0], self._seen[-1]
        return (last - first) / (ended - began) if last > first and ended > began else None
