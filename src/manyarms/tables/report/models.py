"""The sections of a report on models and columns: the ensemble, the leaderboard, and the columns that were excluded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...html.parts import paragraph, table
from ...sklearn.automl.constant import CONSTANT, NO_ARM
from ...sklearn.automl.wording import counted
from .findings import Findings
from .wording import number, score_text

_TOP = 30  # rows of the leaderboard
_MOST_EXCLUDED = 200


def is_constant(findings: Findings) -> bool:
    """Whether the prediction is the same for every row."""
    return [member["family"] for member in findings.facts.members] == [CONSTANT]


def ensemble(findings: Findings) -> str:
    """The members of the ensemble, and what their weights mean."""
    members = sorted(findings.facts.members, key=lambda member: -float(member["weight"]))
    if is_constant(findings):
        return paragraph("The prediction is the same for every row, because no trained model scored better.")
    scores = findings.leaderboard.set_index("arm")["score"] if "arm" in findings.leaderboard else pd.Series(dtype=float)
    best = float(findings.leaderboard["score"].max()) if len(findings.leaderboard) else float("nan")
    whole = findings.facts.scores.get("search")
    if len(members) == 1:
        return paragraph(
            f"A single model of the family {members[0]['family']}: averaging it with others did not score better in validation."
        )
    caption = paragraph(
        f"The prediction is the weighted average of {counted(len(members), 'model')}. Models were added one at a "
        "time, always the one that improved the average most on the validation rows; the weight of a model is its share of "
        "these additions. A model with a lower score can have a large weight if its errors differ from those of the others. "
        f"The best single model reaches {score_text(best)}, the ensemble {score_text(whole)}."
    )
    rows = [
        [f"{member['weight']:.0%}", str(member["family"]), str(member["arm"]), score_text(_score(scores, member["arm"]))]
        for member in members
    ]
    return caption + table(["weight", "family", "arm", "score"], rows, "Ensemble", "plain", numbers=(0, 2, 3))


def _score(scores: pd.Series[Any], arm: Any) -> float | None:
    return float(scores[arm]) if arm in scores.index else None


def leaderboard(findings: Findings) -> str:
    """The best models that were tried."""
    board = findings.leaderboard
    shown = board.head(_TOP)
    several = "std" in board and board["std"].ne(0).any()  # with a single validation set, there is nothing to compare
    names = ("rank", "family", "score", "std", "steps", "seconds", "weight", "arm", "config")
    heads = [name for name in names if name in board and (several or name != "std")]
    rows = [[_cell(name, row[name], row) for name in heads] for _, row in shown.iterrows()]
    more = paragraph(f"{len(board) - len(shown):,} more are in leaderboard.csv.") if len(board) > len(shown) else ""
    baseline = findings.facts.scores.get("baseline")
    caption = paragraph(
        (
            "Scores on the validation rows, and their standard deviation over the folds."
            if several
            else "Scores on the validation rows."
        )
        + ("" if baseline is None else f" The baseline, a constant prediction, reaches {score_text(baseline)}.")
    )
    numeric = [place for place, name in enumerate(heads) if name not in ("family", "config")]
    return caption + table(heads, rows, "Leaderboard", numbers=numeric) + more


def _cell(name: str, value: Any, row: Any) -> str:
    if name == "steps" and "max_steps" in row:
        return f"{value} of {row['max_steps']}"
    if name == "weight":
        return f"{value:.0%}" if value else ""
    if name == "config" and isinstance(value, Mapping):
        return ", ".join(f"{key.rpartition('__')[2]}={number(item)}" for key, item in value.items())
    if name == "arm" and value == NO_ARM:
        return "–"
    if name == "score":
        return score_text(value)
    if name == "std":
        return "–" if np.isnan(value) else f"{value:.2g}"
    return f"{value:.1f}" if name == "seconds" else number(value)


def excluded(findings: Findings) -> str:
    """The columns that were not used, and why."""
    if not findings.excluded:
        return ""
    rows = [[name, reason] for name, reason in list(findings.excluded.items())[:_MOST_EXCLUDED]]
    more = len(findings.excluded) - len(rows)
    note = paragraph(f"{counted(more, 'more column')}.") if more else ""
    return "<h3>Excluded</h3>" + table(["column", "reason"], rows, "Excluded columns", "plain") + note + "<h3>Used</h3>"
