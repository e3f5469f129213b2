"""The lock that ensures that a study has only one writer."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from ..errors import StudyLocked
from .connection import StillLocked
from .database import is_file, place_of, shown_url
from .lock import FileLock

_END_OWN = sa.text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()"
)
_WAIT = "wait for it, stop it, or give this study another name; load_study opens it for reading"
_USE_THAT = "use that object, or close it first with its close(); load_study opens the study for reading"


class WriterLock:
    """A lock that is held until `release` is called, or the process or connection of its holder ends.

    It is a lock file next to a SQLite file, and an advisory lock in PostgreSQL. A database in memory needs none. Within one
    process, a newer object takes over the lock from an older one that yields it and is not in use, for example when a cell of
    a notebook is run again.

    Args:
        url: URL of the database.
        name: Name of the study.

    Attributes:
        yields: Whether a newer object of this process may take over the lock.
    """

    def __init__(self, url: URL, name: str) -> None:
        self.yields = False
        self._url, self._name = url, name
        digest = blake2b(name.encode(), digest_size=7).digest()
        self._number = int.from_bytes(digest, "big")
        file = Path(str(url.database)).resolve() if is_file(url) else None  # a link leads to the same study
        path = None if file is None else Path(f"{file}-{digest.hex()[:8]}.lock")
        self._file = None if path is None else FileLock(path)
        self._key = str(path) if path is not None else f"{place_of(url)} {name}" if self._is_on_server else None
        self._connection: sa.Connection | None = None  # the connection that holds the lock, or held it last
        self._claimed = False
        self._uses = 0
        self._mutex = threading.Lock()
        self._process = os.getpid()

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock, or is about to take it."""
        return self._claimed and self._process == os.getpid()

    def claim(self, take_over: bool = False) -> None:
        """Mark this object as the next holder. With `take_over`, an older object of this process may yield the lock to it."""
        self._check_process()
        if take_over and (holder := self._other_holder()) is not None:
            holder._yield()
        self._claimed = True

    def acquire(self, connection: sa.Connection) -> None:
        """Take the lock, also if it was lost with an earlier connection.

        Raises:
            StudyLocked: Another process, or another object of this process, holds it.
            StillLocked: The server still holds it for the earlier connection.
        """
        if self._file is not None:
            process = self._file.acquire() if self._connection is None else None
            if process is not None:
                raise self._refusal(f"is being written by another process (process {process})")
        elif self._is_on_server:
            self._acquire_on_server(connection)
        self._connection = connection
        if self._key is not None:
            _register(self._key, self)

    def release(self) -> None:
        """Release the lock, so that others can write. PostgreSQL also does this when the connection is closed."""
        self._claimed = False
        connection, self._connection = self._connection, None
        if self._file is not None:
            self._file.release()
        elif self._is_on_server and connection is not None and self._is_usable(connection):
            _call(connection, sa.func.pg_advisory_unlock(self._number))

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """A context in which no other object can take over the lock.

        Raises:
            StudyLocked: This object does not hold the lock.
        """
        self._check_process()
        with self._mutex:
            if not self._claimed:
                raise StudyLocked(f"{self._described} is no longer locked by this object: open it again with ma.Study(...)")
            self._uses += 1
        try:
            yield
        finally:
            with self._mutex:
                self._uses -= 1

    def _is_usable(self, connection: sa.Connection) -> bool:
        own = self._process == os.getpid()  # a forked process must not use the connection of its parent
        return own and not connection.closed and not connection.invalidated

    @property
    def _is_on_server(self) -> bool:
        return self._url.get_backend_name() == "postgresql"

    @property
    def _described(self) -> str:
        return f"study {self._name!r} in {shown_url(self._url)}"

    def _yield(self) -> None:
        """Release the lock for a newer object of this process, unless it is in use or may not be taken over."""
        with self._mutex:
            if self.yields and not self._uses and self._claimed:
                with suppress(SQLAlchemyError):  # the connection is lost, and the lock with it
                    self.release()

    def _check_process(self) -> None:
        if self._process != os.getpid():
            raise StudyLocked(
                f"{self._described} was opened by process {self._process}, from which this process was forked: "
                "open it again with ma.Study(...) after that process has released it"
            )

    def _other_holder(self) -> WriterLock | None:
        holder = None if self._key is None else _registered(self._key)
        return holder if holder is not None and holder is not self and holder.is_held else None

    def _acquire_on_server(self, connection: sa.Connection) -> None:
        """Take the lock. A session whose connection was lost may still exist on the server, and is ended first."""
        again = self._connection is not None
        ended = _end_own_sessions(connection) if again else 0
        if _call(connection, sa.func.pg_try_advisory_lock(self._number)):
            return
        if ended:
            raise StillLocked("the server still holds the lock of the study for the connection that was lost")
        if again:
            raise StudyLocked(
                f"{self._described} was taken over by another process while the connection to it was lost: {_WAIT}"
            )
        hint = ". If that process lost its connection, the server releases the study within about a minute"
        raise self._refusal("is being written by another process", hint)

    def _refusal(self, state: str, hint: str = "") -> StudyLocked:
        """The error that says what holds the lock, and what to do."""
        holder = self._other_holder()
        if holder is None:
            return StudyLocked(f"{self._described} {state}: {_WAIT}{hint}")
        if holder._uses:
            return StudyLocked(
                f"{self._described} is being written in this process, by a Study object inside optimize, in another thread or "
                "around this callback: wait until optimize returns, or call stop() on that object"
            )
        return StudyLocked(f"{self._described} is held by another Study object in this process: {_USE_THAT}")


_guard = threading.Lock()
_holders: weakref.WeakValueDictionary[str, WriterLock] = weakref.WeakValueDictionary()  # the last object that took each lock


def _register(key: str, lock: WriterLock) -> None:
    with _guard:
        _holders[key] = lock


def _registered(key: str) -> WriterLock | None:
    with _guard:
        return _holders.get(key)


def _forget_all() -> None:
    global _guard
    _guard = threading.Lock()  # another thread of the parent may have held it
    _holders.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)  # the parent process holds these locks


def _end_own_sessions(connection: sa.Connection) -> int:
    """End the other sessions of this engine, which uses only one at a time. Returns their number."""
    with connection.begin():
        return len(connection.execute(_END_OWN).all())


def _call(connection: sa.Connection, function: sa.Function[Any]) -> bool:
    with connection.begin():
        return bool(connection.execute(sa.select(function)).scalar())
