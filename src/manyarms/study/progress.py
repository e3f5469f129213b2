"""A live display of the progress of a search, in a terminal or in a notebook."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..core import Pull
from .progress_report import MOST_TRAINING, BestFound, InFlight, Report, seconds_left
from .summary import Best, best_so_far, spent_of

if TYPE_CHECKING:
    from .view import StudyView

_EVERY = 0.25  # seconds between updates, because finding the best arm takes time
_NOTEBOOK_EVERY = 1.0  # seconds between updates of a notebook while no pull ends


class Progress:
    """Shows the best arm and when it was found, the budget, what is training, failures, the pace and the time left.

    The search only looks for the best arm now and then. A thread draws the rest, so that it does not wait for the terminal,
    and times are current while pulls take long.

    Args:
        study: The study.
        shown: Whether to show anything.
        timeout: Seconds after which the search ends; None means no limit.
        console: Where to write; standard error by default.
        clock: Returns the time in seconds, from any start.
    """

    def __init__(
        self,
        study: StudyView,
        shown: bool,
        timeout: float | None = None,
        console: Any = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._study, self._shown, self._timeout, self._console, self._clock = study, shown, timeout, console, clock
        self._live: Any = None
        self._notebook: _NotebookDisplay | None = None
        self._next = 0.0
        self._best: Best | None = None
        self._found: tuple[int, float] | None = None  # steps and time when the best arm was found; None if before this run
        self._ended: float | None = None

    def __enter__(self) -> Progress:
        if not self._shown:
            return self
        from rich.console import Console  # imported here because it is slow to import

        console = self._console or Console(stderr=True)
        if console.is_jupyter or console.is_terminal:
            self._begin()
        if console.is_jupyter:
            self._notebook = _NotebookDisplay(self.report)
        elif console.is_terminal:
            self._live = _terminal_display(self.report, console)
        return self

    def _begin(self) -> None:
        counts = self._study.counts
        self._began, self._limits = self._clock(), self._study.limits
        self._spent_before = {name: done for name, (done, _) in spent_of(self._limits, counts).items()}
        self._pulls_before = counts.pulls + counts.failures
        self._best = best_so_far(self._study)
        self._last = self._report()

    @property
    def is_live(self) -> bool:
        """Whether a live display is shown, in a terminal or in a notebook."""
        return self._live is not None or self._notebook is not None

    def update(self) -> None:
        """Look for the best arm, unless that was done a moment ago."""
        if not self.is_live or (now := self._clock()) < self._next:
            return
        self._next = now + _EVERY
        self._note_best(now)
        if self._notebook is not None:
            self._notebook.show()

    def _note_best(self, now: float) -> None:
        before, best = self._best, best_so_far(self._study)
        if best is not None and (before is None or is_other(before, best)):
            self._found = self._study.counts.steps, now
        self._best = best

    def report(self) -> Report:
        """How far the search is now. It can be called from any thread."""
        with suppress(RuntimeError):  # the search changed a dict while it was read
            self._last = self._report()
        return self._last

    def _report(self) -> Report:
        counts, now = self._study.counts, self._clock()
        elapsed, limits, failures = now - self._began, spent_of(self._limits, counts), counts.failures
        running = list(counts.in_flight.values()) if self._ended is None else []
        spent = {name: done - self._spent_before[name] for name, (done, _) in limits.items()}
        remaining = {name: max(0.0, total - done) for name, (done, total) in limits.items()}
        return Report(
            name=self._study.name,
            steps=counts.steps,
            limits=limits,
            arms=len(counts.arms),
            best=self._best_found(now),
            training=[_training(flight.pull) for flight in running[:MOST_TRAINING]],
            in_flight=len(running),
            failures=failures,
            reason=counts.reasons.most_common(1)[0][0] if failures else None,
            pulls_per_second=(counts.pulls + failures - self._pulls_before) / max(elapsed, 1e-9),
            seconds_left=seconds_left(elapsed, spent, remaining, self._timeout),
            took=None if self._ended is None else self._ended - self._began,
        )

    def _best_found(self, now: float) -> BestFound | None:
        if self._best is None:
            return None
        best, (after, at) = self._best.found, self._found or (None, None)
        return BestFound(self._best.label, best.reward, best.arm, best.step, after, None if at is None else now - at)

    def __exit__(self, *error: object) -> None:
        if not self.is_live:
            return
        self._ended = self._clock()
        self._note_best(self._ended)
        if self._live is not None:
            with suppress(OSError):  # the terminal was closed
                self._live.stop()
        if self._notebook is not None:
            self._notebook.stop()


def _training(pull: Pull) -> InFlight:
    return InFlight(pull.arm.id, pull.start, pull.stop)


def is_other(before: Best, now: Best) -> bool:
    """Whether the best arm is another one, or got a better reward. A mean changes with every pull, which is no news."""
    one, two = before.found, now.found
    return one.arm != two.arm or (one.reward != two.reward and not two.by_mean)


def _terminal_display(report: Callable[[], Report], console: Any) -> Any:
    from rich.live import Live

    from .progress_display import ReportDisplay

    live = Live(ReportDisplay(report), console=console, refresh_per_second=1 / _EVERY)
    live.start(refresh=True)
    return live


class _NotebookDisplay:
    """A display that is replaced, in the output of a cell.

    It does not use rich, whose live display needs ipywidgets and shows warnings if they are missing.
    """

    def __init__(self, report: Callable[[], Report]) -> None:
        from IPython.display import display

        self._report, self._lock, self._stopped = report, threading.Lock(), threading.Event()
        self._handle = display(self._data(), raw=True, display_id=True)
        self._thread = threading.Thread(target=self._keep_current, name="manyarms-progress", daemon=True)
        self._thread.start()

    def _data(self) -> dict[str, str]:
        from .progress_display import notebook_data

        return notebook_data(self._report())

    def show(self) -> None:
        """Show the newest report."""
        with self._lock:
            self._handle.update(self._data(), raw=True)

    def _keep_current(self) -> None:
        while not self._stopped.wait(_NOTEBOOK_EVERY):
            self.show()

    def stop(self) -> None:
        """Show the newest report for the last time."""
        self._stopped.set()
        self._thread.join()
        self.show()
