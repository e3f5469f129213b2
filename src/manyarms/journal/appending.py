"""Appends events to a journal and updates its end, with as little overhead as the database allows."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Protocol

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from .layout import events_table, heads_table

Row = tuple[Any, ...]
"""The values of an event, in the order of the columns of the table: study, number, ..., checksum."""

_IDLE = 0  # PQTRANS_IDLE of libpq: no transaction has begun
_TYPES = {sa.Text: "text", sa.BigInteger: "bigint", sa.Double: "double precision"}
_FIRST, *_OTHERS = events_table.c  # the first column is the study, which is the same in all rows
_APPEND = (
    f"WITH written AS (INSERT INTO {events_table.name} ({', '.join(events_table.c.keys())}) SELECT %s::integer, * FROM unnest("
    + ", ".join(f"%s::{_TYPES[type(column.type)]}[]" for column in _OTHERS)
    + f")) UPDATE {heads_table.name} SET events = %s, checksum = %s WHERE study = %s"
)


class Appender(Protocol):
    """Writes rows in the transaction of a connection. Raises the errors of SQLAlchemy."""

    def append(self, connection: sa.Connection, rows: Sequence[Row]) -> None:
        """Add the rows, all of the same study and in order, and make the last one the end of the journal."""


def appender_for(dialect: sa.Dialect) -> Appender:
    """The appender of a database."""
    return SqliteAppender(dialect) if dialect.name == "sqlite" else PostgresAppender()


class SqliteAppender:
    """Calls SQLite's driver directly, because SQLAlchemy's overhead is larger than the time SQLite itself takes."""

    def __init__(self, dialect: sa.Dialect) -> None:
        advance = (
            heads_table.update()
            .where(heads_table.c.study == sa.bindparam("of"))
            .values(events=sa.bindparam("length"), checksum=sa.bindparam("end"))
        )
        self._insert = str(events_table.insert().compile(dialect=dialect))
        self._advance = str(advance.compile(dialect=dialect))

    def append(self, connection: sa.Connection, rows: Sequence[Row]) -> None:
        cursor = connection.connection.cursor()
        try:
            cursor.executemany(self._insert, rows)
            cursor.execute(self._advance, _end(rows))
        except sqlite3.Error as error:
            raise DBAPIError.instance(self._insert, None, error, sqlite3.Error, dialect=connection.dialect) from error


class PostgresAppender:
    """Sends one statement, which is its own transaction, so that an append takes one round trip to the server.

    BEGIN, INSERT, UPDATE and COMMIT would take four.
    """

    def append(self, connection: sa.Connection, rows: Sequence[Row]) -> None:
        study, *columns = zip(*rows, strict=True)
        parameters = (study[0], *map(list, columns), *_end(rows))
        driver: Any = connection.connection.driver_connection
        if driver.info.transaction_status != _IDLE:  # a query has already begun the transaction
            connection.exec_driver_sql(_APPEND, parameters)
            return
        driver.autocommit = True  # a setting of the driver; nothing is sent to the server
        try:
            connection.exec_driver_sql(_APPEND, parameters)
        finally:
            if driver.info.transaction_status == _IDLE:
                driver.autocommit = False
            else:  # interrupted or lost; a connection with autocommit must not be used again
                connection.invalidate()


def _end(rows: Sequence[Row]) -> tuple[int, str, int]:
    """The number of events after these rows, the checksum of the last one, and the study."""
    study, number, *_, checksum = rows[-1]
    return number + 1, checksum, study
