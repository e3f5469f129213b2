"""The page of a report: a single HTML file that opens offline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...html.page import page_html
from ...html.parts import fact, facts, paragraph, table, text
from ...plots import Chart
from ...plots.svg_figure import svg_figure
from ...sklearn.automl.wording import counted
from . import charts
from .findings import Findings
from .importance import missing_note

_TOP = 30  # rows of the leaderboard
_MOST_COLUMNS = 200


def report_page(findings: Findings) -> str:
    """The page as HTML. Names of columns, classes and files are escaped."""
    title = f"{findings.title}: {findings.facts.target}"
    header = f'<div class="heading"><h1>{text(title)}</h1></div>{paragraph(_summary(findings))}{_results(findings)}'
    return page_html(title, "manyarms fit", header, _sections(findings))


def _summary(findings: Findings) -> str:
    known = findings.facts
    kind = f"{len(known.classes)} classes" if known.classes is not None else "a number"
    return f"{known.task.capitalize()}: {known.target} ({kind}) from {len(known.columns)} columns, scored by {known.scoring}."


def _results(findings: Findings) -> str:
    """The most important figures."""
    known, pulls = findings.facts, findings.pulls
    held_out = known.scores.get("held out")
    results = {
        f"{known.scoring} on {known.rows.get('held out', 0):,} held-out rows": _number(held_out),
        f"cross-validated {known.scoring}": _number(known.scores.get("search")),
        "models tried": f"{pulls['arm'].nunique():,}",
        "seconds of training": f"{pulls['seconds'].sum():,.0f}",
        "models in the ensemble" if len(known.members) > 1 else "model": _members(known.members),
    }
    return facts(fact(name, text(value), "strong") for name, value in results.items())


def _members(members: list[Mapping[str, Any]]) -> str:
    return f"{len(members)}" if len(members) > 1 else str(members[0]["family"]) if members else "–"


def _sections(findings: Findings) -> Iterator[tuple[str, str, str]]:
    """The anchor, heading and content of each section."""
    known, pulls = findings.facts, findings.pulls
    colors = charts.colors_of(list(pulls.groupby("family")["seconds"].sum().sort_values(ascending=False).index))
    score = charts.score_over_time(pulls, known.scoring, colors)
    yield "search", "Score over time", _search_caption(findings) + _drawn("score-over-time", score)
    yield "leaderboard", "Leaderboard", _leaderboard(findings)
    yield "time", "Where the time went", _drawn("time-by-family", charts.time_by_family(pulls, colors))
    if findings.held_out is not None:
        yield "held-out", "Held-out rows", _held_out(findings)
    if findings.held_out is not None:
        yield "importance", "Feature importance", _importance(findings)
    yield "columns", "Columns", _columns(findings)
    if findings.notes:
        yield "notes", "Notes", f'<ul class="notes">{"".join(f"<li>{text(note)}</li>" for note in findings.notes)}</ul>'
    yield "settings", "Settings and versions", _settings(findings)


def _search_caption(findings: Findings) -> str:
    failed = int(findings.pulls["status"].eq("failed").sum())
    failures = f" {counted(failed, 'pull')} failed." if failed else ""
    return paragraph(
        "Each point is a pull: one slice of training of a model, and its cross-validated score. Larger is better; very low "
        f"scores are cut off.{failures}{_thinned(findings)}"
    )


def _thinned(findings: Findings) -> str:
    number = len(findings.pulls)
    return f" About {charts.MOST_POINTS:,} of {number:,} pulls are drawn." if number > charts.MOST_POINTS else ""


def _leaderboard(findings: Findings) -> str:
    board = findings.leaderboard
    shown = board.head(_TOP)
    heads = [
        name for name in ("rank", "family", "score", "std", "steps", "seconds", "weight", "arm", "config") if name in board
    ]
    rows = [[_cell(name, row[name], row) for name in heads] for _, row in shown.iterrows()]
    more = paragraph(f"{len(board) - len(shown):,} more are in leaderboard.csv.") if len(board) > len(shown) else ""
    caption = paragraph("Weight is the share of a model in the ensemble.")
    return caption + table(heads, rows, "Leaderboard") + more


def _cell(name: str, value: Any, row: Any) -> str:
    if name == "steps" and "max_steps" in row:
        return f"{value} of {row['max_steps']}"
    if name == "weight":
        return f"{value:.0%}" if value else ""
    if name == "config" and isinstance(value, Mapping):
        return ", ".join(f"{key.rpartition('__')[2]}={_number(item)}" for key, item in value.items())
    return f"{value:.1f}" if name == "seconds" else _number(value)


def _held_out(findings: Findings) -> str:
    known, held_out = findings.facts, findings.held_out
    assert held_out is not None
    score = known.scores.get("held out")
    caption = f"{len(held_out):,} rows that were not used in the search: {known.scoring} {_number(score)}."
    if known.classes is not None:
        others = len(known.classes) - charts.MOST_CLASSES
        more = (
            f" The {charts.MOST_CLASSES} most frequent classes are shown; the other {others:,} are grouped."
            if others > 1
            else ""
        )
        return paragraph(caption + more) + charts.confusion(held_out, known.classes)
    more = f" A random sample of {charts.MOST_POINTS:,} of them is shown." if len(held_out) > charts.MOST_POINTS else ""
    return paragraph(caption + more) + _drawn(
        "predicted-against-actual", charts.predicted_against_actual(held_out, known.target)
    )


def _importance(findings: Findings) -> str:
    importance, n_columns = findings.importance, len(findings.columns)
    notes = [missing_note(importance, n_columns)]
    if importance is None:
        return paragraph(str(notes[0]))
    notes.insert(
        0, "Permutation importance: how much the score on held-out rows drops when the values of a column are shuffled."
    )
    if len(importance) > charts.MOST_BARS:
        notes.append(f"The {charts.MOST_BARS} most important columns are shown.")
    caption = paragraph(" ".join(filter(None, notes)))
    return caption + _drawn("importance", charts.importance_of_columns(importance, findings.facts.scoring))


def _columns(findings: Findings) -> str:
    columns = findings.columns
    shown = columns.head(_MOST_COLUMNS)
    rows = [[_number(value) for value in row] for row in shown.itertuples(index=False)]
    more = paragraph(f"{len(columns) - len(shown):,} more columns.") if len(columns) > len(shown) else ""
    return table([str(name) for name in columns.columns], rows, "Columns") + more


def _settings(findings: Findings) -> str:
    found = findings.facts
    known = {
        "command": found.command,
        **found.settings,
        **{f"{name} rows": f"{number:,}" for name, number in found.rows.items()},
    }
    versions = {"Python": found.python, **found.versions}
    return f'<div class="two">{_values("Settings", known)}{_values("Versions", versions)}</div>'


def _values(label: str, values: Mapping[str, Any]) -> str:
    return table([label, ""], [[str(key), _number(value)] for key, value in values.items()], label)


def _drawn(name: str, chart: Chart) -> str:
    """A chart without a title, which is the heading of its section."""
    drawn = svg_figure(chart)
    if not drawn:
        return paragraph(chart.note or "There is nothing to draw.")
    return f'<div class="card chart" id="chart-{name}"><div class="frame">{drawn}</div></div>'


def _number(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
