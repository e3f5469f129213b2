"""The command line: `manyarms fit | predict | run | resume | status | arms | best | verify | gc | upgrade | race`."""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from ..errors import ManyarmsError
from ..version import __version__
from . import fit, keep, look, predict, race, start
from .terminal import say


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; errors a user can act on are one line, without a traceback."""
    parser = argparse.ArgumentParser(prog="manyarms", description="Model selection with infinitely many arms.")
    parser.add_argument("--version", action="version", version=f"manyarms {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for part in (fit, predict, start, look, keep, race):
        part.add_commands(commands)
    options = parser.parse_args(arguments)
    warnings.showwarning = _show_warning
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a console of Windows may not know a letter of a name
    try:
        code = options.command(options)
        sys.stdout.flush()  # here, where a broken pipe is still caught
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still to be flushed
        code = 0
    except (ManyarmsError, ImportError, OSError, ValueError, TypeError) as error:
        say(error)
        code = 1 if isinstance(error, ManyarmsError) else 2
    sys.exit(code)


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    """A warning in one line, without the place in the code that gave it."""
    say(message)
