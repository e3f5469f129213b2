"""A one-line summary of a study, for terminals and notebooks. Fast, and never raises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..budget import Budget
from ..safe_text import safe_text
from .recommendation import Recommendation, recommended

if TYPE_CHECKING:
    from .view import StudyView

_LONGEST = 80  # characters of a name, which may come from someone else


class Spent(Protocol):
    """What a study has spent."""

    @property
    def steps(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def cost(self) -> float: ...


def limits_of(header: Mapping[str, Any], changed: Mapping[str, Any] | None) -> Budget | None:
    """The newest totals of a study: steps, seconds and cost; None if it has no limit.

    Args:
        header: The header of the study.
        changed: The limits that replaced those in the header, if they were changed after the study was created.
    """
    totals = changed
    if totals is None:
        totals = {"budget": (header["settings"] or {}).get("budget"), **(header.get("limits") or {})}
    steps, seconds, cost = (totals.get(name) for name in ("budget", "seconds", "cost"))
    return None if steps is None and seconds is None and cost is None else Budget(steps, seconds, cost)


def remaining(limits: Budget | None, counts: Spent) -> dict[str, float]:
    """What is left of each limit that is set; 0 if it is reached."""
    return {name: max(0, total - done) for name, (done, total) in spent_of(limits, counts).items()}


def spent_fraction(spent: Mapping[str, tuple[float, float]]) -> float | None:
    """The share of the budget that is spent, for the limit that is closest to being reached; None without a limit.

    >>> spent_fraction({"steps": (5, 20), "seconds": (3.0, 6.0)}), spent_fraction({})
    (0.5, None)
    """
    return max((done / total if total else 1.0 for done, total in spent.values()), default=None)


def spent_of(limits: Budget | None, counts: Spent) -> dict[str, tuple[float, float]]:
    """What is spent of each limit that is set, and the limit: of "steps", "seconds" and "cost"."""
    if limits is None:
        return {}
    totals = {"steps": limits.steps, **limits.as_json()}
    return {name: (getattr(counts, name), total) for name, total in totals.items() if total is not None}


def summary(study: StudyView) -> str:
    """The study and its progress, such as `Study('digits', ASHA, 120 of 500 steps, 14 arms, best 0.97 (arm 3))`."""
    strategy = str(study.header.get("strategy", "")).rpartition(".")[2][:_LONGEST]
    parts = [
        repr(study.name),
        strategy,
        *spent(study),
        counted(len(study.counts.arms), "arm"),
        *_results(study),
        *state(study),
    ]
    return safe_text(f"{type(study).__name__}({', '.join(parts)})")


def spent(study: StudyView) -> Iterator[str]:
    """The steps, and other quantities that have a limit."""
    limits, counts = None, study.counts
    with suppress(Exception):  # an untrusted journal may say anything
        limits = study.limits
    steps = None if limits is None else limits.steps
    yield counted(counts.steps, "step") if steps is None else f"{counts.steps} of {counted(steps, 'step')}"
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
        yield counted(counts.failures, "failed pull")


def _best(study: StudyView) -> str:
    best = best_so_far(study)
    if best is None:
        return "no reward"
    return f"{best.label} {best.found.reward:.5g}{f' (arm {best.found.arm})' if best.is_recommended else ''}"


class Best(NamedTuple):
    """The best arm so far: the recommended one, or the one with the best reward."""

    found: Recommendation
    label: str
    is_recommended: bool


def best_so_far(study: StudyView) -> Best | None:
    """The recommended arm if it is known without replaying the journal, otherwise the one with the best reward; or None."""
    with suppress(Exception):  # `best` of a strategy may be user code
        if (known := study.known_recommendation()) is not None:
            return Best(known, "best", True)
    sound = [record for record in study.counts.arms.values() if not record.failed and record.best_reward is not None]
    if not sound:
        return None
    is_max = study.header.get("direction") != "minimize"
    best = (max if is_max else min)(sound, key=lambda record: record.best_reward or 0.0)
    return Best(recommended(best, by_mean=False), "highest reward" if is_max else "lowest reward", False)


def state(study: StudyView) -> Iterator[str]:
    """Whether the study is running, interrupted or closed."""
    if study.counts.in_flight:
        yield f"{len(study.counts.in_flight)} in flight"
    if getattr(study, "interrupted", False):
        yield "interrupted"
    if study.is_closed:
        yield "closed"


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "arm"), counted(2, "arm")
    ('1 arm', '2 arms')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
