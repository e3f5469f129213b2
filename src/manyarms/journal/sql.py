"""Journals in a database: SQLite by default, PostgreSQL by its URL."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from ..errors import SchemaError, StorageError, StudyLocked, StudyNotFound
from .lock import FileLock
from .protocol import Event

SCHEMA = 1
_CHUNK = 1000  # rows a read takes at once: a reader's lock lasts a few milliseconds
_BUSY_SECONDS = 60.0
_WAL_IS_SOUND = sqlite3.sqlite_version_info >= (3, 51, 3)  # before, resetting the log could corrupt it


class _Plain(sa.types.UserDefinedType[float]):
    """A column of SQLite without a type: one of its own type for floats turns -0.0 into 0.0."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return ""


_float: sa.types.TypeEngine[float] = sa.Double().with_variant(_Plain(), "sqlite")
_tables = sa.MetaData()
_version = sa.Table("manyarms_version", _tables, sa.Column("version", sa.Integer, nullable=False))
_studies = sa.Table(
    "manyarms_studies",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("header", sa.Text, nullable=False),
)
_events = sa.Table(
    "manyarms_events",
    _tables,
    sa.Column("study", sa.Integer, primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("arm", sa.BigInteger),
    sa.Column("start", sa.BigInteger),
    sa.Column("stop", sa.BigInteger),
    sa.Column("reward", _float),
    sa.Column("seconds", _float),
    sa.Column("data", sa.Text),
    sqlite_with_rowid=False,
)
_snapshots = sa.Table(
    "manyarms_snapshots",
    _tables,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("covered", sa.BigInteger, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
)
_columns = [_events.c[name] for name in ("kind", "arm", "start", "stop", "reward", "seconds", "data")]


class SqlJournal:
    """The record of one study in a database. One writer a study; readers open with `write=False` and change nothing.

    Args:
        url: such as "sqlite:///study.db" or "postgresql://user@host/base"; a plain path is a SQLite file.
        name: of the study.
        write: open for writing, and make the tables where there are none.
    """

    def __init__(self, url: str, name: str, write: bool = True) -> None:
        self.name = name
        self._url = parse_url(url)
        self._write = write
        self._study: int | None = None
        self._header: str | None = None
        self._count = 0
        self._lock: FileLock | None = None
        self._lost = False  # the connection, and with it the lock that a server keeps for it
        with self._speaking("open"):
            self._engine = _engine(self._url, write)
            self._connection = self._engine.connect()
        try:
            with self._speaking("open"):
                _check_schema(self._connection, self._url, write)
                if write:
                    self._acquire()
                self._find()
        except BaseException:
            self.close()
            raise

    @property
    def header(self) -> Mapping[str, Any] | None:
        return None if self._header is None else json.loads(self._header)

    def create(self, header: Mapping[str, Any]) -> None:
        text = json.dumps(header)
        with self._writing():
            row = {"name": self.name, "created": time.time(), "header": text}
            result = self._connection.execute(_studies.insert().values(row))
            study = int(result.inserted_primary_key[0])  # type: ignore[index]
        self._study, self._header = study, text

    def append(self, events: Iterable[Event]) -> None:
        rows = [
            {
                "study": self._study,
                "number": self._count + i,
                "kind": event.kind,
                "arm": event.arm,
                "start": event.start,
                "stop": event.stop,
                "reward": None if event.reward is None else float(event.reward),
                "seconds": None if event.seconds is None else float(event.seconds),
                "data": json.dumps(event.data, allow_nan=False) if event.data else None,
            }
            for i, event in enumerate(events)
        ]
        if not rows:
            return
        with self._writing():
            self._connection.execute(_INSERT, rows)
        self._count += len(rows)

    def events(self, since: int = 0) -> Iterator[Event]:
        if self._study is None:
            return
        query = sa.select(_events.c.number, *_columns).where(_events.c.study == self._study).order_by(_events.c.number)
        while True:
            with self._speaking("read"), self._connection.begin():
                rows = self._connection.execute(query.where(_events.c.number >= since).limit(_CHUNK)).all()
            for number, kind, arm, start, stop, reward, seconds, data in rows:
                yield Event(kind, arm, start, stop, reward, seconds, json.loads(data) if data else {})
                since = number + 1
            if len(rows) < _CHUNK:
                return

    def __len__(self) -> int:
        if not self._write:
            self._find()
        return self._count

    def snapshot(self) -> tuple[int, str] | None:
        query = sa.select(_snapshots.c.covered, _snapshots.c.text).where(_snapshots.c.study == self._study)
        with self._speaking("read"), self._connection.begin():
            row = self._connection.execute(query).first()
        return None if row is None else (row[0], row[1])

    def save_snapshot(self, covered: int, text: str) -> None:
        with self._writing():
            self._connection.execute(_snapshots.delete().where(_snapshots.c.study == self._study))
            self._connection.execute(_snapshots.insert().values(study=self._study, covered=covered, text=text))

    def close(self) -> None:
        self._connection.close()  # on PostgreSQL this also releases the advisory lock: the pool keeps no connection
        self._engine.dispose()
        if self._lock is not None:
            self._lock.release()

    def _find(self) -> None:
        """Look up the study, its header and its length."""
        with self._speaking("read"), self._connection.begin():
            row = self._connection.execute(
                sa.select(_studies.c.id, _studies.c.header).where(_studies.c.name == self.name)
            ).first()
            if row is None:
                if not self._write:
                    names = self._connection.execute(sa.select(_studies.c.name).order_by(_studies.c.id)).scalars().all()
                    raise StudyNotFound(_not_found(self.name, self._url, list(names)))
                return
            self._study, self._header = row
            last = self._connection.execute(
                sa.select(sa.func.max(_events.c.number)).where(_events.c.study == self._study)
            ).scalar()
        self._count = 0 if last is None else last + 1

    def _acquire(self) -> None:
        """Become the only writer of this study."""
        digest = blake2b(self.name.encode(), digest_size=7).digest()
        if self._url.get_backend_name() == "sqlite":
            if not _is_file(self._url):
                return  # nobody else can see it
            file = Path(str(self._url.database)).resolve()  # through a link it is the same study
            self._lock = FileLock(Path(f"{file}-{digest.hex()[:8]}.lock"))
            holder = self._lock.acquire()
            if holder is not None:
                self._lock = None
                raise StudyLocked(_locked(self.name, self._url, f" (process {holder})"))
        else:
            with self._connection.begin():
                free = self._connection.execute(sa.select(sa.func.pg_try_advisory_lock(int.from_bytes(digest, "big")))).scalar()
            if not free:
                raise StudyLocked(_locked(self.name, self._url, ""))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction, done wholly or not at all."""
        if not self._write:
            raise StorageError(self._cannot("write", "it was opened for reading"))
        if self._lost:
            raise StorageError(self._cannot("write", f"the connection was lost; {_REOPEN}"))
        with self._speaking("write"):
            try:
                with self._connection.begin():
                    yield
            except SQLAlchemyError:
                with suppress(Exception):  # a commit that a reader's lock held up leaves its rows pending
                    if not self._connection.invalidated:
                        self._connection.connection.rollback()
                raise

    @contextmanager
    def _speaking(self, verb: str) -> Iterator[None]:
        """Turn the database's errors into one that says what was being done, where, and what to do."""
        try:
            yield
        except SQLAlchemyError as error:
            cause = _cause(error)
            if self._write and getattr(error, "connection_invalidated", False):
                self._lost = True
                cause = f"{cause}; {_REOPEN}"
            raise StorageError(self._cannot(verb, cause)) from error
        except OSError as error:
            raise StorageError(self._cannot(verb, str(error))) from error

    def _cannot(self, verb: str, cause: str) -> str:
        return f"cannot {verb} the journal of study {self.name!r} in {_shown(self._url)}: {cause}"


_INSERT = _events.insert()
_REOPEN = "close the study and open it again: it goes on where the journal ends"


def study_names(url: str) -> list[str]:
    """The names of the studies in a database, oldest first."""
    parsed = parse_url(url)
    engine = _engine(parsed, write=False)
    try:
        with engine.connect() as connection:
            _check_schema(connection, parsed, write=False)
            return list(connection.execute(sa.select(_studies.c.name).order_by(_studies.c.id)).scalars())
    except SQLAlchemyError as error:
        raise StorageError(f"cannot read {_shown(parsed)}: {_cause(error)}") from error
    finally:
        engine.dispose()


def parse_url(url: str) -> URL:
    """A database's URL; a plain path means a SQLite file."""
    if not isinstance(url, str) or not url:
        raise TypeError(f'storage must be a URL such as "sqlite:///study.db" or a path, got {url!r}')
    if "://" not in url:
        return URL.create("sqlite", database=url)
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise ValueError(f'storage must be a URL such as "sqlite:///study.db", got {_hidden(url)!r}') from None
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise ValueError(f"storage must be sqlite or postgresql, got {_hidden(url)!r}")
    if "@" in (parsed.host or ""):
        raise ValueError(f"storage must have @ in its password written as %40, got {_hidden(url)!r}")
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    return parsed


def sqlite_file(url: str) -> Path | None:
    """The file of a SQLite URL, if it has one."""
    parsed = parse_url(url)
    return Path(str(parsed.database)) if _is_file(parsed) else None


def _is_file(url: URL) -> bool:
    return url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")


def _engine(url: URL, write: bool) -> sa.Engine:
    if url.get_backend_name() != "sqlite":
        try:
            return sa.create_engine(url, poolclass=sa.pool.NullPool)
        except (NoSuchModuleError, ImportError) as error:
            raise StorageError(f'storage {_shown(url)} needs a driver: pip install "manyarms[postgresql]" ({error})') from error
    if _is_file(url):
        file = Path(str(url.database))
        if file.is_dir():
            raise StorageError(f"cannot open {_shown(url)}: it is a directory; give a file in it")
        if not write and not file.exists():
            raise StudyNotFound(f"there is no file {str(file)!r}")
        if write and not file.parent.is_dir():
            raise StorageError(f"cannot open {_shown(url)}: there is no directory {str(file.parent)!r}")
    engine = sa.create_engine(
        url, connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False}, poolclass=sa.pool.StaticPool
    )

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: Any) -> None:
        if write:
            connection.execute(f"PRAGMA journal_mode={'WAL' if _WAL_IS_SOUND else 'DELETE'}")
            connection.execute("PRAGMA synchronous=FULL")
        else:
            connection.execute("PRAGMA query_only=ON")  # unlike mode=ro it may still roll back what a killed writer left

    return engine


def _check_schema(connection: sa.Connection, url: URL, write: bool) -> None:
    """Make the tables if there are none; refuse those of another version."""
    with connection.begin():
        if not sa.inspect(connection).has_table(_version.name):
            if not write:
                raise StudyNotFound(f"{_shown(url)} holds no studies")
            if connection.dialect.name == "postgresql":  # two writers may make the tables at once
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7223)"))
            else:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            _tables.create_all(connection)
            if connection.execute(sa.select(_version.c.version)).first() is None:
                connection.execute(_version.insert().values(version=SCHEMA))
        found = connection.execute(sa.select(_version.c.version)).scalar()
    if found != SCHEMA:
        age = "an older" if found is None or found < SCHEMA else "a newer"
        advice = "finish its studies with that version, or give another storage" if age == "an older" else "upgrade manyarms"
        raise SchemaError(
            f"{_shown(url)} was written by {age} version (table layout {found}, this one reads {SCHEMA}): {advice}"
        )


def _cause(error: SQLAlchemyError) -> str:
    """What the database said, in one line."""
    return str(getattr(error, "orig", None) or error).strip().splitlines()[0]


def _shown(url: URL) -> str:
    return url.difference_update_query(["password", "sslpassword"]).render_as_string(hide_password=True)


def _hidden(url: str) -> str:
    """A URL that could not be read: nobody knows where in it the password is."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://..." if "@" in rest or "?" in rest else url


def _locked(name: str, url: URL, holder: str) -> str:
    return (
        f"study {name!r} in {_shown(url)} is being written by another process{holder}: "
        "wait for it, stop it, or give this study another name; load_study opens it for reading"
    )


def _not_found(name: str, url: URL, names: list[str]) -> str:
    known = f"it holds {', '.join(map(repr, names[:10]))}" if names else "it holds none"
    return f"there is no study {name!r} in {_shown(url)}: {known}"
