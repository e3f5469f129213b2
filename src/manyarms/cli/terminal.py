"""Printing text that may come from somebody else: terminal escapes in it are shown, not executed."""

from __future__ import annotations

import sys
from typing import IO

from ..safe_text import safe_text

_ALLOWED = "\n\t"  # for notes of several lines, such as those with a traceback


def print_note(note: object) -> None:
    """Print a note for the user on standard error."""
    print(f"manyarms: {safe_text(note, keep=_ALLOWED)}", file=sys.stderr)


def print_line(line: object, file: IO[str] | None = None, flush: bool = False) -> None:
    """Print a line of output."""
    print(safe_text(line), file=file, flush=flush)
