"""Notes on what is unusual about a fitted model."""

from __future__ import annotations

from collections.abc import Sequence

from .auto_study import AutoStudy
from .columns import NOTHING
from .constant import CONSTANT
from .ensemble import Member
from .wording import listed


def notes_on(search: AutoStudy, members: Sequence[Member], columns: Sequence[str]) -> list[str]:
    """The notes on a finished search.

    Args:
        search: The search.
        members: The models of the ensemble.
        columns: The names of the columns.
    """
    notes = [] if search.ranked() else [_fallback_note(search, members[0])]
    if search.plan.rows < len(search.all_data):
        notes.append(f"The search used {search.plan.rows:,} of {len(search.all_data):,} rows, because its time is short.")
    demoted = {
        place: kinds
        for member in members
        for pipeline in member.models
        for place, kinds in getattr(pipeline[0], "demoted_", {}).items()
    }
    for outcome, dropped in (("dropped", True), ("treated as categories", False)):
        names = [columns[place] for place, (_, kind) in demoted.items() if (kind == NOTHING) == dropped]
        if names:
            notes.append(f"Columns that could not be converted were {outcome}: {listed(names)}.")
    return notes


def _fallback_note(search: AutoStudy, member: Member) -> str:
    """Why the fallback model is used."""
    counts = search.study.counts
    cause = "no pull finished in time"
    if counts.failures:
        cause = f"all {counts.failures} pulls failed, most often with: {counts.reasons.most_common(1)[0][0]}"
    if member.family == CONSTANT:
        return f"No model could be trained, so the prediction is the same for every row ({cause})."
    return f"No model could be trained in the search, so a small decision tree trained on a few rows is used ({cause})."
