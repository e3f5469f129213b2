"""Starts the web server, and opens the page in a browser."""

from __future__ import annotations

import re
import secrets
import socket
import sys
import threading
import webbrowser

import uvicorn

from .app import Dashboard, make_app
from .pace import SERVER, give_way
from .security import LOCAL, Guard, is_local
from .studies import Studies

HOST, PORT = "127.0.0.1", 8899
"""Where the dashboard is by default."""

_TOKEN = re.compile(r"[A-Za-z0-9._~-]{8,200}")


class _Server(uvicorn.Server):
    """A server that ends the streams to browsers before it waits for them to end."""

    def __init__(self, config: uvicorn.Config, dashboard: Dashboard) -> None:
        super().__init__(config)
        self._dashboard = dashboard

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._dashboard.stop_streams()
        await super().shutdown(sockets)


def serve(storage: str, host: str = HOST, port: int | None = None, token: str | None = None, open_browser: bool = True) -> None:
    """Show the studies of a storage in a browser until the process is interrupted.

    Args:
        storage: The file or URL of the storage.
        host: Address to listen on. If other machines can connect to it, a token is needed.
        port: Port to listen on; 0 means any free port. None means the default port, or a free one if it is in use.
        token: Secret that a browser must give once. If it is None and one is needed, a random one is made.
        open_browser: Whether to open the page in a browser.
    """
    token = _checked(token) or (None if is_local(host) else secrets.token_urlsafe(24))
    give_way(SERVER)
    studies = Studies(storage)
    studies.reader.studies()  # raises if the storage cannot be read
    listening = _socket(host, port)
    with listening:
        bound = listening.getsockname()[1]
        address = link(host, bound, token)
        dashboard = Dashboard(studies)
        guard = Guard(make_app(dashboard), host, _own_names(host), token, cookie=f"manyarms_{bound}")
        config = uvicorn.Config(
            guard,
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            timeout_graceful_shutdown=2,
        )
        print(f"Dashboard for {studies.reader.shown}: {address}\nPress Ctrl-C to stop it.", file=sys.stderr, flush=True)
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        _Server(config, dashboard).run(sockets=[listening])


def link(host: str, port: int, token: str | None) -> str:
    """The address of the page.

    >>> link("127.0.0.1", 8899, None), link("::", 80, "secret-1")
    ('http://127.0.0.1:8899/', 'http://[::1]:80/?token=secret-1')
    """
    name = {"0.0.0.0": socket.gethostname(), "::": "::1", "": socket.gethostname()}.get(host, host)
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{port}/" + ("" if token is None else f"?token={token}")


def _checked(token: str | None) -> str | None:
    if token is not None and not _TOKEN.fullmatch(token):
        raise ValueError("The token must have at least 8 characters, using only letters, digits and . _ ~ -")
    return token


def _own_names(host: str) -> list[str]:
    """The names of this machine, if other machines can connect."""
    return [] if is_local(host) else [*LOCAL, socket.gethostname(), socket.getfqdn()]


def _socket(host: str, port: int | None) -> socket.socket:
    """A socket that listens, so that a browser can connect at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return _bound(family, host, PORT if port is None else port)
    except OSError as error:
        if port is not None or not _is_in_use(error):
            raise OSError(f"Cannot listen on {host}, port {PORT if port is None else port}: {error.strerror}") from error
    return _bound(family, host, 0)


def _bound(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    listening = socket.socket(family)
    try:
        if sys.platform != "win32":  # there, it would allow two servers on one port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except BaseException:
        listening.close()
        raise
    return listening


def _is_in_use(error: OSError) -> bool:
    import errno

    return error.errno == errno.EADDRINUSE
