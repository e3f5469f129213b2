"""The page of a report: a single HTML file that opens offline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

import numpy as np

from ...sklearn.automl.wording import counted
from ...version import __version__
from . import charts
from .findings import Findings
from .importance import missing_note
from .style import STYLE

_TOP = 30  # rows of the leaderboard
_MOST_COLUMNS = 200


def report_page(findings: Findings) -> str:
    """The page as HTML. Names of columns, classes and files are escaped."""
    title = escape(f"{findings.title}: {findings.facts.target}")
    body = "\n".join(f'<section id="{id}"><h2>{head}</h2>\n{text}\n</section>' for id, head, text in _sections(findings))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{STYLE}</style>
<script>{charts.library()}</script>
</head>
<body>
<header>
<h1>{title}</h1>
<p>{escape(_summary(findings))}</p>
{_tiles(findings)}
</header>
{body}
<footer>Made by manyarms {escape(__version__)}.</footer>
</body>
</html>
"""


def _summary(findings: Findings) -> str:
    facts = findings.facts
    kind = f"{len(facts.classes)} classes" if facts.classes is not None else "a number"
    return f"{facts.task.capitalize()}: {facts.target} ({kind}) from {len(facts.columns)} columns, scored by {facts.scoring}."


def _tiles(findings: Findings) -> str:
    """The most important figures."""
    facts, pulls = findings.facts, findings.pulls
    held_out, search = facts.scores.get("held out"), facts.scores.get("search")
    tiles = {
        f"{facts.scoring} on {facts.rows.get('held out', 0):,} held-out rows": _number(held_out)
        if held_out is not None
        else "–",
        f"cross-validated {facts.scoring}": _number(search),
        "models tried": f"{pulls['arm'].nunique():,}",
        "seconds of training": f"{pulls['seconds'].sum():,.0f}",
        "models in the ensemble" if len(facts.members) > 1 else "model": _members(facts.members),
    }
    cells = "".join(f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>" for name, value in tiles.items())
    return f'<div class="tiles">{cells}</div>'


def _members(members: list[Mapping[str, Any]]) -> str:
    return f"{len(members)}" if len(members) > 1 else str(members[0]["family"]) if members else "–"


def _sections(findings: Findings) -> Iterator[tuple[str, str, str]]:
    """The anchor, heading and content of each section."""
    facts, pulls = findings.facts, findings.pulls
    colors = charts.colors_of(list(pulls.groupby("family")["seconds"].sum().sort_values(ascending=False).index))
    yield "search", "Score over time", _search_caption(findings) + charts.score_over_time(pulls, facts.scoring, colors)
    yield "leaderboard", "Leaderboard", _leaderboard(findings)
    yield "time", "Where the time went", charts.time_by_family(pulls, colors)
    if findings.held_out is not None:
        yield "held-out", "Held-out rows", _held_out(findings)
    if findings.held_out is not None:
        yield "importance", "Feature importance", _importance(findings)
    yield "columns", "Columns", _columns(findings)
    if findings.notes:
        yield "notes", "Notes", "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in findings.notes) + "</ul>"
    yield "settings", "Settings and versions", _settings(findings)


def _search_caption(findings: Findings) -> str:
    failed = int(findings.pulls["status"].eq("failed").sum())
    failures = f" {counted(failed, 'pull')} failed." if failed else ""
    return _caption(
        "Each point is a pull: one slice of training of a model, and its cross-validated score. Larger is better; very low "
        f"scores are cut off. Click a family in the legend to hide it.{failures}{_thinned(findings)}"
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
    more = _caption(f"{len(board) - len(shown):,} more are in leaderboard.csv.") if len(board) > len(shown) else ""
    caption = _caption("Weight is the share of a model in the ensemble.")
    return caption + _table(heads, rows) + more


def _cell(name: str, value: Any, row: Any) -> str:
    if name == "steps" and "max_steps" in row:
        return f"{value} of {row['max_steps']}"
    if name == "weight":
        return f"{value:.0%}" if value else ""
    if name == "config" and isinstance(value, Mapping):
        return ", ".join(f"{key.rpartition('__')[2]}={_number(item)}" for key, item in value.items())
    return f"{value:.1f}" if name == "seconds" else _number(value)


def _held_out(findings: Findings) -> str:
    facts, held_out = findings.facts, findings.held_out
    assert held_out is not None
    score = facts.scores.get("held out")
    caption = f"{len(held_out):,} rows that were not used in the search: {facts.scoring} {_number(score)}."
    if facts.classes is not None:
        others = len(facts.classes) - charts.MOST_CLASSES
        more = (
            f" The {charts.MOST_CLASSES} most frequent classes are shown; the other {others:,} are grouped."
            if others > 1
            else ""
        )
        return _caption(caption + more) + charts.confusion(held_out, facts.classes)
    more = f" A random sample of {charts.MOST_POINTS:,} of them is shown." if len(held_out) > charts.MOST_POINTS else ""
    return _caption(caption + more) + charts.predicted_against_actual(held_out, facts.target)


def _importance(findings: Findings) -> str:
    importance, n_columns = findings.importance, len(findings.columns)
    notes = [missing_note(importance, n_columns)]
    if importance is None:
        return _caption(str(notes[0]))
    notes.insert(
        0, "Permutation importance: how much the score on held-out rows drops when the values of a column are shuffled."
    )
    if len(importance) > charts.MOST_BARS:
        notes.append(f"The {charts.MOST_BARS} most important columns are shown.")
    caption = _caption(" ".join(filter(None, notes)))
    return caption + charts.importance_of_columns(importance, findings.facts.scoring)


def _columns(findings: Findings) -> str:
    columns = findings.columns
    shown = columns.head(_MOST_COLUMNS)
    rows = [[_number(value) for value in row] for row in shown.itertuples(index=False)]
    more = _caption(f"{len(columns) - len(shown):,} more columns.") if len(columns) > len(shown) else ""
    return _table([str(name) for name in columns.columns], rows) + more


def _settings(findings: Findings) -> str:
    facts = findings.facts
    known = {
        "command": facts.command,
        **facts.settings,
        **{f"{name} rows": f"{number:,}" for name, number in facts.rows.items()},
    }
    versions = {"Python": facts.python, **facts.versions}
    return '<div class="pair">' + _pairs(known) + _pairs(versions) + "</div>"


def _pairs(values: Mapping[str, Any]) -> str:
    rows = "".join(f"<tr><th>{escape(str(key))}</th><td>{escape(_number(value))}</td></tr>" for key, value in values.items())
    return f'<table class="facts">{rows}</table>'


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def _caption(text: str) -> str:
    return f"<p>{escape(text)}</p>\n"


def _number(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
