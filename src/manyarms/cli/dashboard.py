"""`dashboard`: show the studies of a storage in a browser."""

from __future__ import annotations

import argparse
import os
from typing import Any

from .. import checks
from ..errors import ManyarmsError
from .studies import add_storage

_TOKEN = "MANYARMS_DASHBOARD_TOKEN"


def add_command(commands: Any) -> None:
    """Add `dashboard`."""
    parser = commands.add_parser(
        "dashboard",
        help="show studies in a browser while they run",
        description="Show the studies of a storage in a browser, and update the page while they run. The page is read-only, "
        "and only this machine can open it unless --host is given.",
    )
    add_storage(parser)
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on (default: %(default)s); if other machines can connect to it, a token is required",
    )
    parser.add_argument(
        "--port", type=int, metavar="N", help="port to listen on (default: 8899, or a free one if it is in use)"
    )
    parser.add_argument(
        "--token", help=f"secret that each browser must provide once (default: ${_TOKEN}, or a random one if needed)"
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.set_defaults(command=_dashboard)


def _dashboard(options: argparse.Namespace) -> int:
    port = None if options.port is None else int(checks.between("--port", checks.whole("--port", options.port), 0, 65535))
    try:
        from ..dashboard.reader import Unreadable  # here: it is not needed by other commands, and imports extras
        from ..dashboard.serve import serve
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        raise ImportError(f'The dashboard needs {missing}: pip install "manyarms[dashboard]"') from None
    try:
        serve(options.storage, options.host, port, options.token or os.environ.get(_TOKEN), not options.no_browser)
    except Unreadable as error:
        raise ManyarmsError(str(error)) from error
    except KeyboardInterrupt:  # the usual way to stop it
        pass
    return 0
