"""The search of a fitted `AutoClassifier` or `AutoRegressor` as HTML, for notebooks."""

from __future__ import annotations

from typing import Any

from ...html.notebook import block_html, facts_html, heading_html, rows_html
from .wording import counted

_TOP = 5
_HEADS = ("rank", "family", "score", "std", "steps", "weight")


def auto_html(model: Any) -> str:
    """What the search found: its scores, and the models with the largest weights; empty if the model is not fitted."""
    if not hasattr(model, "members_"):
        return ""
    board = model.leaderboard_
    facts = [counted(len(board), "model"), counted(len(model.pulls_), "pull"), *(["interrupted"] if model.interrupted_ else [])]
    scores = {
        f"score of {counted(len(model.members_), 'model')} together": model.ensemble_score_,
        "constant baseline": model.baseline_score_,
    }
    top = board.sort_values(["weight", "rank"], ascending=[False, True]).head(_TOP)
    table = rows_html(_HEADS, [[row[name] for name in _HEADS] for row in top.to_dict("records")])
    return block_html(heading_html("Search", *facts), facts_html([*scores.items(), *_notes(model)]), table)


def _notes(model: Any) -> list[tuple[str, str]]:
    return [("note", note) for note in model.notes_[:_TOP]]
