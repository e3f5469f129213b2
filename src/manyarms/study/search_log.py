"""The log of a search: through `logging`, and on standard error if there is no terminal for the live display."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TextIO

from ..core import Outcome, sign_of
from ..safe_text import safe_text
from .progress_report import duration
from .summary import counted

if TYPE_CHECKING:
    from .view import StudyView

logger = logging.getLogger("manyarms")
logger.addHandler(logging.NullHandler())  # without it, Python would print warnings even if verbose=0

_STATUS_EVERY = 60.0  # seconds between two lines on the progress of the search
_BEST_EVERY = 1.0  # seconds between two lines about a new best reward, because a fast search finds hundreds at first
_MOST_REASONS = 20  # maximum number of warnings in one search, because each pull may fail for a different reason
_LONGEST = 500  # characters of a config


class SearchLog:
    """Logs the start and the end of a search, its progress about once a minute, each new best reward, and why pulls fail.

    Lines are written when pulls end. They go to the logger "manyarms": each pull at level DEBUG, failures at WARNING (the
    first one with its traceback), the rest at INFO. They can also be shown on standard error. If logging is configured, its
    handlers decide instead.

    Args:
        study: The search.
        shown: The lowest level to show on standard error; None shows nothing.
        clock: Returns the time in seconds, from any start.
        timeout: Seconds after which the search ends; None if there is no such limit.
    """

    def __init__(
        self,
        study: StudyView,
        shown: int | None,
        clock: Callable[[], float] = time.monotonic,
        timeout: float | None = None,
    ) -> None:
        self._study, self._clock, self._timeout = study, clock, timeout
        self._sign = sign_of(study.header["direction"])
        self._screen = None if shown is None or is_set_up(logger) else _Screen(shown)
        self._best: float | None = None
        self._news: Outcome | None = None  # a new best that is not logged yet
        self._reasons: set[str] = set()
        self._traceback_logged = False
        self._stopped_early = 0

    def __enter__(self) -> SearchLog:
        counts = self._study.counts
        self._began = self._next_status = self._next_best = self._clock()
        self._next_status += _STATUS_EVERY
        self._before = counts.pulls + counts.failures
        rewards = [record.best_reward for record in counts.arms.values() if record.best_reward is not None]
        self._best = max(rewards, key=lambda reward: self._sign * reward, default=None)
        resumed = f"resumed from {counted(counts.events, 'event')}, {counted(counts.steps, 'step')} spent"
        start = resumed if counts.events else "new"
        self._log(logging.INFO, f"{self._study.header['strategy']}, {self._limits()}, {start}")
        return self

    def update(self, outcomes: Iterable[Outcome]) -> None:
        """Log what is new after these outcomes. The time this takes does not depend on the number of arms."""
        for outcome in outcomes:
            self._note(outcome)
        now = self._clock()
        if self._news is not None and now >= self._next_best:
            self._log_best(self._news)
            self._next_best = now + _BEST_EVERY
        if now >= self._next_status:
            self._log(logging.INFO, f"{self._counts()}, {self._rate(now):.3g} pulls/s{self._best_so_far()}")
            self._next_status = now + _STATUS_EVERY

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if self._news is not None:
            self._log_best(self._news)
        ended = "ended" if kind is None else f"ended by {kind.__name__}"
        ended = "ended early" if kind is not None and issubclass(kind, KeyboardInterrupt) else ended
        early = f", {self._stopped_early} stopped early by a time limit" if self._stopped_early else ""
        best = self._recommended() if kind is None and self._study.counts.pulls else ""
        self._log(logging.INFO, f"{ended} after {duration(self._clock() - self._began)}: {self._counts()}{early}{best}")

    def _note(self, outcome: Outcome) -> None:
        if self._is_wanted(logging.DEBUG):
            self._log(logging.DEBUG, pull_line(outcome))
        self._stopped_early += outcome.stopped_early
        if outcome.reward is None:
            self._log_reason(outcome)
        elif self._best is None or self._sign * outcome.reward > self._sign * self._best:
            self._best, self._news = outcome.reward, outcome

    def _log_reason(self, outcome: Outcome) -> None:
        """Log a failure if its reason is new, and the first traceback of the search."""
        reason = outcome.reason or "no reason given"
        if reason in self._reasons or len(self._reasons) > _MOST_REASONS:
            return
        self._reasons.add(reason)
        if len(self._reasons) > _MOST_REASONS:
            self._log(logging.WARNING, "pulls also fail for other reasons, which are not logged: see study.counts.reasons")
        else:
            details = None if self._traceback_logged else outcome.details
            self._traceback_logged |= details is not None
            self._log(logging.WARNING, f"a pull of arm {outcome.pull.arm.id} failed: {reason}", details)

    def _log_best(self, outcome: Outcome) -> None:
        pull, self._news = outcome.pull, None
        self._log(
            logging.INFO,
            f"new best reward {outcome.reward:.6g} by arm {pull.arm.id} at step {pull.stop}: {_shown(pull.config)}",
        )

    def _recommended(self) -> str:
        return f"; best reward {self._study.best_reward:.6g} by arm {self._study.best().id}"

    def _best_so_far(self) -> str:
        return "" if self._best is None else f", best reward {self._best:.6g}"

    def _counts(self) -> str:
        counts, total = self._study.counts, self._study.budget
        steps = counted(counts.steps, "step") if total is None else f"{counts.steps} of {counted(total, 'step')}"
        return f"{steps}, {counted(len(counts.arms), 'arm')}, {counted(counts.pulls, 'pull')}, {counts.failures} failed"

    def _rate(self, now: float) -> float:
        counts = self._study.counts
        return (counts.pulls + counts.failures - self._before) / max(now - self._began, 1e-9)

    def _limits(self) -> str:
        """The budget of the study and the time limit of this run."""
        limits, parts = self._study.limits, list[str]()
        if self._study.budget is not None:
            parts.append(counted(self._study.budget, "step"))
        if limits is not None and limits.seconds is not None:
            parts.append(f"{duration(float(limits.seconds))} of training")
        if limits is not None and limits.cost is not None:
            parts.append(f"cost {limits.cost:g}")
        budget = [f"budget {', '.join(parts)}"] if parts else []
        timeout = [] if self._timeout is None else [f"time limit {duration(self._timeout)}"]
        return ", ".join(budget + timeout) or "budget unlimited"

    def _is_wanted(self, level: int) -> bool:
        return logger.isEnabledFor(level) or (self._screen is not None and level >= self._screen.level)

    def _log(self, level: int, message: str, details: str | None = None) -> None:
        """Log one line that is safe to show in a terminal, and the indented lines of a traceback below it."""
        if self._is_wanted(level):
            _write(level, f"{self._study.name}: {message}", self._screen, details)


def log_line(study: str, message: str, verbose: int, level: int = logging.INFO) -> None:
    """Log one line about a study that another process runs.

    Args:
        study: Name of the study.
        message: The line.
        verbose: 0, 1 or 2, as given to `optimize`.
        level: Level of the line.
    """
    _write(level, f"{study}: {message}", None if not verbose or is_set_up(logger) else _Screen(logging.INFO))


def _write(level: int, line: str, screen: _Screen | None, details: str | None = None) -> None:
    text = "\n    ".join(map(safe_text, [line, *(details or "").splitlines()]))
    record = logger.makeRecord(logger.name, level, __file__, 0, text, (), None, "search")
    if logger.isEnabledFor(level):
        logger.handle(record)
    if screen is not None and level >= screen.level:
        screen.handle(record)


def pull_line(outcome: Outcome) -> str:
    """The outcome of a pull on one line."""
    pull = outcome.pull
    result = f"failed: {outcome.reason}" if outcome.reward is None else f"reward {outcome.reward:.6g}"
    early = ", stopped early by a time limit" if outcome.stopped_early else ""
    return f"arm {pull.arm.id}, steps {pull.start} to {pull.stop}, {outcome.seconds:.3g} s: {result}{early}"


def _shown(config: Any) -> str:
    try:
        return repr(config)[:_LONGEST]
    except Exception:  # `__repr__` may be user code
        return f"a {type(config).__name__} that cannot be shown"


def is_set_up(logger: logging.Logger) -> bool:
    """Whether logging is configured: records of this logger reach a handler."""
    current: logging.Logger | None = logger
    while current is not None:
        if any(not isinstance(handler, logging.NullHandler) for handler in current.handlers):
            return True
        current = current.parent if current.propagate else None
    return False


class _Screen(logging.StreamHandler[TextIO]):
    """Writes to the current standard error. It belongs to one search and is never added to a logger.

    Searches that run in several threads therefore do not repeat each other's lines, and nothing has to be undone.
    """

    def __init__(self, level: int) -> None:
        super().__init__(sys.stderr)
        self.setLevel(level)
        self.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))

    def emit(self, record: logging.LogRecord) -> None:
        self.stream: Any = sys.stderr  # `rich` replaces it, to print above the live display
        super().emit(record)


def shown_level(verbose: int, is_live: bool) -> int | None:
    """The lowest level that is shown on standard error; None shows nothing.

    Args:
        verbose: 0, 1 or 2, as given to `optimize`.
        is_live: Whether there is a live display, which shows everything except single pulls.
    """
    if verbose == 2:
        return logging.DEBUG
    return logging.INFO if verbose == 1 and not is_live else None
