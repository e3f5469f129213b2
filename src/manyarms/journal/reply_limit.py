"""A connection of psycopg that gives up on a server that has stopped answering.

Neither TCP keepalives nor a timeout on the server end the wait for a server that is frozen: its kernel still answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any, TypeVar

import psycopg

Result = TypeVar("Result")
Exchange = Generator[Any, Any, Result]
"""Messages to and from the server, as psycopg waits for them: it yields what to wait for and is sent what became ready."""


class NoReply(psycopg.OperationalError):
    """The server has sent nothing for too long; the connection is closed."""


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that is closed, with an error, when the server sends nothing for `reply_timeout` seconds while it should."""

    reply_timeout = float("inf")
    clock = staticmethod(time.monotonic)

    def wait(self, gen: Exchange[Result], *args: Any, **options: Any) -> Result:
        """Wait for a reply; everything that psycopg sends after connecting waits here."""
        try:
            return super().wait(limited(gen, self.reply_timeout, self.clock), *args, **options)
        except NoReply:
            self.close()
            raise


def limited(exchange: Exchange[Result], seconds: float, clock: Callable[[], float]) -> Exchange[Result]:
    """The same exchange, ended by `NoReply` once nothing has become ready for so many seconds.

    psycopg sends 0 every 0.1 s while nothing is ready; the clock is only read then, because most replies take far less.
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
