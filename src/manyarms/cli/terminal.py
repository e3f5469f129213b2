"""Printing what may be somebody else's text, so that the terminal shows it and obeys none of it."""

from __future__ import annotations

import sys
from typing import IO

from ..safe_text import safe_text

_LINES = "\n\t"  # which messages of several lines need, such as those with a traceback


def say(note: object) -> None:
    """A note to the user, on standard error."""
    print(f"manyarms: {safe_text(note, keep=_LINES)}", file=sys.stderr)


def show(line: object, file: IO[str] | None = None, flush: bool = False) -> None:
    """A line of output."""
    print(safe_text(line), file=file, flush=flush)
