"""A live line that shows the progress of a search, on a terminal or in a notebook."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ..safe_text import safe_text

if TYPE_CHECKING:
    from .view import StudyView

_EVERY = 0.25  # seconds between updates, because finding the best arm takes time


class Progress:
    """Shows the best reward, arms, steps spent of the total, pulls per second and the time left.

    Args:
        study: The study.
        shown: Whether to show anything.
        total: Budget in steps; None means no limit.
        console: Where to write; standard error by default.
    """

    def __init__(self, study: StudyView, shown: bool, total: int | None, console: Any = None) -> None:
        self._study, self._shown, self._total, self._console = study, shown, total, console
        self._bar: Any = None
        self._notebook: Any = None
        self._next = 0.0

    def __enter__(self) -> Progress:
        if not self._shown:
            return self
        from rich.console import Console  # imported late, because it takes a while

        console = self._console or Console(stderr=True)
        counts = self._study.counts
        self._began, self._steps_before, self._pulls_before = time.monotonic(), counts.steps, counts.pulls + counts.failures
        if console.is_jupyter:
            self._open_in_notebook()
        elif console.is_terminal:
            self._open_on_terminal(console)
        return self

    def _open_in_notebook(self) -> None:
        """Without rich, whose live display needs ipywidgets and shows warnings if they are missing."""
        from IPython.display import display

        self._notebook = display(_plain(""), raw=True, display_id=True)

    def _open_on_terminal(self, console: Any) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = [TextColumn("{task.description}"), BarColumn(bar_width=20), TextColumn("{task.fields[line]}")]
        clock = [TimeElapsedColumn()] if self._total is None else [TimeRemainingColumn(compact=True), TextColumn("left")]
        self._bar = Progress(*columns, *clock, console=console)
        self._bar.start()
        name = safe_text(self._study.name).replace("[", r"\[")
        self._task = self._bar.add_task(name, total=self._total, completed=self._study.counts.steps, line="")

    @property
    def is_live(self) -> bool:
        """Whether there is a line on a terminal or in a notebook."""
        return self._bar is not None or self._notebook is not None

    def update(self, final: bool = False) -> None:
        """Show the current state, unless it was shown a moment ago."""
        now = time.monotonic()
        if not self.is_live or (now < self._next and not final):
            return
        self._next = now + _EVERY
        seconds, steps = now - self._began, self._study.counts.steps
        line = self._line(seconds)
        if self._bar is not None:
            self._bar.update(self._task, completed=steps, line=line)
        else:
            remaining = None if self._total is None or final else self._total - steps
            left = time_left(seconds, steps - self._steps_before, remaining)
            self._notebook.update(_plain(f"{safe_text(self._study.name)}: {line}{left}"), raw=True)

    def _line(self, seconds: float) -> str:
        counts = self._study.counts
        rate = (counts.pulls + counts.failures - self._pulls_before) / max(seconds, 1e-9)
        best = f"best {self._study.best_reward:.5g}" if counts.pulls else "no reward yet"
        steps = f"{counts.steps}/{self._total} steps" if self._total is not None else f"{counts.steps} steps"
        failed = f" · {counts.failures} failed" if counts.failures else ""
        return f"{best} · {len(counts.arms)} arms · {steps} · {rate:.1f} pulls/s{failed}"

    def __exit__(self, *error: object) -> None:
        self.update(final=True)
        if self._bar is not None:
            self._bar.stop()


def time_left(seconds: float, done: int, remaining: int | None) -> str:
    """Time that the remaining steps will take at the pace so far; empty if that is unknown or nothing remains.

    >>> time_left(10.0, 5, 60)
    ' · 0:02:00 left'
    """
    if not done or remaining is None or remaining <= 0:
        return ""
    return f" · {timedelta(seconds=round(seconds * remaining / done))} left"


def _plain(text: str) -> dict[str, str]:
    """Plain text in the format that notebooks display."""
    return {"text/plain": text}
