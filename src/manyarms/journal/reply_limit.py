"""A psycopg connection that stops waiting for a server that does not reply.

Neither TCP keepalives nor timeouts of the server end the wait for a frozen server, because its kernel still answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any, TypeVar

import psycopg

Result = TypeVar("Result")
Exchange = Generator[Any, Any, Result]
"""A generator that communicates with the server: it yields what to wait for, and is sent what became ready."""


class NoReply(psycopg.OperationalError):
    """The server has not replied in time, and the connection was closed."""


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that raises `NoReply` and is closed if the server does not reply for `reply_timeout` seconds."""

    reply_timeout = float("inf")
    clock = staticmethod(time.monotonic)

    def wait(self, gen: Exchange[Result], *args: Any, **options: Any) -> Result:
        """Wait for a reply. psycopg calls this for everything that it sends after connecting."""
        try:
            return super().wait(limited(gen, self.reply_timeout, self.clock), *args, **options)
        except NoReply:
            self.close()
            raise


def limited(exchange: Exchange[Result], seconds: float, clock: Callable[[], float]) -> Exchange[Result]:
    """The same exchange, which raises `NoReply` if nothing becomes ready for this many seconds.

    psycopg sends 0 every 0.1 s while nothing is ready. The clock is only read then, because most replies are much faster.
    """
    ready, silent_since = None, None
    try:
        while True:
            ready = yield exchange.send(ready)
            if ready:
                silent_since = None
            elif silent_since is None:
                silent_since = clock()
            elif clock() - silent_since >= seconds:
                raise NoReply(f"the server has not replied for {seconds:g} s")
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
