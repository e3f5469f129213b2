"""Journals in a database: SQLite by default, or PostgreSQL."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from ..errors import StorageError, StudyClosed, StudyNotFound
from .appending import appender_for
from .chain import first_checksum, next_checksum, snapshot_checksum
from .connection import ConnectionClosed, ConnectionLost, PersistentConnection, Work
from .database import cause_of, file_identity, make_engine, parse_url, place_of, shown_url, url_to_reopen
from .layout import events_table, heads_table, make_or_check_tables, snapshots_table, studies_table
from .protocol import Event
from .storage import upgrade_tables
from .stored_events import StoredEvents
from .timeouts import Timeouts
from .writer_lock import WriterLock

_REOPEN = "close the study and open it again: it resumes where the journal ends"
_RERUN = "run the search again when the server can be reached"
_OPEN_AGAIN = "open it again with ma.Study(...)"

Result = TypeVar("Result")


class SqlJournal:
    """The record of one study in a database. It has one writer. Readers open it with `write=False`, and change nothing.

    Args:
        url: URL of the database, such as "sqlite:///study.db" or "postgresql://user@host/base". A plain path is a SQLite file.
        name: Name of the study.
        write: Whether to open it for writing, which creates missing tables and upgrades those of an older version.
    """

    def __init__(self, url: str, name: str, write: bool = True) -> None:
        self.name = name
        self._url = parse_url(url)
        self.place = place_of(self._url)  # distinguishes a study from its copies
        self._write = write
        self._study: int | None = None
        self._header: str | None = None
        self._count = 0
        self._checksum = ""  # of the last event
        self._stored: StoredEvents | None = None  # None until the study is created
        self._reconnected = False  # since the last append, so the end of the journal must be looked up
        self._lock = WriterLock(self._url, name)
        if write:
            self._lock.claim(take_over=True)
        with self._explained("open"):
            engine, patience = make_engine(self._url, write), Timeouts.of(self._url).reconnect
        self._appender = appender_for(engine.dialect)
        self._connection = PersistentConnection(engine, self.location, patience, self._prepare)
        try:
            with self._explained("open"):
                self._connection.connect()
            self._find()
            self._reconnected = False
        except BaseException:
            self.close()
            raise
        self._file = file_identity(self.place)

    @property
    def location(self) -> str:
        """The URL of the database, without any password."""
        return shown_url(self._url)

    @property
    def header(self) -> Mapping[str, Any] | None:
        if self._header is None:
            return None
        try:
            header = json.loads(self._header)
        except ValueError as error:
            raise self._corrupt(f"the header is not JSON ({error})") from error
        if not isinstance(header, dict):
            raise self._corrupt(f"the header must be a JSON object, but is {type(header).__name__} {header!r:.80}")
        return header

    def create(self, header: Mapping[str, Any]) -> None:
        text = json.dumps(header)
        checksum = first_checksum(text)
        row = {"name": self.name, "created": time.time(), "header": text}

        def create(connection: sa.Connection) -> int:
            found = connection.execute(sa.select(studies_table).where(studies_table.c.name == self.name)).first()
            if found is not None and found.header == text:
                return int(found.id)  # created by an attempt whose reply was lost
            study = int(connection.execute(studies_table.insert().values(row)).inserted_primary_key[0])  # type: ignore[index]
            connection.execute(heads_table.insert().values(study=study, events=0, checksum=checksum))
            return study

        study = self._write_with(create)
        self._study, self._header, self._checksum = study, text, checksum
        self._stored = self._events_of(study, text)

    def append(self, events: Iterable[Event]) -> None:
        rows, number, checksum = [], self._count, self._checksum
        for event in events:
            content = (number, *_columns(event))
            checksum = next_checksum(checksum, content)
            rows.append((self._study, *content, checksum))
            number += 1
        if not rows:
            return
        self._write_with(lambda connection: self._append(connection, rows))
        self._count, self._checksum, self._reconnected = number, checksum, False

    def _append(self, connection: sa.Connection, rows: list[tuple[Any, ...]]) -> None:
        rows = self._unwritten(connection, rows) if self._reconnected else rows
        if rows:
            self._appender.append(connection, rows)

    def _unwritten(self, connection: sa.Connection, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """The rows that are not in the journal yet. An attempt whose reply was lost may have written some or all of them."""
        query = sa.select(heads_table.c.checksum).where(heads_table.c.study == self._study)
        found = connection.execute(query).scalar()
        checksums = [self._checksum, *(row[-1] for row in rows)]
        if found not in checksums:
            gone = "it no longer exists" if found is None else f"another process has written to it; {_REOPEN}"
            raise StorageError(self._cannot("write", gone))
        return rows[checksums.index(found) :]

    def events(self, since: int = 0) -> Iterator[Event]:
        return iter(()) if self._stored is None else self._stored.events(since, self._until)

    def check(self) -> None:
        """Compare all events with their checksums.

        Raises:
            StorageError: An event does not match. The message names the first one.
        """
        if self._stored is not None:
            self._stored.check(self._count, self._until)

    def select(self, query: sa.Select[Any]) -> Sequence[Any]:
        """The rows of a query on the events. Their checksums are not checked."""
        return self._rows(query)

    @property
    def study(self) -> int | None:
        """The number of the study in the tables; None until it is created."""
        return self._study

    @property
    def dialect(self) -> str:
        """The kind of database: "sqlite" or "postgresql"."""
        return self._url.get_backend_name()

    def __len__(self) -> int:
        if not self._write:
            self._find()
        return self._count

    def snapshot(self) -> tuple[int, str] | None:
        return self._snapshot("state")

    def save_snapshot(self, covered: int, text: str) -> None:
        self._save_snapshot("state", covered, text)

    def recommendation(self) -> tuple[int, str] | None:
        return self._snapshot("recommendation")

    def save_recommendation(self, covered: int, text: str) -> None:
        self._save_snapshot("recommendation", covered, text)

    def leader(self) -> str | None:
        """Where other processes can join the study, as text that `save_leader` stored; None if they cannot."""
        stored = self._snapshot("leader")
        return None if stored is None else stored[1] or None

    def save_leader(self, text: str | None) -> None:
        """Store where other processes can join the study; None if they cannot."""
        self._save_snapshot("leader", 0, text or "")

    @property
    def yields(self) -> bool:
        """Whether a journal opened later in this process may take over the lock while it is not in use."""
        return self._lock.yields

    @yields.setter
    def yields(self, yields: bool) -> None:
        self._lock.yields = yields

    @property
    def is_writer(self) -> bool:
        return self._lock.is_held

    def writing(self) -> AbstractContextManager[None]:
        return self._lock.in_use()

    def acquire(self) -> None:
        self._check_writable()
        self._lock.claim()
        try:
            with self._lock.in_use():
                self._connect_again()
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        with suppress(SQLAlchemyError):  # the connection was lost, and the lock with it
            self._lock.release()
        if self.dialect == "postgresql":
            self._connection.drop()  # connections to a server are limited, and reading opens a new one

    def close(self) -> None:
        with suppress(SQLAlchemyError):  # the connection was lost, and the lock with it
            self._lock.release()
        self._connection.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle or copy a reader as the arguments that open it again, also in another process."""
        if self._write:
            raise TypeError(
                f"study {self.name!r} cannot be pickled or copied while it is open for writing: open it with load_study instead"
            )
        return SqlJournal, (url_to_reopen(self._url, self.place), self.name, False)

    def _connect_again(self) -> None:
        """Make a new connection, which takes the lock, and look up the end of the journal."""
        if self.place is not None:  # a database in memory would be lost with its connection
            self._check_file()
            self._connection.drop()
        self._run("open", lambda connection: None)
        self._find_again()
        self._reconnected = False

    def _check_file(self) -> None:
        if file_identity(self.place) != self._file:
            raise StorageError(self._cannot("write", f"the file was deleted or replaced since it was opened; {_OPEN_AGAIN}"))

    def _prepare(self, connection: sa.Connection) -> None:
        """Prepare a new connection: create or check the tables, and take the lock if this object writes."""
        self._reconnected, writes = True, self._lock.is_held
        make_or_check_tables(connection, self._url, writes)
        if writes:
            self._lock.acquire(connection)
            upgrade_tables(connection, self._url, locked=self.name)

    def _snapshot(self, kind: str) -> tuple[int, str] | None:
        """A stored snapshot of this kind, and the number of events it covers; None if there is none, or it is corrupt."""
        table = snapshots_table.c
        query = sa.select(table.covered, table.text, table.checksum).where(table.study == self._study, table.kind == kind)
        row = self._first(query)
        if row is None or row.checksum != snapshot_checksum(self._header or "", kind, row.covered, row.text):
            return None  # not an error: a snapshot can always be made again
        return row.covered, row.text

    def _save_snapshot(self, kind: str, covered: int, text: str) -> None:
        table = snapshots_table
        checksum = snapshot_checksum(self._header or "", kind, covered, text)
        row = {"study": self._study, "kind": kind, "covered": covered, "text": text, "checksum": checksum}

        def save(connection: sa.Connection) -> None:
            connection.execute(table.delete().where(table.c.study == self._study, table.c.kind == kind))
            connection.execute(table.insert().values(row))

        self._write_with(save)

    def _find(self) -> None:
        """Look up the study, its header and its length."""
        studies, heads, events = studies_table.c, heads_table.c, events_table.c
        last = sa.select(sa.func.max(events.number)).where(events.study == studies.id).scalar_subquery()
        query = (
            sa.select(studies.id, studies.header, heads.events, heads.checksum, last.label("last"))
            .join_from(studies_table, heads_table, heads.study == studies.id, isouter=True)
            .where(studies.name == self.name)
        )
        row = self._first(query)
        if row is None and (self._study is not None or not self._write):
            names = [name for (name,) in self._rows(sa.select(studies.name).order_by(studies.id))]
            raise StudyNotFound(_not_found(self.name, self.location, names))
        if row is None:
            return
        if self._stored is None or (self._study, self._header) != (row.id, row.header):
            self._stored = self._events_of(row.id, row.header)
        self._study, self._header, self._count, self._checksum = row.id, row.header, row.events or 0, row.checksum
        self._check_end(row, self._stored)

    def _find_again(self) -> None:
        """Look up how far others have continued the study.

        Raises:
            StorageError: The stored journal does not continue the one that this object knows.
        """
        known = self._study, self._header, self._count, self._checksum, self._stored
        study, header, count, checksum, stored = known
        self._find()
        wrong = None
        if (self._study, self._header) != (study, header):
            wrong = "it was deleted and created again"
        elif self._count < count or (stored is not None and stored.checksum_before(count) != checksum):
            wrong = "it was replaced by an older or another copy"
        if wrong is not None:
            self._study, self._header, self._count, self._checksum, self._stored = known
            raise StorageError(self._cannot("write", f"{wrong} since it was opened; {_OPEN_AGAIN}"))

    def _check_end(self, row: Any, stored: StoredEvents) -> None:
        """Compare the number of events and the last checksum, which the head has, with the last event."""
        length = 0 if row.last is None else row.last + 1
        if row.events is None or length > row.events:
            raise self._corrupt(f"event {row.events or 0} was not written by a study")
        if length < row.events:
            raise self._corrupt(f"event {length} and all events after it, {row.events - length} in total, are missing")
        if stored.checksum_before(length) != row.checksum:
            last = f"event {length - 1}" if length else "the header"
            raise self._corrupt(f"{last} does not match the checksum at the end of the journal")

    def _corrupt(self, what: str) -> StorageError:
        """The error for a journal that was changed since it was written."""
        return StorageError(
            f"the journal of study {self.name!r} in {self.location} is corrupt: {what}. Restore the storage from a backup"
        )

    @property
    def _until(self) -> int | None:
        """The number of events that a writer knows, as others may write while the lock is released; None for a reader."""
        return self._count if self._write else None

    def _events_of(self, study: int, header: str) -> StoredEvents:
        return StoredEvents(study, header, lambda work: self._run("read", work), self._corrupt)

    def _rows(self, query: sa.Select[Any]) -> Sequence[Any]:
        return self._run("read", _all(query))

    def _first(self, query: sa.Select[Any]) -> Any:
        return self._run("read", lambda connection: connection.execute(query).first())

    def _write_with(self, work: Work[Result]) -> Result:
        """Write in a transaction, completely or not at all, and only once even if the connection is lost."""
        self._check_writable()
        with self._lock.in_use():
            return self._run("write", work)

    def _run(self, verb: str, work: Work[Result]) -> Result:
        try:
            return self._connection.run(work)
        except Exception:
            with self._explained(verb):  # only on errors: a context manager around every append would be slow
                raise

    def _check_writable(self) -> None:
        if not self._write:
            raise StorageError(self._cannot("write", "it was opened for reading"))
        if self._connection.is_closed:
            raise self._closed()

    def _closed(self) -> StudyClosed:
        again = "open it again with load_study to read it, or with ma.Study(...) to continue it"
        return StudyClosed(f"study {self.name!r} is closed: {again}")

    @contextmanager
    def _explained(self, verb: str) -> Iterator[None]:
        """Turn errors of the database into errors that say what failed, where, and what to do."""
        try:
            yield
        except ConnectionClosed:
            raise self._closed() from None
        except SQLAlchemyError as error:
            raise StorageError(self._cannot(verb, cause_of(error))) from error
        except ConnectionLost as error:
            raise StorageError(self._cannot(verb, f"{error}; {_RERUN}")) from error
        except OSError as error:
            raise StorageError(self._cannot(verb, str(error))) from error

    def _cannot(self, verb: str, cause: str) -> str:
        return f"cannot {verb} the journal of study {self.name!r} in {self.location}: {cause}"


def _all(query: sa.Select[Any]) -> Work[Sequence[Any]]:
    return lambda connection: connection.execute(query).all()


def _columns(event: Event) -> tuple[Any, ...]:
    """An event as it is stored, without its number."""
    return (
        event.kind,
        event.arm,
        event.start,
        event.stop,
        None if event.reward is None else float(event.reward),
        None if event.seconds is None else float(event.seconds),
        json.dumps(event.data, allow_nan=False) if event.data else None,
    )


def _not_found(name: str, location: str, names: list[str]) -> str:
    known = f"it contains {', '.join(map(repr, names[:10]))}" if names else "it contains no studies"
    return f"there is no study {name!r} in {location}: {known}"
