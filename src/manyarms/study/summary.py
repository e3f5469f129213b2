"""A study in one line, for terminals and notebooks. Fast, and never raises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from ..budget import Budget
from ..safe_text import safe_text

if TYPE_CHECKING:
    from .view import StudyView

_LONGEST = 80  # characters of a name, which may come from someone else


class Spent(Protocol):
    """What a study has spent, and its newest limits if they were changed. See `Counts`."""

    steps: int
    seconds: float
    cost: float
    budget: dict[str, Any] | None


def limits_of(header: Mapping[str, Any], counts: Spent) -> Budget | None:
    """The newest totals of a study: steps, seconds and cost; None if it has no limit."""
    totals = counts.budget
    if totals is None:
        totals = {"budget": (header["settings"] or {}).get("budget"), **(header.get("limits") or {})}
    steps, seconds, cost = (totals.get(name) for name in ("budget", "seconds", "cost"))
    return None if steps is None and seconds is None and cost is None else Budget(steps, seconds, cost)


def remaining(limits: Budget | None, counts: Spent) -> dict[str, float]:
    """What is left of each limit that is set; 0 if it is reached."""
    if limits is None:
        return {}
    totals = {"steps": limits.steps, **limits.as_json()}
    spent = {"steps": counts.steps, "seconds": counts.seconds, "cost": counts.cost}
    return {name: max(0, total - spent[name]) for name, total in totals.items() if total is not None}


def summary(study: StudyView) -> str:
    """The study and its progress, such as `Study('digits', ASHA, 120 of 500 steps, 14 arms, best 0.97 (arm 3))`."""
    strategy = str(study.header.get("strategy", "")).rpartition(".")[2][:_LONGEST]
    parts = [
        repr(study.name),
        strategy,
        *_spent(study),
        _count(len(study.counts.arms), "arm"),
        *_results(study),
        *_state(study),
    ]
    return safe_text(f"{type(study).__name__}({', '.join(parts)})")


def _spent(study: StudyView) -> Iterator[str]:
    """The steps, and other quantities that have a limit."""
    limits, counts = None, study.counts
    with suppress(Exception):  # an untrusted journal may say anything
        limits = study.limits
    steps = None if limits is None else limits.steps
    yield _count(counts.steps, "step") if steps is None else f"{counts.steps} of {_count(steps, 'step')}"
    if limits is not None and limits.seconds is not None:
        yield f"{counts.seconds:.4g} of {limits.seconds:g} s"
    if limits is not None and limits.cost is not None:
        yield f"cost {counts.cost:.4g} of {limits.cost:g}"


def _results(study: StudyView) -> Iterator[str]:
    counts = study.counts
    if not counts.pulls:
        yield "no reward yet" if not counts.failures else "no reward"
    else:
        yield _best(study)
    if counts.failures:
        yield _count(counts.failures, "failed pull")


def _best(study: StudyView) -> str:
    """The recommended arm if it is known without replaying the journal, otherwise the best reward."""
    with suppress(Exception):
        if study.knows_best:
            return f"best {study.best_reward:.5g} (arm {study.best().id})"
    sound = [record for record in study.counts.arms.values() if not record.failed]
    rewards = [record.best_reward for record in sound if record.best_reward is not None]
    if not rewards:
        return "no reward"
    is_max = study.header.get("direction") != "minimize"
    return f"{'highest' if is_max else 'lowest'} reward {(max if is_max else min)(rewards):.5g}"


def _state(study: StudyView) -> Iterator[str]:
    if study.counts.in_flight:
        yield f"{len(study.counts.in_flight)} in flight"
    if getattr(study, "interrupted", False):
        yield "interrupted"
    if study.is_closed:
        yield "closed"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
