"""A progress bar for runs; it is shown only in a terminal."""

from __future__ import annotations

from typing import Any

from .pool import Finished


class RunProgress:
    """Shows how many runs have ended, how many failed, and the remaining time.

    Args:
        total: Number of runs.
        done: Number of runs that were finished before.
        shown: Whether to show the bar.
        console: Where to write. Standard error by default.
    """

    def __init__(self, total: int, done: int, shown: bool, console: Any = None) -> None:
        self._total, self._done, self._shown, self._console = total, done, shown, console
        self._failed = 0
        self._bar: Any = None

    def __enter__(self) -> RunProgress:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = self._console or Console(stderr=True)
        if self._shown and console.is_terminal:
            columns = [BarColumn(bar_width=20), TextColumn("{task.description}"), TimeRemainingColumn(compact=True)]
            self._bar = Progress(*columns, TextColumn("left"), console=console)
            self._bar.start()
            self._task = self._bar.add_task(self._description(), total=self._total, completed=self._done)
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def count(self, finished: Finished[Any, Any]) -> None:
        """Count a run that has ended."""
        self._done += 1
        self._failed += finished.reason is not None
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description=self._description())

    def _description(self) -> str:
        return f"{self._done}/{self._total} runs" + (f" · {self._failed} failed" if self._failed else "")
