"""Statements that are run with every append."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError


class DriverStatement:
    """A statement that SQLite's driver runs directly: SQLAlchemy would take longer over it than SQLite itself.

    Other databases are reached over a network, which takes longer than both, and get it from SQLAlchemy.

    Args:
        statement: Writes rows; its parameters need no conversion.
        parameters: Their names, in the order of the values in a row.
        dialect: Of the database.
    """

    def __init__(self, statement: sa.Insert | sa.Update, parameters: Sequence[str], dialect: sa.Dialect) -> None:
        self._statement, self._names = statement, tuple(parameters)
        self._text = str(statement.compile(dialect=dialect)) if dialect.name == "sqlite" else None

    def run(self, connection: sa.Connection, rows: Sequence[tuple[Any, ...]]) -> None:
        """Run it for each of the rows, in the transaction of the connection. Its errors are SQLAlchemy's."""
        if self._text is None:
            connection.execute(self._statement, [dict(zip(self._names, row, strict=True)) for row in rows])
            return
        try:
            connection.connection.cursor().executemany(self._text, rows)
        except sqlite3.Error as error:
            raise DBAPIError.instance(self._text, None, error, sqlite3.Error, dialect=connection.dialect) from error
