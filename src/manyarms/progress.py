"""One live line that tells how a search goes; nothing where there is no terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from .safe_text import safe_text

if TYPE_CHECKING:
    from .view import StudyView

_EVERY = 0.25  # seconds between updates: finding the best arm takes a look at all of them


class Progress:
    """Shows the best reward, arms, steps spent of the total, pulls per second and the time left.

    Args:
        study: what to tell of.
        shown: False keeps silent.
        console: where to write; standard error by default.
    """

    def __init__(self, study: StudyView, shown: bool, total: int | None, console: Any = None) -> None:
        self._study, self._shown, self._total, self._console = study, shown, total, console
        self._bar: Any = None
        self._next = 0.0

    def __enter__(self) -> Progress:
        if not self._shown:
            return self
        from rich.console import Console  # rich takes a while to import, and a silent study needs none

        console = self._console or Console(stderr=True)
        if console.is_terminal or console.is_jupyter:
            self._open(console)
        return self

    def _open(self, console: Any) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = [TextColumn("{task.description}"), BarColumn(bar_width=20), TextColumn("{task.fields[line]}")]
        clock = [TimeElapsedColumn()] if self._total is None else [TimeRemainingColumn(compact=True), TextColumn("left")]
        self._bar = Progress(*columns, *clock, console=console)
        self._bar.start()
        name = safe_text(self._study.name).replace("[", r"\[")
        self._task = self._bar.add_task(name, total=self._total, completed=self._study.tally.steps, line="")
        self._began, self._before = time.monotonic(), self._study.tally.pulls + self._study.tally.failures

    @property
    def is_live(self) -> bool:
        """Whether there is a line on a terminal or in a notebook."""
        return self._bar is not None

    def update(self, final: bool = False) -> None:
        """Show where the study is now, unless it was shown a moment ago."""
        now = time.monotonic()
        if self._bar is None or (now < self._next and not final):
            return
        self._next = now + _EVERY
        tally = self._study.tally
        rate = (tally.pulls + tally.failures - self._before) / max(now - self._began, 1e-9)
        best = f"best {self._study.best_reward:.5g}" if tally.pulls else "no reward yet"
        steps = f"{tally.steps}/{self._total} steps" if self._total is not None else f"{tally.steps} steps"
        failed = f" · {tally.failures} failed" if tally.failures else ""
        line = f"{best} · {len(tally.arms)} arms · {steps} · {rate:.1f} pulls/s{failed}"
        self._bar.update(self._task, completed=tally.steps, line=line)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self.update(final=True)
            self._bar.stop()
