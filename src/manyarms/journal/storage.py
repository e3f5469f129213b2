"""Functions on a whole database: the names of its studies, and the upgrade of its tables."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from ..errors import OldLayout, StorageError, StudyNotFound
from .database import cause_of, make_engine, parse_url, shown_url
from .layout import heads_table, make_or_check_tables, needs_upgrade, snapshots_table, studies_table, upgrade
from .writer_lock import WriterLock


def study_names(url: str) -> list[str]:
    """The names of the studies in a database, oldest first."""
    return [row.name for row in _read(url, sa.select(studies_table.c.name).order_by(studies_table.c.id))]


def only_name(names: Sequence[str]) -> str:
    """The name of the only study in a database. Raises `StudyNotFound` if there are none or several."""
    if not names:
        raise StudyNotFound("The storage contains no studies.")
    if len(names) > 1:
        listed = ", ".join(map(repr, names[:20]))
        raise StudyNotFound(f"The storage contains {len(names)} studies. Give the name of one of them: {listed}")
    return names[0]


def study_versions(url: str) -> dict[str, tuple[int | None, ...]]:
    """For each study in a database, oldest first, numbers that change when it is written. One cheap query finds them."""
    studies, heads, snapshots = studies_table.c, heads_table.c, snapshots_table.c
    recommended = sa.and_(snapshots.study == studies.id, snapshots.kind == "recommendation")
    query = (
        sa.select(studies.name, studies.id, heads.events, snapshots.covered)
        .join_from(studies_table, heads_table, heads.study == studies.id, isouter=True)
        .join(snapshots_table, recommended, isouter=True)
        .order_by(studies.id)
    )
    return {row.name: tuple(row[1:]) for row in _read(url, query)}


def _read(url: str, query: sa.Select[Any]) -> Sequence[Any]:
    """The rows of a query."""
    parsed = parse_url(url)
    engine = make_engine(parsed, write=False)
    try:
        with engine.connect() as connection:
            make_or_check_tables(connection, parsed, write=False)
            with connection.begin():
                return connection.execute(query).all()
    except SQLAlchemyError as error:
        raise StorageError(f"cannot read {shown_url(parsed)}: {cause_of(error)}") from error
    finally:
        engine.dispose()


def upgrade_storage(url: str) -> bool:
    """Upgrade the tables of a database to the current layout. Returns False if they already have it."""
    parsed = parse_url(url)
    try:
        study_names(url)  # raises if there are no studies, before anything is written
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
    """Upgrade the tables if needed, after locking all studies.

    Args:
        connection: Connection to the database.
        url: URL of the database.
        locked: Name of the study that the caller has already locked.

    Returns:
        Whether the tables were upgraded.
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
