"""One live line that tells how a race goes; nothing where there is no terminal."""

from __future__ import annotations

from typing import Any

from .workers import Finished


class HeatProgress:
    """Shows the heats done, of how many, and the time left.

    Args:
        total: heats in all.
        done: those that were done before.
        shown: False keeps silent.
        console: where to write; standard error by default.
    """

    def __init__(self, total: int, done: int, shown: bool, console: Any = None) -> None:
        self._total, self._done, self._shown, self._console = total, done, shown, console
        self._failed = 0
        self._bar: Any = None

    def __enter__(self) -> HeatProgress:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = self._console or Console(stderr=True)
        if self._shown and console.is_terminal:
            columns = [BarColumn(bar_width=20), TextColumn("{task.description}"), TimeRemainingColumn(compact=True)]
            self._bar = Progress(*columns, TextColumn("left"), console=console)
            self._bar.start()
            self._task = self._bar.add_task(self._words(), total=self._total, completed=self._done)
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def tell(self, finished: Finished) -> None:
        """Count a heat that has ended."""
        self._done += 1
        self._failed += finished.reason is not None
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description=self._words())

    def _words(self) -> str:
        return f"{self._done}/{self._total} heats" + (f" · {self._failed} failed" if self._failed else "")
