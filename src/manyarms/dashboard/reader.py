"""A connection to the storage that only reads, survives outages, and never holds a lock for long."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from ..errors import ManyarmsError, StudyNotFound
from ..journal.database import cause_of, file_identity, is_file, make_engine, parse_url, place_of, shown_url
from ..journal.layout import heads_table, make_or_check_tables, studies_table
from ..safe_text import safe_text

CHUNK = 5_000
"""Events in one query, which takes a few milliseconds. In SQLite, a writer waits for queries to end."""

_QUICK = {"reconnect_timeout": "0", "reply_timeout": "10s"}  # the page shows that a server is gone, and tries again later


class Unreadable(Exception):
    """The storage or a study cannot be read at the moment. The message is safe to show."""


@dataclass(frozen=True, slots=True)
class StudyHead:
    """A study in the list of studies: its number in the tables, its name, and its number of events."""

    number: int
    name: str
    events: int
    created: float


class StorageReader:
    """Reads the tables of a storage. Can be used by several threads.

    Args:
        storage: The file or URL, as given to `tune` or `Study`.
    """

    def __init__(self, storage: str) -> None:
        self.url = quick_url(storage)
        self._lock = threading.Lock()
        self._connection: sa.Connection | None = None
        self._file: tuple[int, int] | None = None

    @property
    def dialect(self) -> str:
        """The kind of database: "sqlite" or "postgresql"."""
        return self.url.get_backend_name()

    @property
    def shown(self) -> str:
        """The storage as it is shown, without any password."""
        path = str(self.url.database) if is_file(self.url) else shown_url(parse_url(self.url.render_as_string(False)))
        return safe_text(path.partition("?")[0])

    def studies(self) -> list[StudyHead]:
        """All studies, oldest first."""
        studies, heads = studies_table.c, heads_table.c
        query = (
            sa.select(studies.id, studies.name, heads.events, studies.created)
            .join_from(studies_table, heads_table, heads.study == studies.id, isouter=True)
            .order_by(studies.id)
        )
        try:
            rows = self.rows(query)
        except StudyNotFound:  # the tables are not there yet
            return []
        return [StudyHead(row.id, row.name, int(number_or_zero(row.events)), number_or_zero(row.created)) for row in rows]

    def header_text(self, study: int) -> str:
        """The header of a study, as JSON text."""
        rows = self.rows(sa.select(studies_table.c.header).where(studies_table.c.id == study))
        return str(rows[0].header) if rows else ""

    def rows(self, query: sa.Select[Any]) -> Sequence[Any]:
        """The rows of one query, which is a transaction of its own."""
        with self._lock, explained():
            connection = self._connected()
            try:
                with connection.begin():
                    return connection.execute(query).all()
            except BaseException:
                self._disconnect()
                raise

    def quiet_seconds(self) -> float:
        """Seconds since the file of the storage was last written; 0 if that is unknown."""
        if not is_file(self.url):
            return 0.0
        written = []
        for suffix in ("", "-wal"):
            try:
                written.append(os.stat(f"{self.url.database}{suffix}").st_mtime)
            except OSError:
                continue
        return max(0.0, time.time() - max(written)) if written else 0.0

    def close(self) -> None:
        """Close the connection. The next use makes a new one."""
        with self._lock:
            self._disconnect()

    def _connected(self) -> sa.Connection:
        identity = check_file(self.url)
        if self._file != identity:  # an open connection would still read a file that was deleted
            self._disconnect()
        if self._connection is None:
            self._file, self._connection = identity, make_engine(self.url, write=False).connect()
            try:
                make_or_check_tables(self._connection, self.url, write=False)
            except BaseException:
                self._disconnect()
                raise
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):  # it was lost
                connection.close()
            connection.engine.dispose()


def quick_url(storage: str) -> URL:
    """The URL of a storage. A server that does not answer is an error after seconds, not after minutes."""
    url = parse_url(storage)
    return url if url.get_backend_name() == "sqlite" else url.update_query_dict(_QUICK)


def check_file(url: URL) -> tuple[int, int] | None:
    """The identity of the file of a storage. Raises `Unreadable` if the file is missing."""
    identity = file_identity(place_of(url))
    if identity is None and is_file(url):
        raise Unreadable(safe_text(f"there is no file {url.database!r}"))
    return identity


@contextmanager
def explained() -> Iterator[None]:
    """Turn errors of the storage into `Unreadable`, except that a storage without tables or study is `StudyNotFound`."""
    try:
        yield
    except StudyNotFound:
        raise
    except SQLAlchemyError as error:
        raise Unreadable(safe_text(cause_of(error))) from error
    except (ManyarmsError, OSError) as error:
        raise Unreadable(safe_text(error)) from error


def number_or_zero(value: Any) -> float:
    """A number from a column that an untrusted database may have filled with anything."""
    return float(value) if isinstance(value, int | float) else 0.0
