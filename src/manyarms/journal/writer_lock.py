"""The lock that makes its holder the only writer of a study."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import URL

from ..errors import StudyLocked
from .database import is_file, shown_url
from .lock import FileLock


class WriterLock:
    """Released by `release`, or when the holder's process or connection ends.

    A lock file beside a SQLite file, an advisory lock in PostgreSQL; a database in memory needs none.

    Args:
        connection: The connection of the writer.
        url: The URL of the database.
        name: The name of the study.
    """

    def __init__(self, connection: sa.Connection, url: URL, name: str) -> None:
        self._connection, self._url, self._name = connection, url, name
        digest = blake2b(name.encode(), digest_size=7).digest()
        self._key = int.from_bytes(digest, "big")
        file = Path(str(url.database)).resolve() if is_file(url) else None  # through a link it is the same study
        self._file = None if file is None else FileLock(Path(f"{file}-{digest.hex()[:8]}.lock"))

    def acquire(self) -> None:
        """Take the lock, or raise `StudyLocked` if another process has it."""
        if self._file is not None:
            holder = self._file.acquire()
            if holder is not None:
                raise StudyLocked(self._refusal(f" (process {holder})"))
        elif self._url.get_backend_name() == "postgresql" and not self._call("pg_try_advisory_lock"):
            raise StudyLocked(self._refusal(""))

    def release(self) -> None:
        """Let another process write. PostgreSQL also does this when the connection is closed."""
        if self._file is not None:
            self._file.release()
        elif self._url.get_backend_name() == "postgresql" and not self._connection.closed:
            self._call("pg_advisory_unlock")

    def _call(self, function: str) -> bool:
        with self._connection.begin():
            return bool(self._connection.execute(sa.select(getattr(sa.func, function)(self._key))).scalar())

    def _refusal(self, holder: str) -> str:
        return (
            f"study {self._name!r} in {shown_url(self._url)} is being written by another process{holder}: "
            "wait for it, stop it, or give this study another name; load_study opens it for reading"
        )
