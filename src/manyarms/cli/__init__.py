"""The command line: one file per command."""

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
from .terminal import print_note

COMMANDS = ("fit", "predict", "run", "resume", "status", "arms", "best", "verify", "gc", "upgrade", "race")
"""The commands, in the order of the help text. Each is in the file of its name."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command. Errors that a user can act on are printed in one line, without a traceback."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser(given).parse_args(given)
    warnings.showwarning = _show_warning
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a Windows console may lack a character of a name
    try:
        code = options.command(options)
        sys.stdout.flush()  # here, where a broken pipe is still caught
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:  # such as `manyarms arms | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for output that is still buffered
        code = 0
    except (ManyarmsError, ImportError, OSError, ValueError, TypeError) as error:
        print_note(error)
        code = 1 if isinstance(error, ManyarmsError) else 2
    sys.exit(code)


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of the given command, or of all commands if none is given: importing all of them takes a while."""
    parser = argparse.ArgumentParser(prog="manyarms", description="Model selection with infinitely many arms.")
    parser.add_argument("--version", action="version", version=f"manyarms {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in [name for name in COMMANDS if name in arguments[:1]] or COMMANDS:
        import_module(f"{__name__}.{name}").add_command(commands)
    return parser


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    """Print a warning in one line, without its place in the code."""
    print_note(message)
