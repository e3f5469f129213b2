"""The page of a report: a single HTML file that opens offline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...html.page import page_html
from ...html.parts import fact, facts, paragraph, table, text
from ...sklearn.automl.wording import counted
from . import charts
from .findings import Findings
from .held_out import held_out_sections, hints
from .importance import missing_note
from .models import ensemble, excluded, is_constant, leaderboard
from .wording import drawn, figures, number, score_text

_MOST_COLUMNS = 200


def report_page(findings: Findings) -> str:
    """The page as HTML. Names of columns, classes and files are escaped."""
    title = f"{findings.title}: {findings.facts.target}"
    top = paragraph(_summary(findings)) + _results(findings) + hints(findings)
    header = f'<div class="heading"><h1>{text(title)}</h1></div>{top}'
    return page_html(title, "manyarms fit", header, _sections(findings))


def _summary(findings: Findings) -> str:
    known = findings.facts
    kind = f"{len(known.classes)} classes" if known.classes is not None else "a number"
    columns = counted(len(known.columns), "column")
    return f"{known.task.capitalize()}: {known.target} ({kind}) from {columns}, scored by {known.scoring}."


def _results(findings: Findings) -> str:
    """The most important figures, each score with that of the baseline."""
    known, pulls = findings.facts, findings.pulls
    rows = known.rows.get("held out", 0)
    results = []
    if rows:
        score = known.scores.get("held out")
        results.append(_scored(f"{known.scoring} on {rows:,} held-out rows", score, known.scores.get("held-out baseline")))
    results.append(_scored(f"{known.scoring} in validation", known.scores.get("search"), known.scores.get("baseline")))
    others = {
        "models tried": f"{pulls['arm'].nunique():,}",
        "seconds of training": f"{pulls['seconds'].sum():,.0f}",
        "models in the ensemble" if len(known.members) > 1 else "model": _members(known.members),
    }
    return facts([*results, *(fact(name, text(value), "strong") for name, value in others.items())])


def _scored(label: str, score: float | None, baseline: float | None) -> str:
    aside = "" if baseline is None else f' <span class="aside">baseline {text(score_text(baseline))}</span>'
    return fact(label, text(score_text(score)) + aside, "strong")


def _members(members: list[Mapping[str, Any]]) -> str:
    return f"{len(members)}" if len(members) > 1 else str(members[0]["family"]) if members else "–"


def _sections(findings: Findings) -> Iterator[tuple[str, str, str]]:
    """The anchor, heading and content of each section: first what the model can do, then how it was found."""
    known, pulls = findings.facts, findings.pulls
    colors = charts.colors_of(list(pulls.groupby("family")["seconds"].sum().sort_values(ascending=False).index))
    yield from held_out_sections(findings)
    if findings.held_out is not None and not is_constant(findings):
        yield "importance", "Feature importance", _importance(findings)
    yield "ensemble", "Ensemble" if len(known.members) > 1 else "Model", ensemble(findings)
    yield "leaderboard", "Leaderboard", leaderboard(findings)
    score = charts.score_over_time(pulls, known.scoring, colors, known.scores.get("baseline"))
    spent = charts.time_by_family(pulls, colors)
    drawings = [
        ("score-over-time", "Score over time", score.note or _search_caption(findings), score),
        ("time-by-family", "Where the time went", "", spent),
    ]
    yield "search", "Search", figures(drawings, "")
    yield "columns", "Columns", excluded(findings) + _columns(findings)
    if findings.notes:
        yield "notes", "Notes", f'<ul class="notes">{"".join(f"<li>{text(note)}</li>" for note in findings.notes)}</ul>'
    yield "settings", "Settings and versions", _settings(findings)


def _search_caption(findings: Findings) -> str:
    failed = int(findings.pulls["status"].eq("failed").sum())
    failures = f" {counted(failed, 'pull')} failed." if failed else ""
    return (
        "Each point is a pull: one slice of training of a model, and its score on the validation rows. Larger is better; very "
        f"low scores are cut off.{failures}{_thinned(findings)}"
    )


def _thinned(findings: Findings) -> str:
    number = len(findings.pulls)
    return f" About {charts.MOST_POINTS:,} of {number:,} pulls are drawn." if number > charts.MOST_POINTS else ""


def _importance(findings: Findings) -> str:
    importance, n_columns = findings.importance, len(findings.columns)
    notes = [missing_note(importance, n_columns)]
    if importance is None:
        return paragraph(str(notes[0]))
    notes.insert(
        0,
        f"Permutation importance: how much the {findings.facts.scoring} on held-out rows drops when the values of a column are "
        "shuffled. The lines show one standard deviation over the shuffles. A bar near 0 means that the model does not need "
        "the column, perhaps because another column holds the same information.",
    )
    if len(importance) > charts.MOST_BARS:
        notes.append(f"The {charts.MOST_BARS} most important columns are shown.")
    caption = paragraph(" ".join(filter(None, notes)))
    return caption + drawn("importance", charts.importance_of_columns(importance, findings.facts.scoring))


def _columns(findings: Findings) -> str:
    columns = findings.columns
    shown = columns.head(_MOST_COLUMNS)
    rows = [[number(value) for value in row] for row in shown.itertuples(index=False)]
    more = paragraph(f"{len(columns) - len(shown):,} more columns.") if len(columns) > len(shown) else ""
    numeric = [place for place, name in enumerate(columns.columns) if str(name).startswith(("missing", "distinct"))]
    return table([str(name) for name in columns.columns], rows, "Columns", numbers=numeric) + more


def _settings(findings: Findings) -> str:
    found = findings.facts
    known = {
        **({"command": found.command} if found.command else {}),
        **found.settings,
        **{f"{name} rows": f"{number:,}" for name, number in found.rows.items()},
    }
    versions = {"Python": found.python, **found.versions}
    return f'<div class="two">{_values("Settings", known)}{_values("Versions", versions)}</div>'


def _values(label: str, values: Mapping[str, Any]) -> str:
    return table([label, ""], [[str(key), number(value)] for key, value in values.items()], label)
