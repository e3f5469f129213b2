"""A database connection that reconnects when the server goes away."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from ..errors import ManyarmsWarning
from .database import cause_of

Result = TypeVar("Result")
Work = Callable[[sa.Connection], Result]

_FIRST_PAUSE = 0.1  # seconds before the first attempt to reconnect; each pause is twice the one before
_LONGEST_PAUSE = 15.0
_TEMPORARY = ("08", "57", "25P03", "25P04")  # SQLSTATE: connection exception, operator intervention, idle in transaction


class ConnectionLost(Exception):
    """The server went away and did not come back in time."""


class ConnectionClosed(Exception):
    """The connection was closed by its owner, and cannot be used again."""


class StillLocked(Exception):
    """The server still holds the lock for a connection that was lost. Try again."""


class PersistentConnection:
    """Runs transactions on one connection, and on a new one if that is lost.

    Args:
        engine: The engine that makes connections.
        location: The database, as it is shown in messages, without a password.
        patience: Seconds to try to reconnect before giving up; 0 means that it never reconnects.
        prepare: Called with each new connection before it is used.
        clock, sleep: Functions that measure time and wait.

    Attributes:
        is_closed: Whether the connection was closed.
    """

    def __init__(
        self,
        engine: sa.Engine,
        location: str,
        patience: float,
        prepare: Callable[[sa.Connection], None],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._engine, self._location, self._patience, self._prepare = engine, location, patience, prepare
        self._clock, self._sleep = clock, sleep
        self._connection: sa.Connection | None = None
        self.is_closed = False

    def connect(self) -> None:
        """Connect for the first time. A failure is raised at once, because the address may be wrong."""
        self._connect()

    def run(self, work: Work[Result]) -> Result:
        """Do the work in a transaction. If the connection is lost, the work is repeated, so it must be safe to repeat.

        Raises:
            ConnectionLost: The server did not come back.
            ConnectionClosed: The connection was closed.
        """
        if self.is_closed:
            raise ConnectionClosed
        try:
            return self._once(work)
        except (DBAPIError, StillLocked) as error:
            if not is_lost(error):
                raise
            return self._retry(work, error)

    def close(self) -> None:
        """Close the connection. It cannot be used again."""
        self.is_closed = True
        if self._connection is not None:
            self._connection.close()
        self._engine.dispose()

    def _once(self, work: Work[Result]) -> Result:
        connection = self._connection or self._connect()
        try:
            with connection.begin():
                return work(connection)
        except BaseException as error:
            if connection.invalidated or is_lost(error):
                self.drop()  # otherwise SQLAlchemy would reconnect without preparing the connection
            elif isinstance(error, SQLAlchemyError):
                with suppress(Exception):  # a commit that a reader's lock prevented leaves its rows pending
                    connection.connection.rollback()
            raise

    def _retry(self, work: Work[Result], error: Exception) -> Result:
        """Reconnect, and do the work on the new connection."""
        if not self._patience:
            raise ConnectionLost(_message_of(error)) from error
        began = self._clock()
        _warn(
            f"the connection to {self._location} was lost at {time.strftime('%H:%M:%S')} ({_message_of(error)}): "
            f"trying to reconnect for up to {self._patience:g} s"
        )
        for pause in pauses(self._patience, self._clock):
            self._sleep(pause)
            try:
                result = self._once(work)
            except (DBAPIError, StillLocked) as failure:
                if not is_lost(failure):
                    raise
                error = failure
            else:
                _warn(f"the connection to {self._location} was restored after {self._clock() - began:.2f} s")
                return result
        raise ConnectionLost(f"{_message_of(error)} (gave up reconnecting after {self._patience:g} s)") from error

    def _connect(self) -> sa.Connection:
        connection = self._connection = self._engine.connect()
        try:
            self._prepare(connection)
        except BaseException:
            self.drop()
            raise
        return connection

    def drop(self) -> None:
        """Close the connection without waiting for a server that may not answer. The next use makes a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()
            connection.close()


def pauses(patience: float, clock: Callable[[], float]) -> Iterator[float]:
    """Seconds to wait before each attempt, doubled each time, until `patience` seconds have passed."""
    deadline, pause = clock() + patience, _FIRST_PAUSE
    while (left := deadline - clock()) > 0:
        yield min(pause, left)
        pause = min(2 * pause, _LONGEST_PAUSE)


def is_lost(error: BaseException) -> bool:
    """Whether the error means that the connection was lost or could not be made, so that reconnecting may help."""
    if isinstance(error, StillLocked):
        return True
    if not isinstance(error, DBAPIError):
        return False
    code = getattr(error.orig, "sqlstate", "")  # None if the error did not come from the server
    unsent = code is None and isinstance(error, OperationalError)
    return error.connection_invalidated or unsent or (code or "").startswith(_TEMPORARY)


def _message_of(error: Exception) -> str:
    return cause_of(error) if isinstance(error, SQLAlchemyError) else str(error)


def _warn(message: str) -> None:
    warnings.warn(message, ManyarmsWarning, stacklevel=2)
