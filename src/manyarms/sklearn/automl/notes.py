"""Notes on anything unusual about a fitted model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from .auto_study import AutoStudy
from .column_kinds import NOTHING, NUMBER, are_written_numbers
from .constant import CONSTANT
from .conversions import numbers
from .ensemble import Member
from .family_choice import dense_only
from .final_model import FinalModel
from .number_formats import NumberFormat, unmarked
from .plan import Columns
from .wording import listed, shown_number


def notes_on(search: AutoStudy, final: FinalModel, columns: Sequence[str]) -> list[str]:
    """The notes on a finished search.

    Args:
        search: The search.
        final: Its final model.
        columns: The names of the columns.
    """
    notes = [] if search.ranked() else [_fallback_note(search, final.members[0])]
    if final.rejected_score is not None:
        notes.append(
            f"No model reached the score of the constant baseline ({final.rejected_score:.4g} against {final.score:.4g} on the "
            "validation rows), so the prediction is the same for every row."
        )
    if final.exceeds_limits:
        notes.append(
            "Every model exceeds max_predict_ms or max_model_mb, so the one that exceeds them least is used. Set higher limits."
        )
    elif final.best_beyond_limits is not None:
        notes.append(
            "A better model exceeds max_predict_ms or max_model_mb: it scores "
            f"{final.best_beyond_limits:.4g} on the validation rows, and the model that is used {final.score:.4g}."
        )
    if search.plan.rows < len(search.all_data):
        notes.append(f"The search used {search.plan.rows:,} of {len(search.all_data):,} rows, because the time was short.")
    if search.columns.sparse and (left_out := dense_only(search.settings.families, search.target.n_classes)):
        notes.append(
            f"X is sparse, so families that need a dense table were not used: {listed(left_out, quoted=False)}. "
            "If X.toarray() fits into memory, pass that to use them."
        )
    demoted = {
        place: kinds
        for member in final.members
        for pipeline in member.models
        for place, kinds in getattr(pipeline[0], "demoted_", {}).items()
    }
    for outcome, dropped in (("dropped", True), ("treated as categories", False)):
        names = [columns[place] for place, (_, kind) in demoted.items() if (kind == NOTHING) == dropped]
        if names:
            notes.append(f"Columns that could not be converted were {outcome}: {listed(names)}.")
    return notes


def leak_notes(excluded: Mapping[Any, str]) -> list[str]:
    """A note for each column that was excluded as a leak."""
    return [
        f"Excluded the column {name!r}: {reason}, so it is probably a leak. Set exclude_leaks=False to use it."
        for name, reason in excluded.items()
    ]


def number_notes(table: pd.DataFrame, known: Columns, columns: Sequence[str]) -> list[str]:
    """A note on columns of text that are converted to numbers, such as "$1,747"."""
    written = [place for place, kind in enumerate(known.kinds) if kind == NUMBER and are_written_numbers(table.iloc[:, place])]
    if not written:
        return []
    examples = [
        f"{columns[place]!r} (such as {_example(table.iloc[:, place].dropna(), known.formats[place])})" for place in written
    ]
    return [f"Columns of formatted numbers were converted to numbers: {listed(examples, quoted=False)}."]


def _example(values: pd.Series, format: NumberFormat) -> str:
    """The first value, and the number it was converted to."""
    return f"{unmarked(str(values.iloc[0]))!r}, read as {shown_number(numbers(values.head(1), format)[0])}"


def _fallback_note(search: AutoStudy, member: Member) -> str:
    """Why the fallback model is used."""
    counts = search.study.counts
    cause = "no pull finished in time"
    if counts.failures:
        failed = "the only pull failed" if counts.failures == 1 else f"all {counts.failures} pulls failed, most often"
        cause = f"{failed} with: {counts.reasons.most_common(1)[0][0]}"
    if member.family == CONSTANT:
        return f"No model could be trained, so the prediction is the same for every row ({cause})."
    return f"No model could be trained in the search, so a small decision tree trained on a few rows is used ({cause})."
