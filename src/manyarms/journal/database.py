"""Databases by URL: SQLite files and PostgreSQL servers."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from ..errors import StorageError, StudyNotFound
from .timeouts import Timeouts

_BUSY_SECONDS = 60.0
_WAL_IS_SOUND = sqlite3.sqlite_version_info >= (3, 51, 3)  # before, resetting the log could corrupt it


def parse_url(url: str) -> URL:
    """The URL of a database; a plain path means a SQLite file."""
    if not isinstance(url, str) or not url:
        raise TypeError(f'storage must be a URL such as "sqlite:///study.db" or a path, got {url!r}')
    if not url.strip() or "\0" in url:
        raise ValueError(f"storage must be a URL or a path that is not blank and has no NUL characters, got {_hidden(url)!r}")
    if "://" not in url:
        if url.startswith(("postgresql:", "postgres:")):  # not a file, whose name would show the password
            raise ValueError(f'storage must begin with "postgresql://" if it is on a server, got "{url.partition(":")[0]}:..."')
        return URL.create("sqlite", database=url)
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise ValueError(f'storage must be a URL such as "sqlite:///study.db", got {_hidden(url)!r}') from None
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise ValueError(f"storage must be sqlite or postgresql, got {_hidden(url)!r}")
    if parsed.get_backend_name() == "sqlite" and ("uri" in parsed.query or (parsed.database or "").startswith("file:")):
        raise ValueError(f"storage must name a SQLite file by its path, not by a file: URI, got {url!r}")
    if "@" in (parsed.host or ""):
        raise ValueError(f"storage must have @ in its password written as %40, got {_hidden(url)!r}")
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    Timeouts.of(parsed)  # refuses what is not a time
    return parsed


def place_of(url: URL) -> Path | str | None:
    """Where a database is, without user, password and options: its file, or its server and name; None if in memory."""
    if url.get_backend_name() != "sqlite":
        host, port = url.host or url.query.get("host") or "", url.port or url.query.get("port") or 5432
        return f"postgresql://{host}:{port}/{url.database or ''}"
    if not is_file(url):
        return None
    file = Path(str(url.database)).absolute()
    return file.resolve() if file.is_symlink() else file


def is_file(url: URL) -> bool:
    """Whether the database is a file, and not a server or memory."""
    return url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")


def file_identity(url: URL) -> tuple[int, int] | None:
    """What tells the file of a database from another one at the same path; None if it is not a file, or is gone."""
    if not is_file(url):
        return None
    try:
        found = os.stat(str(url.database))
    except OSError:
        return None
    return found.st_dev, found.st_ino


def shown_url(url: URL) -> str:
    """The URL as it may be shown and stored: without any password."""
    return url.difference_update_query(["password", "sslpassword"]).render_as_string(hide_password=True)


def shown_storage(url: str) -> str:
    """A storage as it may be shown: a path as it is, a URL without any password."""
    return shown_url(parse_url(url)) if "://" in url else url


def url_to_reopen(url: URL, place: Path | str | None) -> str:
    """The URL or path by which another process finds the database at this place.

    `TypeError` if the URL has a password, which is never stored.
    """
    if url.password is not None or {"password", "sslpassword"} & set(url.query):
        raise TypeError(
            f"a study in {shown_url(url)} cannot be pickled or copied, since its URL has a password, which is never stored: "
            "call load_study where the study is needed"
        )
    if not isinstance(place, Path):
        return url.render_as_string()
    return url.set(database=str(place)).render_as_string() if url.query else str(place)


def make_engine(url: URL, write: bool) -> sa.Engine:
    """An engine with one connection."""
    if url.get_backend_name() != "sqlite":
        from .postgres import make_postgres_engine

        return make_postgres_engine(url)
    if is_file(url):
        _check_file(url, Path(str(url.database)), write)
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


def cause_of(error: SQLAlchemyError) -> str:
    """What the database said, in one line."""
    lines = str(getattr(error, "orig", None) or error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _check_file(url: URL, file: Path, write: bool) -> None:
    if file.is_dir():
        raise StorageError(f"cannot open {shown_url(url)}: it is a directory; give a file in it")
    if not write and not file.exists():
        raise StudyNotFound(f"there is no file {str(file)!r}")
    if write and not file.parent.is_dir():
        raise StorageError(f"cannot open {shown_url(url)}: there is no directory {str(file.parent)!r}")


def _hidden(url: str) -> str:
    """A URL that could not be parsed: nobody knows where in it the password is."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://..." if "@" in rest or "?" in rest else url
