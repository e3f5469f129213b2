"""How far a search is, as a few lines of text that fit any width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from ..safe_text import safe_text
from .summary import counted, spent_fraction

_BAR = 30  # maximum width of the bar
_NARROW_BAR = 8  # a narrower one is omitted
_SEPARATOR = " · "
MOST_TRAINING = 8
"""Maximum number of pulls in flight that are named."""


@dataclass(frozen=True, slots=True)
class BestFound:
    """The best arm so far, and when it was found.

    Attributes:
        label: "best", or what it is instead, such as "highest reward".
        reward: Its reward.
        arm: Its id.
        step: The step at which it was best.
        after: Steps that the study had spent when it was found; None if unknown.
        seconds_ago: How long ago it was found; None if that was before this run.
    """

    label: str
    reward: float
    arm: int
    step: int
    after: int | None
    seconds_ago: float | None


class InFlight(NamedTuple):
    """A pull that is running."""

    arm: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Report:
    """How far a search is.

    Attributes:
        name: Name of the study.
        steps: Steps that are spent.
        limits: What is spent of each limit, and the limit: "steps", "seconds" and "cost".
        arms: Number of arms.
        best: The best arm; None if there is no reward yet.
        training: The pulls in flight, or the first of them.
        in_flight: Number of pulls in flight.
        failures: Number of failed pulls.
        reason: The most frequent reason of failures; None if no pull failed.
        pulls_per_second: Pulls that end per second; None if unknown.
        seconds_left: Estimated time until the end; None if unknown.
        took: Seconds that the search took; None until it ends.
    """

    name: str
    steps: int
    limits: Mapping[str, tuple[float, float]]
    arms: int
    best: BestFound | None
    training: Sequence[InFlight]
    in_flight: int
    failures: int
    reason: str | None
    pulls_per_second: float | None
    seconds_left: float | None
    took: float | None = None

    @property
    def fraction(self) -> float | None:
        """The share of the budget that is spent, for the limit that is closest to being reached; None without a limit."""
        return spent_fraction(self.limits)


class Head(NamedTuple):
    """The first line: a name, a bar of this width if it is not 0, and text."""

    name: str
    bar: int
    text: str


def head(report: Report, width: int) -> Head:
    """The first line of a report, at most `width` columns wide: the name, a bar, what is spent, and the time left."""
    name = cropped(safe_text(report.name), max(width // 3, 1))
    room = width - cell_len(name) - 1
    text = fitted(_spent(report), room)
    bar = min(_BAR, room - cell_len(text) - 1)
    return Head(name, bar if report.fraction is not None and bar >= _NARROW_BAR else 0, text)


def lines(report: Report, width: int) -> list[str]:
    """The lines of a report after the first: the best arm, what is training, and failures if there are any."""
    failed = f"{report.failures} failed, most often: {safe_text(report.reason or 'no reason given')}"
    found = [fitted(_best(report.best), width), _activity(report, width)]
    return found + ([cropped(failed, width)] if report.failures else [])


def one_line(report: Report, width: int | None = None) -> str:
    """The report as one line, which fits into the width if one is given."""
    failed = [f"{report.failures} failed"] if report.failures else []
    parts = [*_spent(report), *_best(report.best)[:1], counted(report.arms, "arm"), *_rate(report), *failed]
    name = safe_text(report.name)
    if width is None:
        return f"{name}: {_SEPARATOR.join(parts)}"
    return fitted([f"{cropped(name, max(width // 3, 1))}: {parts[0]}", *parts[1:]], width)


def fitted(parts: Sequence[str], width: int) -> str:
    """The first parts that fit into the width together. The first one is cropped if it does not fit alone.

    >>> fitted(["best 0.5", "12s ago", "arm 3"], 20), fitted(["best 0.5", "arm 3"], 5)
    ('best 0.5 · 12s ago', 'best…')
    """
    text = cropped(parts[0], width)
    for part in parts[1:]:
        longer = f"{text}{_SEPARATOR}{part}"
        if cell_len(longer) > width:
            break
        text = longer
    return text


def cropped(text: str, width: int) -> str:
    """The text, cut to this number of columns."""
    if cell_len(text) <= width:
        return text
    return "" if width < 1 else f"{set_cell_size(text, width - 1)}…"


def duration(seconds: float) -> str:
    """A duration in its two largest units.

    >>> duration(7.6), duration(125), duration(3 * 3600 + 300), duration(2 * 86400 + 3600)
    ('8s', '2m 05s', '3h 05m', '2d 1h')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours}h {minutes:02d}m" if hours < 24 else f"{hours // 24}d {hours % 24}h"


def rate(pulls_per_second: float) -> str:
    """Pulls per second, minute or hour.

    >>> rate(1234.5), rate(3.21), rate(0.2), rate(0.001)
    ('1234 pulls/s', '3.2 pulls/s', '12.0 pulls/min', '3.6 pulls/h')
    """
    if pulls_per_second >= 100:
        return f"{pulls_per_second:.0f} pulls/s"
    if pulls_per_second >= 1:
        return f"{pulls_per_second:.1f} pulls/s"
    per_minute = 60 * pulls_per_second
    return f"{per_minute:.1f} pulls/min" if per_minute >= 1 else f"{60 * per_minute:.1f} pulls/h"


def seconds_left(
    elapsed: float, spent: Mapping[str, float], remaining: Mapping[str, float], timeout: float | None = None
) -> float | None:
    """Estimated time until the first limit is reached, at the pace so far; None if that is unknown.

    Args:
        elapsed: Seconds since the pace is measured.
        spent: What was spent of each limit in that time.
        remaining: What remains of each limit.
        timeout: Seconds after which the search ends in any case, counted from the same start.

    >>> seconds_left(10.0, {"steps": 5}, {"steps": 60}), seconds_left(10.0, {"steps": 5}, {"steps": 60}, timeout=30.0)
    (120.0, 20.0)
    """
    estimates = [elapsed * left / spent[name] for name, left in remaining.items() if spent.get(name, 0) > 0]
    if timeout is not None:
        estimates.append(timeout - elapsed)
    return max(0.0, min(estimates)) if estimates else None


def _spent(report: Report) -> list[str]:
    steps = report.limits.get("steps")
    texts = [counted(report.steps, "step") if steps is None else f"{steps[0]:.0f}/{steps[1]:.0f} steps"]
    if (seconds := report.limits.get("seconds")) is not None:
        texts.append(f"{duration(seconds[0])}/{duration(seconds[1])} of training")
    if (cost := report.limits.get("cost")) is not None:
        texts.append(f"cost {cost[0]:.4g}/{cost[1]:.4g}")
    if report.took is not None:
        return [*texts, f"took {duration(report.took)}"]
    return [*texts, f"{duration(report.seconds_left)} left"] if report.seconds_left else texts


def _best(best: BestFound | None) -> list[str]:
    if best is None:
        return ["no reward yet"]
    ago = [] if best.seconds_ago is None else [f"{duration(best.seconds_ago)} ago"]
    after = [] if best.after is None else [f"after {counted(best.after, 'step')}"]
    return [f"{best.label} {best.reward:.5g}", *(ago + after or ["from an earlier run"]), f"arm {best.arm}, step {best.step}"]


def _activity(report: Report, width: int) -> str:
    """The number of arms, the pace, and what is training."""
    text = fitted([counted(report.arms, "arm"), *_rate(report)], width)
    room = width - cell_len(text) - len(_SEPARATOR)
    training = _training(report, room)
    return f"{text}{_SEPARATOR}{training}" if training else text


def _rate(report: Report) -> list[str]:
    return [rate(report.pulls_per_second)] if report.pulls_per_second else []


def _training(report: Report, width: int) -> str:
    """The pulls in flight, or as many as fit and the number of the others."""
    if not report.in_flight:
        return ""
    pulls = [_pull(*pull) for pull in report.training[:MOST_TRAINING]]
    for shown in range(len(pulls), 0, -1):
        more = report.in_flight - shown
        text = f"training {', '.join([*pulls[:shown], *([f'{more} more'] if more else [])])}"
        if cell_len(text) <= width:
            return text
    return cropped(f"{report.in_flight} training", width)


def _pull(arm: int, start: int, stop: int) -> str:
    return f"arm {arm}" if stop == 1 else f"arm {arm} ({start}–{stop})"
