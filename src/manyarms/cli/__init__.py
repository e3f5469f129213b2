"""The command line: `manyarms fit | predict | run | resume | status | arms | best | verify | gc | upgrade | race`."""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ..errors import ManyarmsError
from ..version import __version__
from .terminal import say

_PARTS = {
    "fit": ("fit",),
    "predict": ("predict",),
    "start": ("run", "resume"),
    "look": ("status", "arms", "best"),
    "keep": ("verify", "gc", "upgrade"),
    "race": ("race",),
}
"""The files with the commands, and the commands in each."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; errors a user can act on are one line, without a traceback."""
    parser = argparse.ArgumentParser(prog="manyarms", description="Model selection with infinitely many arms.")
    parser.add_argument("--version", action="version", version=f"manyarms {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for part in _needed_parts(sys.argv[1:] if arguments is None else arguments):
        import_module(f"{__name__}.{part}").add_commands(commands)
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


def _needed_parts(arguments: Sequence[str]) -> list[str]:
    """The file with the command that is given, or all files if none is: importing all takes a while."""
    return [part for part, names in _PARTS.items() if arguments and arguments[0] in names] or list(_PARTS)


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    """A warning in one line, without the place in the code that gave it."""
    say(message)
