"""Statements that are written with every append, prepared once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa


class DriverStatement:
    """A statement in the words of its driver. SQLAlchemy takes longer to prepare a short one than SQLite to run it.

    Args:
        statement: Writes rows; the types of its parameters need no conversion.
        dialect: Of the database.
    """

    def __init__(self, statement: sa.Insert | sa.Update, dialect: sa.Dialect) -> None:
        compiled: Any = statement.compile(dialect=dialect)
        self._text, self._order = str(compiled), compiled.positiontup  # None if parameters have names

    def run(self, connection: sa.Connection, rows: Sequence[dict[str, Any]]) -> None:
        """Run it for each of the rows, which there must be."""
        given: Any = rows if self._order is None else [tuple(row[name] for name in self._order) for row in rows]
        connection.exec_driver_sql(self._text, given if len(given) > 1 else given[0])
