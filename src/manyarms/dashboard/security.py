"""Decides which requests are answered, and adds the headers that restrict what a page may do."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from html import escape
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL = ("127.0.0.1", "localhost", "::1")
"""Names of this machine that only programs on it can use."""

_EVERYWHERE = ("0.0.0.0", "::", "")
_METHODS = ("GET", "HEAD")
_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",  # plotly styles its charts with inline styles
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
_HEADERS = {
    "content-security-policy": "; ".join(f"{name} {value}" for name, value in _POLICY.items()),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_NEEDS_TOKEN = "This dashboard needs a token. Open the link that `manyarms dashboard` printed in its terminal."


def is_local(host: str) -> bool:
    """Whether only programs on this machine can connect to this host."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def host_name(header: str) -> str:
    """The name or address in a Host header, in lower case and without the port.

    >>> host_name("LocalHost:80"), host_name("[::1]:8000"), host_name("10.0.0.1")
    ('localhost', '::1', '10.0.0.1')
    """
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


class Guard:
    """Middleware that answers only requests from this dashboard's own pages. Nothing can be changed through it.

    A foreign name in the Host header means that a web page elsewhere made its own name point to this machine ("DNS rebinding").

    Args:
        app: The application.
        host: The host that the server listens on.
        names: Other names of this machine that a browser may use.
        token: The secret that a browser must give once; None if none is needed.
        cookie: Name of the cookie that keeps the token.
    """

    def __init__(
        self, app: ASGIApp, host: str, names: Iterable[str] = (), token: str | None = None, cookie: str = "token"
    ) -> None:
        self._app, self._token, self._cookie = app, token, cookie
        own = LOCAL if is_local(host) or host in _EVERYWHERE else ()
        self._names = {name.lower() for name in (host, *names, *own) if name}
        self._any_address = host in _EVERYWHERE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            answer = self._refusal(scope) or self._signing_in(scope)
            await (answer or self._app)(scope, receive, _with_headers(send))
        # anything else, such as a WebSocket, gets no answer

    def _refusal(self, scope: Scope) -> Response | None:
        """The answer to a request that is not allowed; None if it is."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_own(host_name(host)) or len(headers.getlist("host")) != 1:
            return _refuse("This host name is not served here.")
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{host}".lower(), f"https://{host}".lower()):
            return _refuse("Requests from other sites are not answered.")
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate":
            return _refuse("Requests from other sites are not answered.")
        if scope["method"] not in _METHODS:
            return PlainTextResponse("Only GET and HEAD are allowed.", 405, {"allow": ", ".join(_METHODS)})
        return None

    def _is_own(self, name: str) -> bool:
        if name in self._names:
            return True
        try:
            return self._any_address and bool(ip_address(name))  # an address cannot be made to point elsewhere
        except ValueError:
            return False

    def _signing_in(self, scope: Scope) -> Response | None:
        """The answer to a request that has no token yet, or gives it now; None if the request may continue."""
        if self._token is None:
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if given:
            rest = [(name, value) for name, value in query if name != "token"]
            return self._welcome(scope["path"], rest) if self._is_token(given[0]) else _refuse("This token is wrong.")
        return None if self._is_token(self._stored(scope)) else _refuse(_NEEDS_TOKEN)

    def _welcome(self, path: str, query: list[tuple[str, str]]) -> Response:
        """Keep the token in a cookie, and open the address without it.

        A page does that, not a redirect: after a link on another site, browsers send strict cookies only from our own page.
        """
        address = escape(quote(f"/{path.lstrip('/')}") + (f"?{urlencode(query)}" if query else ""))
        page = (
            '<!doctype html><link rel="icon" href="data:,">'  # or browsers ask for an icon that does not exist
            f'<meta http-equiv="refresh" content="0; url={address}"><a href="{address}">Open the dashboard</a>'
        )
        response = HTMLResponse(page, headers={"cache-control": "no-store"})
        response.set_cookie(self._cookie, self._token or "", path="/", httponly=True, samesite="strict")
        return response

    def _stored(self, scope: Scope) -> str:
        """The token in the cookie of a request."""
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(Headers(scope=scope).get("cookie", ""))
        except CookieError:
            return ""
        found = cookies.get(self._cookie)
        return "" if found is None else found.value

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), (self._token or "").encode())


def _refuse(reason: str) -> Response:
    return PlainTextResponse(reason, 403)


def _with_headers(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return with_headers
