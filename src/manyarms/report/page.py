"""The page of a report: the views of the dashboard, one below the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..html import format, parts
from ..html.page import page_html
from ..plots import Chart
from ..plots.svg_figure import is_wide, svg_figure
from .arms_table import arms_table
from .best_arm import best_arm
from .content import Content

_OVERVIEW = ("best-by-steps", "best-by-time", "curves", "family")
_PARAMETERS = ("importance", "contour", "slices", "parallel")
_STRATEGY = ("scores", "predictions", "posteriors", "boxes", "latest_pulls", "decisions", "algorithms", "rungs", "timeline")


def study_page(content: Content) -> str:
    """The page as HTML."""
    facts = content.facts
    return page_html(f"{facts['name']} – manyarms", facts["storage"], _header(content), _sections(content))


def _header(content: Content) -> str:
    facts = content.facts
    name = facts["name"] or "(no name)"
    read = parts.paragraph(f"Data as of {format.moment(content.written)}. {_meaning(facts)}")
    heading = f'<div class="heading"><h1>{parts.text(name)}</h1>{parts.badge(facts["state"])}</div>'
    details = [
        ("Strategy", format.plain(facts["strategy"])),
        ("Direction", format.plain(facts["direction"])),
        ("Seed", format.plain(facts["seed"])),
        ("Created", format.moment(facts["created"])),
        ("Version", format.plain(facts["manyarms"])),
    ]
    settings = [(key, format.plain(value)) for key, value in facts["settings"].items()]
    folded = parts.folded("Strategy settings", parts.pairs(settings)) if settings else ""
    return f'{heading}{read}{_facts(facts)}<div class="details">{parts.pairs(details)}{folded}</div>'


def _meaning(facts: Mapping[str, Any]) -> str:
    """What the state of the study means."""
    if facts["state"] == "running":
        return "The study was still running: run `manyarms report` again for newer results."
    if facts["state"] == "waiting" and facts["events"]:
        return "The time of the last event is unknown."
    if facts["state"] == "waiting":
        return "Nothing has been recorded yet."
    if facts["state"] == "interrupted":
        return "The budget is not spent, and no event had arrived for a while."
    limit = facts["limits"].get("steps")
    return (
        "The remaining budget is too small to fully train another arm."
        if limit and facts["steps"] < limit
        else "The budget is spent."
    )


def _facts(facts: Mapping[str, Any]) -> str:
    best = facts["recommended"]
    arm = "–" if best is None else f'<a href="#best">arm {int(best["arm"])}</a>'
    return parts.facts(
        [
            parts.fact("Best reward", format.number(facts["best_reward"]), "strong"),
            parts.fact("Recommended", arm),
            parts.fact("Spent", parts.text(_spent(facts))),
            parts.fact("Arms", format.number(facts["arms"])),
            parts.fact("Pulls", format.number(facts["pulls"])),
            parts.fact("In flight", format.number(facts["in_flight"])),
            parts.fact("Failures", format.number(facts["failures"]), "failed" if facts["failures"] else ""),
            parts.fact("Training time", format.duration(facts["seconds"])),
        ]
    )


def _spent(facts: Mapping[str, Any]) -> str:
    """How much of the budget is spent."""
    limits = facts["limits"]
    if limits.get("steps"):
        return f"{format.number(facts['steps'])} of {format.count(int(limits['steps']), 'step')}"
    if limits.get("seconds"):
        return f"{format.duration(facts['seconds'])} of {format.duration(limits['seconds'])}"
    if limits.get("cost"):
        return f"cost {format.number(facts['cost'])} of {format.number(limits['cost'])}"
    return format.count(facts["steps"], "step")


def _sections(content: Content) -> Iterator[tuple[str, str, str]]:
    """The id, the title and the HTML of each section."""
    yield "overview", "Overview", _figures(content.charts, _OVERVIEW)
    yield "best", "Recommended arm", best_arm(content)
    yield "parameters", "Parameters", _figures(content.charts, _PARAMETERS)
    yield "strategy", "Strategy", _figures(content.charts, _STRATEGY)
    yield "arms", f"Arms ({content.total:,})", arms_table(content)
    yield "failures", f"Failures ({content.failures['total']:,})", _failures(content)


def _figures(charts: Mapping[str, Chart], names: tuple[str, ...]) -> str:
    figures = "".join(
        parts.figure(name, charts[name].title, charts[name].note, svg_figure(charts[name]), is_wide(charts[name]))
        for name in names
        if name in charts
    )
    return f'<div class="charts">{figures}</div>'


def _failures(content: Content) -> str:
    failures, groups = content.failures, content.failures["groups"]
    if not failures["total"]:
        return parts.nothing("No failures", "No pull of this study has failed.")
    items = "".join(_failure(group, failures["total"]) for group in groups)
    more = failures["reasons"] - len(groups)
    rest = parts.paragraph(f"{format.count(more, 'other reason')}." if more else "")
    return f'<ul class="failures">{items}</ul>{rest}'


def _failure(group: Mapping[str, Any], total: int) -> str:
    """A reason, how often it occurred, and its newest traceback."""
    newest = ""
    if group.get("arm") is not None:
        steps = f"step {format.number(group['start'])} to {format.number(group['stop'])}"
        newest = parts.paragraph(f"Newest: arm {group['arm']}, {steps}")
    traceback = parts.folded("Traceback", parts.code(group["details"])) if group["details"] else ""
    share = f'<strong>{group["count"]:,}</strong><span class="quiet">{100 * group["count"] / total:.0f}%</span>'
    reason = parts.paragraph(group["reason"] or "(no reason)", "reason")
    return f'<li class="card failure"><div class="count">{share}</div><div>{reason}{newest}{traceback}</div></li>'
