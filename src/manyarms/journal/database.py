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
_WAL_IS_SOUND = sqlite3.sqlite_version_info >= (3, 51, 3)  # older versions can corrupt the file when they reset the log


def parse_url(url: str) -> URL:
    """Parse the URL of a database. A plain path means a SQLite file."""
    if not isinstance(url, str) or not url:
        raise TypeError(f'storage must be a URL such as "sqlite:///study.db" or a path, got {url!r}')
    if not url.strip() or "\0" in url:
        raise ValueError(f"storage must be a URL or a path that is not blank and has no NUL characters, got {_hidden(url)!r}")
    if "://" not in url:
        if url.startswith(("postgresql:", "postgres:")):  # as a file name, it would show the password
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
        raise ValueError(f"storage must have @ in the password written as %40, got {_hidden(url)!r}")
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    Timeouts.of(parsed)  # raises if a time limit is not valid
    return parsed


def place_of(url: URL) -> Path | str | None:
    """The file of a database, or its server and name without user, password and options; None if it is in memory."""
    if url.get_backend_name() != "sqlite":
        host, port = url.host or url.query.get("host") or "", url.port or url.query.get("port") or 5432
        return f"postgresql://{host}:{port}/{url.database or ''}"
    if not is_file(url):
        return None
    file = Path(str(url.database)).absolute()
    return file.resolve() if file.is_symlink() else file


def is_file(url: URL) -> bool:
    """Whether the database is a file, not on a server or in memory."""
    return url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")


def file_identity(place: Path | str | None) -> tuple[int, int] | None:
    """Device and inode of the file of a database, to notice if it is replaced; None if it is not a file or does not exist.

    Args:
        place: The result of `place_of` when the database was opened; the current directory may have changed since then.
    """
    if not isinstance(place, Path):
        return None
    try:
        found = os.stat(place)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def shown_url(url: URL) -> str:
    """The URL without any password, to be shown and stored."""
    return url.difference_update_query(["password", "sslpassword"]).render_as_string(hide_password=True)


def shown_storage(url: str) -> str:
    """A storage as it is shown: a path unchanged, a URL without any password."""
    return shown_url(parse_url(url)) if "://" in url else url


def url_to_reopen(url: URL, place: Path | str | None) -> str:
    """The URL or path by which another process can open the database at this place.

    Raises:
        TypeError: The URL has a password, which is never stored.
    """
    if url.password is not None or {"password", "sslpassword"} & set(url.query):
        raise TypeError(
            f"a study in {shown_url(url)} cannot be pickled or copied, because its URL has a password, which is never "
            "stored: call load_study where you need the study"
        )
    if not isinstance(place, Path):
        return url.render_as_string()
    return url.set(database=str(place)).render_as_string() if url.query else str(place)


def make_engine(url: URL, write: bool) -> sa.Engine:
    """Make an engine with one connection."""
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
            connection.execute(
                "PRAGMA query_only=ON"
            )  # unlike mode=ro, this can roll back what a killed writer left unfinished

    return engine


def cause_of(error: SQLAlchemyError) -> str:
    """The database's error message, on one line."""
    lines = str(getattr(error, "orig", None) or error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _check_file(url: URL, file: Path, write: bool) -> None:
    if file.is_dir():
        raise StorageError(f"cannot open {shown_url(url)}: it is a directory; give the path of a file")
    if not write and not file.exists():
        raise StudyNotFound(f"there is no file {str(file)!r}")
    if write and not file.parent.is_dir():
        raise StorageError(f"cannot open {shown_url(url)}: there is no directory {str(file.parent)!r}")


def _hidden(url: str) -> str:
    """A URL that could not be parsed, without everything that may be a password."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://..." if "@" in rest or "?" in rest else url
