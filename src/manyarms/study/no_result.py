"""Why a study has no result, and what to do."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from ..core import Outcome
from ..errors import ManyarmsError
from ..journal import MemoryJournal
from .error_place import place_of
from .repeated_error import MOST_REPEATS
from .summary import counted, spent
from .write_access import reading

if TYPE_CHECKING:
    from .view import StudyView


def no_result(study: StudyView) -> str:
    """Why a study without a successful pull has no result."""
    counts = study.counts
    if not counts.failures:
        return "no pull has ended yet"
    reason, times = counts.reasons.most_common(1)[0]
    error = _with_place(reason, _newest_details(study, reason))
    if counts.failures == 1:
        return f"the only pull failed: {error}"
    return f"all {counts.failures} pulls failed; most often ({counted(times, 'time')}): {error}"


def no_result_of_run(study: StudyView, repeated: Outcome | None, is_done: bool) -> str:
    """Why a run ended without a successful pull of the study, and what to do.

    Args:
        study: The study.
        repeated: The first failed pull, if the run was stopped because all of them failed with the same error.
        is_done: Whether nothing is left to do for the strategy.
    """
    is_stored = not isinstance(study.journal, MemoryJournal)
    if is_done or 0 in study.remaining.values():
        other = "another name" if is_stored else "a new study"
        return f"{no_result(study)}. The budget is spent: fix the cause, then run again with a larger budget or {other}"
    again = "run again; the search continues" if is_stored else "run again"
    if repeated is None:
        return f"{no_result(study)}. Fix the cause, then {again}"
    return (
        f"the first {MOST_REPEATS} pulls of this run failed with the same error, so the search was stopped after "
        f"{', '.join(spent(study))}: {_with_place(repeated.reason or '', repeated.details)}. Correct the function, then {again}"
    )


def _with_place(reason: str, details: str | None) -> str:
    """The reason of a failure, with the last line of the user's code in its traceback, if there is one."""
    place = None if details is None else place_of(details)
    return reason if place is None else f"{reason} ({place})"


def _newest_details(study: StudyView, reason: str) -> str | None:
    """The newest traceback of a failure with this reason; None if there is none, or if it cannot be read."""
    details = None
    with suppress(ManyarmsError), reading(study.journal):
        for event in islice(study.journal.events(), study.counts.events):
            if event.kind == "failed" and event.data.get("reason", "") == reason:
                details = event.data.get("details")
    return details
