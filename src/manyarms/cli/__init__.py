"""The command line: one file per command."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import io
import os
import sys
import threading
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ..errors import ManyarmsError
from ..version import __version__
from .terminal import print_note

COMMANDS = (
    "fit",
    "predict",
    "run",
    "resume",
    "status",
    "arms",
    "best",
    "verify",
    "gc",
    "upgrade",
    "dashboard",
    "report",
    "race",
)
"""The commands, in the order of the help text. Each is in the file with its name."""

_DESCRIPTION = "Find the best model by training many candidates briefly and the best ones longer."
_EPILOG = "Show the options of a command: manyarms COMMAND --help"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command, and exit. Errors that users can fix are printed on one line, without a traceback."""
    _replace_closed_streams()
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser(given).parse_args(given)
    warnings.showwarning = _show_warning
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a Windows console may not be able to print all characters
    try:
        code = options.command(options)
        sys.stdout.flush()  # here, so that a broken pipe is caught
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:  # such as `manyarms arms | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for output that is still buffered
        code = 0
    except (ManyarmsError, ImportError, OSError, ValueError, TypeError) as error:
        print_note(error)
        code = 1 if isinstance(error, ManyarmsError) else 2
    sys.exit(code)


def _replace_closed_streams() -> None:
    """Discard what is written to a stream that the caller closed, as with `manyarms status >&-`. Python sets it to None."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open until the process ends


def console_main() -> None:
    """Run `main`, and end the process at once.

    Freeing the memory would take half a second after a fit, too long after Ctrl-C. Exit handlers run as usual.
    """
    try:
        main()
    except SystemExit as end:
        others = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
        if not isinstance(end.code, int) or not all(thread.daemon for thread in others):
            raise
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(end.code)


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of the given command, or of all commands if none is given, because importing all of them is slow."""
    parser = argparse.ArgumentParser(prog="manyarms", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"manyarms {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in [name for name in COMMANDS if name in arguments[:1]] or COMMANDS:
        import_module(f"{__name__}.{name}").add_command(commands)
    return parser


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    """Print a warning without the line of code that it comes from."""
    print_note(message)
