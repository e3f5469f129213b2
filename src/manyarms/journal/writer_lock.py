"""The lock that makes its holder the only writer of a study."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL

from ..errors import StudyLocked
from .connection import NotYetFree
from .database import is_file, shown_url
from .lock import FileLock

_END_OWN = sa.text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()"
)


class WriterLock:
    """Released by `release`, or when the holder's process or connection ends.

    A lock file beside a SQLite file, an advisory lock in PostgreSQL; a database in memory needs none.

    Args:
        url: The URL of the database.
        name: The name of the study.
    """

    def __init__(self, url: URL, name: str) -> None:
        self._url, self._name = url, name
        digest = blake2b(name.encode(), digest_size=7).digest()
        self._key = int.from_bytes(digest, "big")
        file = Path(str(url.database)).resolve() if is_file(url) else None  # through a link it is the same study
        self._file = None if file is None else FileLock(Path(f"{file}-{digest.hex()[:8]}.lock"))
        self._connection: sa.Connection | None = None  # the one that holds the lock, or did

    def acquire(self, connection: sa.Connection) -> None:
        """Take the lock; again, where it was lost with an earlier connection.

        Raises:
            StudyLocked: Another process has it.
            NotYetFree: The server still keeps it for the earlier connection.
        """
        if self._file is not None:
            holder = self._file.acquire() if self._connection is None else None
            if holder is not None:
                raise StudyLocked(self._refusal(f"is being written by another process (process {holder})"))
        elif self._url.get_backend_name() == "postgresql":
            self._acquire_on_server(connection)
        self._connection = connection

    def release(self) -> None:
        """Let another process write. PostgreSQL also does this when the connection is closed."""
        if self._file is not None:
            self._file.release()
        elif self._url.get_backend_name() == "postgresql" and self._connection is not None and not self._connection.closed:
            _call(self._connection, sa.func.pg_advisory_unlock(self._key))
        self._connection = None

    def _acquire_on_server(self, connection: sa.Connection) -> None:
        """Take the lock. A session whose connection was cut may live on in the server, and is ended first."""
        again = self._connection is not None
        ended = _end_own_sessions(connection) if again else 0
        if _call(connection, sa.func.pg_try_advisory_lock(self._key)):
            return
        if ended:
            raise NotYetFree("the server still keeps the study locked for the connection that was lost")
        if again:
            raise StudyLocked(self._refusal("was taken over by another process while the connection to it was lost"))
        hint = ". If that process lost its connection, the server frees the study within about a minute"
        raise StudyLocked(self._refusal("is being written by another process") + hint)

    def _refusal(self, state: str) -> str:
        return (
            f"study {self._name!r} in {shown_url(self._url)} {state}: "
            "wait for it, stop it, or give this study another name; load_study opens it for reading"
        )


def _end_own_sessions(connection: sa.Connection) -> int:
    """End the other sessions of the same engine, which has only one at a time in use; how many there were."""
    with connection.begin():
        return len(connection.execute(_END_OWN).all())


def _call(connection: sa.Connection, function: sa.Function[Any]) -> bool:
    with connection.begin():
        return bool(connection.execute(sa.select(function)).scalar())
