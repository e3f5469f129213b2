"""SQL statements that are executed with every append."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError


class DriverStatement:
    """A statement that SQLite's driver executes directly, because SQLAlchemy would take longer than SQLite itself.

    For other databases, which are reached over a network, the overhead is small, and SQLAlchemy executes the statement.

    Args:
        statement: A statement that writes rows, whose parameters need no conversion.
        parameters: Names of the parameters, in the order of the values in a row.
        dialect: Dialect of the database.
    """

    def __init__(self, statement: sa.Insert | sa.Update, parameters: Sequence[str], dialect: sa.Dialect) -> None:
        self._statement, self._names = statement, tuple(parameters)
        self._text = str(statement.compile(dialect=dialect)) if dialect.name == "sqlite" else None

    def run(self, connection: sa.Connection, rows: Sequence[tuple[Any, ...]]) -> None:
        """Execute the statement for each row, in the transaction of the connection. Errors are those of SQLAlchemy."""
        if self._text is None:
            connection.execute(self._statement, [dict(zip(self._names, row, strict=True)) for row in rows])
            return
        try:
            connection.connection.cursor().executemany(self._text, rows)
        except sqlite3.Error as error:
            raise DBAPIError.instance(self._text, None, error, sqlite3.Error, dialect=connection.dialect) from error
