"""What is unusual about a model that was found, in a line each."""

from __future__ import annotations

from collections.abc import Sequence

from .auto_study import Contest
from .columns import NOTHING
from .constant import CONSTANT
from .ensemble import Member
from .wording import listed


def notes_on(contest: Contest, members: Sequence[Member], columns: Sequence[str]) -> list[str]:
    """What to say of a search that has ended.

    Args:
        contest: The search.
        members: The models that were chosen.
        columns: The names of the table's columns.
    """
    notes = [] if contest.ranked() else [_standing_in(contest, members[0])]
    if contest.plan.rows < len(contest.everything):
        notes.append(f"the search used {contest.plan.rows:,} of {len(contest.everything):,} rows, as many as suit its time")
    demoted = {
        place: kinds
        for member in members
        for pipeline in member.models
        for place, kinds in getattr(pipeline[0], "demoted_", {}).items()
    }
    for outcome, shown in (("left out", True), ("taken as categories", False)):
        names = [columns[place] for place, (_, kind) in demoted.items() if (kind == NOTHING) == shown]
        if names:
            notes.append(f"columns that could not be converted were {outcome}: {listed(names)}")
    return notes


def _standing_in(contest: Contest, member: Member) -> str:
    """Why the model is none of the search's."""
    counts = contest.study.counts
    cause = "no pull ended in time"
    if counts.failures:
        cause = f"all {counts.failures} pulls failed, most often: {counts.reasons.most_common(1)[0][0]}"
    if member.family == CONSTANT:
        return f"no model could be trained, so the prediction is the same for every row ({cause})"
    return f"no model could be trained in the search, so a small tree of a few rows stands in ({cause})"
