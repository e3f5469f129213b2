"""Recognizes a training function that fails with the same error in every pull."""

from __future__ import annotations

from collections.abc import Iterable

from ..core import Outcome
from .error_place import has_frames, place_of

MOST_REPEATS = 50
"""Number of pulls with the same error, and no other result, after which a search is stopped."""


class RepeatedError:
    """Counts the pulls of one call of `Study.optimize`, as long as all of them fail with the same error of the function.

    Attributes:
        first: The first outcome; None if no pull has ended.
    """

    def __init__(self) -> None:
        self.first: Outcome | None = None
        self._error: tuple[str, str] | None = None
        self._times = 0

    @property
    def is_persistent(self) -> bool:
        """Whether the first pulls all failed with the same error."""
        return self._times >= MOST_REPEATS

    def update(self, outcomes: Iterable[Outcome]) -> None:
        """Count these outcomes. The first one that differs ends the count for good."""
        for outcome in outcomes:
            if self.first is None:
                self.first, self._error = outcome, error_of(outcome)
            if self._error is None or self.is_persistent:
                return
            if error_of(outcome) != self._error:
                self._error, self._times = None, 0
                return
            self._times += 1


def error_of(outcome: Outcome) -> tuple[str, str] | None:
    """The type of the exception that the training function raised, and its place; None if the pull ended differently.

    If a long message has cut off all lines of the traceback, the reason is used as the place. Running out of memory does not
    count, because it depends on the arm. Neither does an error of the library itself, such as for a full disk.
    """
    reason = outcome.reason or ""
    if outcome.reward is not None or outcome.details is None or "out of memory" in reason.lower():
        return None
    place = place_of(outcome.details) if has_frames(outcome.details) else reason
    return None if place is None else (reason.partition(":")[0], place)
