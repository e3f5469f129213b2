"""`status --watch`: show the progress of studies again and again, until Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import NoReturn

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from ..safe_text import safe_text
from ..study.progress_display import drawn
from ..study.progress_report import cropped, duration, one_line
from .terminal import print_line, print_note
from .watched import WatchedStudies, WatchedStudy

_LINES = 5  # of a study: its report, and an empty line


def watch(
    storage: str,
    name: str | None,
    every: float,
    console: Console | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> NoReturn:
    """Show studies until Ctrl-C: in a terminal as a display that is replaced, otherwise a line for each change.

    The first reading must succeed. After that, a storage that cannot be read is tried again.

    Args:
        storage: The file or URL of the storage.
        name: Name of the study; None for all studies.
        every: Seconds between readings.
        console: Where to write; standard output by default.
        clock: Returns the time in seconds, from any start.
        sleep: Waits for a number of seconds.
    """
    studies, console = WatchedStudies(storage, name, clock), console or Console()
    changed = studies.read()
    if studies.error is not None:
        raise studies.error
    if console.is_terminal:
        _watch_in_terminal(studies, every, console, clock, sleep)
    _watch_as_lines(studies, changed, every, clock, sleep)


def _watch_in_terminal(
    studies: WatchedStudies, every: float, console: Console, clock: Callable[[], float], sleep: Callable[[float], object]
) -> NoReturn:
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        while True:
            live.update(display(studies, clock(), every, console.width, console.height), refresh=True)
            sleep(every)
            studies.read()


def _watch_as_lines(
    studies: WatchedStudies,
    changed: Iterable[WatchedStudy],
    every: float,
    clock: Callable[[], float],
    sleep: Callable[[float], object],
) -> NoReturn:
    trouble = None
    while True:
        for study in changed:
            print_line(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {one_line(study.report(clock()))}", flush=True)
        sleep(every)
        changed, before, trouble = studies.read(), trouble, _trouble(studies)
        if trouble is not None and trouble != before:
            print_note(trouble)


def _trouble(studies: WatchedStudies) -> str | None:
    """Why studies cannot be read now, if so."""
    return None if studies.error is None else f"Cannot read the storage: {str(studies.error).rstrip('.')}. Retrying."


def display(studies: WatchedStudies, now: float, every: float, width: int, height: int) -> RenderableType:
    """The studies as far as they fit into the terminal, and a last line on the watch itself.

    A few studies get several lines each, many studies one line each.
    """
    room = max(height - 2, 2)  # the last line, and one for the cursor
    if len(studies) * _LINES <= room:
        reports = [study.report(now) for study in studies.shown(len(studies))]
        parts = [part for report in reports for part in (drawn(report, width), Text())]
    else:
        shown = studies.shown(room if len(studies) <= room else room - 1)
        lines = [one_line(study.report(now), width) for study in shown]
        lines += [f"more studies: {len(studies) - len(shown)}"] if len(shown) < len(studies) else []
        parts = [_line(line, width) for line in lines]
    return Group(*parts, _last_line(studies, now, every, width))


def _last_line(studies: WatchedStudies, now: float, every: float, width: int) -> Text:
    if (trouble := _trouble(studies)) is not None:
        return _line(safe_text(trouble), width, "red")
    empty = "" if len(studies) else "No studies yet. "
    changed = "" if studies.changed_at is None else f" Last change {duration(now - studies.changed_at)} ago."
    return _line(f"{empty}Updates every {every:g}s. Press Ctrl-C to stop.{changed}", width, "dim")


def _line(line: str, width: int, style: str = "") -> Text:
    return Text(cropped(line, width), style=style, no_wrap=True)
