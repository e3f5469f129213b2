"""A connection to a database that is made again when the server goes away."""

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
_PASSING = ("08", "57", "25P03", "25P04")  # SQLSTATE: connection exception, operator intervention, idle in transaction


class ConnectionLost(Exception):
    """The server went away and did not come back in time."""


class ConnectionClosed(Exception):
    """The connection was closed by its owner."""


class NotYetFree(Exception):
    """The server has not yet noticed that an earlier connection was lost; try again."""


class LastingConnection:
    """Runs transactions on one connection, and on a new one when that is lost.

    Args:
        engine: Makes the connections.
        location: The database, as it may be shown.
        patience: How many seconds to reconnect before giving up; 0 means not at all.
        prepare: Called with each new connection before it is used.
        clock, sleep: How time is measured and passed.

    Attributes:
        is_closed: Whether it was closed.
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
        """Connect for the first time. A failure is an error at once: the address may be wrong."""
        self._connect()

    def run(self, work: Work[Result]) -> Result:
        """Do the work in a transaction. Where the connection is lost it is done again, so it must bear that.

        Raises:
            ConnectionLost: The server did not come back.
            ConnectionClosed: It was closed before.
        """
        if self.is_closed:
            raise ConnectionClosed
        try:
            return self._once(work)
        except (DBAPIError, NotYetFree) as error:
            if not is_lost(error):
                raise
            return self._again(work, error)

    def close(self) -> None:
        """Close the connection; it cannot be used any more."""
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
                self.drop()  # or it would reconnect by itself, without being prepared
            elif isinstance(error, SQLAlchemyError):
                with suppress(Exception):  # a commit that a reader's lock held up leaves its rows pending
                    connection.connection.rollback()
            raise

    def _again(self, work: Work[Result], error: Exception) -> Result:
        """Do the work on a new connection, as soon as there is one."""
        if not self._patience:
            raise ConnectionLost(_said(error)) from error
        began = self._clock()
        _warn(
            f"the connection to {self._location} was lost at {time.strftime('%H:%M:%S')} ({_said(error)}): "
            f"reconnecting for up to {self._patience:g} s"
        )
        for pause in pauses(self._patience, self._clock):
            self._sleep(pause)
            try:
                result = self._once(work)
            except (DBAPIError, NotYetFree) as failure:
                if not is_lost(failure):
                    raise
                error = failure
            else:
                _warn(f"the connection to {self._location} is back after {self._clock() - began:.2f} s")
                return result
        raise ConnectionLost(f"{_said(error)} (reconnecting for {self._patience:g} s did not help)") from error

    def _connect(self) -> sa.Connection:
        connection = self._connection = self._engine.connect()
        try:
            self._prepare(connection)
        except BaseException:
            self.drop()
            raise
        return connection

    def drop(self) -> None:
        """Close the connection at once, without waiting for a server that may not answer. The next use makes a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()
            connection.close()


def pauses(patience: float, clock: Callable[[], float]) -> Iterator[float]:
    """How many seconds to wait before each attempt, until `patience` seconds have passed: twice as long each time."""
    deadline, pause = clock() + patience, _FIRST_PAUSE
    while (left := deadline - clock()) > 0:
        yield min(pause, left)
        pause = min(2 * pause, _LONGEST_PAUSE)


def is_lost(error: BaseException) -> bool:
    """Whether the connection was lost or could not be made, so that another one may help."""
    if isinstance(error, NotYetFree):
        return True
    if not isinstance(error, DBAPIError):
        return False
    code = getattr(error.orig, "sqlstate", "")  # None if the server did not send the error
    unsent = code is None and isinstance(error, OperationalError)
    return error.connection_invalidated or unsent or (code or "").startswith(_PASSING)


def _said(error: Exception) -> str:
    return cause_of(error) if isinstance(error, SQLAlchemyError) else str(error)


def _warn(message: str) -> None:
    warnings.warn(message, ManyarmsWarning, stacklevel=2)
