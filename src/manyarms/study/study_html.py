"""A study as HTML, for notebooks. Fast, and never raises."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..core import sign_of
from ..html.notebook import (
    bar_html,
    block_html,
    config_facts,
    facts_html,
    folded_html,
    heading_html,
    rows_html,
    shown,
    text_html,
)
from .counts import ArmRecord
from .summary import Best, best_so_far, counted, spent, spent_fraction, spent_of, state

if TYPE_CHECKING:
    from .view import StudyView

_TOP = 5  # arms in the table of the best ones
_MOST_METRICS = 10


def study_html(study: StudyView) -> str:
    """The study, its progress, the best arm with its config, and the five best arms. The journal is not replayed."""
    try:
        return block_html(*_parts(study))
    except Exception:  # a study of someone else may hold anything
        return block_html(text_html(repr(study), longest=1000))


def _parts(study: StudyView) -> Iterator[str]:
    strategy = str(study.header.get("strategy", "")).rpartition(".")[2]
    yield heading_html(type(study).__name__, study.name, strategy, *state(study))
    yield f"<div>{_bar(study)}{text_html(_counts(study), longest=1000)}</div>"
    best = best_so_far(study)
    yield facts_html([*_best(study, best), *_failures(study)])
    if best is not None:
        yield facts_html(config_facts(study.counts.arms[best.found.arm].arm.config), f"Config of arm {best.found.arm}")
    if len(study.counts.arms) > 1 and best is not None:
        yield folded_html(f"{_TOP} best arms" if len(study.counts.arms) > _TOP else "All arms", _top(study))


def _bar(study: StudyView) -> str:
    """How much of the budget is spent, if there is one: of the limit that is nearest."""
    with suppress(Exception):
        if (fraction := spent_fraction(spent_of(study.limits, study.counts))) is not None:
            return f"{bar_html(fraction)} "
    return ""


def _counts(study: StudyView) -> str:
    counts = study.counts
    parts = [*spent(study), counted(len(counts.arms), "arm"), counted(counts.pulls + counts.failures, "pull")]
    return " · ".join([*parts, f"{counts.seconds:.4g} s of training"])


def _best(study: StudyView, best: Best | None) -> Iterator[tuple[str, Any]]:
    if best is None:
        yield "best", "no reward" if study.counts.failures else "no reward yet"
        return
    found = best.found
    record = study.counts.arms[found.arm]
    mean = ", mean of its rewards" if found.by_mean else ""
    yield best.label, f"{found.reward:.6g} (arm {found.arm}, step {found.step}{mean})"
    if record.metric_names:
        named = list(record.metrics.items())
        more = ", …" if len(named) > _MOST_METRICS else ""
        yield "last metrics", ", ".join(f"{name} {shown(value)}" for name, value in named[:_MOST_METRICS]) + more


def _failures(study: StudyView) -> Iterator[tuple[str, Any]]:
    counts = study.counts
    if counts.failures:
        reason, _ = counts.reasons.most_common(1)[0]
        yield "failed", f"{counted(counts.failures, 'pull')}, most often: {reason or 'no reason given'}"


def _top(study: StudyView) -> str:
    """The arms with the best rewards."""
    sign = sign_of(study.header["direction"])

    def key(record: ArmRecord) -> tuple[bool, float]:
        return (record.best_reward is not None, sign * (record.best_reward or 0.0))

    top = heapq.nlargest(_TOP, study.counts.arms.values(), key=key)
    rows = [(record.arm.id, record.best_reward, record.best_step, record.steps, record.arm.config) for record in top]
    return rows_html(("arm", "best reward", "best step", "steps", "config"), rows)
