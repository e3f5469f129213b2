"""A database as a whole: the names of its studies, and the upgrade of its tables."""

from __future__ import annotations

from contextlib import ExitStack

import sqlalchemy as sa
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from ..errors import OldLayout, StorageError
from .database import cause_of, make_engine, parse_url, shown_url
from .layout import make_or_check_tables, needs_upgrade, studies_table, upgrade
from .writer_lock import WriterLock


def study_names(url: str) -> list[str]:
    """The names of the studies in a database, oldest first."""
    parsed = parse_url(url)
    engine = make_engine(parsed, write=False)
    try:
        with engine.connect() as connection:
            make_or_check_tables(connection, parsed, write=False)
            return _names(connection)
    except SQLAlchemyError as error:
        raise StorageError(f"cannot read {shown_url(parsed)}: {cause_of(error)}") from error
    finally:
        engine.dispose()


def upgrade_storage(url: str) -> bool:
    """Upgrade the tables of a database to the current layout. Returns False if they have it already."""
    parsed = parse_url(url)
    try:
        study_names(url)  # raises if there are no studies: nothing is written to such a database
        return False
    except OldLayout:
        pass
    engine = make_engine(parsed, write=True)
    try:
        with engine.connect() as connection:
            return upgrade_tables(connection, parsed)
    except SQLAlchemyError as error:
        raise StorageError(f"cannot upgrade {shown_url(parsed)}: {cause_of(error)}") from error
    finally:
        engine.dispose()


def upgrade_tables(connection: sa.Connection, url: URL, locked: str | None = None) -> bool:
    """Upgrade the tables if needed, while nobody else writes any of the studies.

    Args:
        connection: A connection to the database.
        url: The URL of the database.
        locked: The study that the caller has locked already.

    Returns:
        Whether they were upgraded.
    """
    if not needs_upgrade(connection):
        return False
    with ExitStack() as locks:
        for name in _names(connection):
            if name != locked:
                lock = WriterLock(url, name)
                lock.claim()
                lock.acquire(connection)
                locks.callback(lock.release)
        upgrade(connection)
    return True


def _names(connection: sa.Connection) -> list[str]:
    with connection.begin():
        return list(connection.execute(sa.select(studies_table.c.name).order_by(studies_table.c.id)).scalars())
