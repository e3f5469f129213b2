"""The tables of a database with studies, and the upgrade of tables that an older version wrote."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL

from ..core import new_study_id
from ..errors import OldLayout, SchemaError, StudyNotFound
from .chain import first_checksum, next_checksum
from .database import shown_url

LAYOUT = 2
"""The version of the tables below."""

_BATCH = 1000  # rows copied at once
_TABLES_LOCK = 7223  # the advisory lock for creating or upgrading the tables in PostgreSQL


class _Plain(sa.types.UserDefinedType[float]):
    """A column without a type in SQLite, whose own type for floats turns -0.0 into 0.0."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return ""


_float: sa.types.TypeEngine[float] = sa.Double().with_variant(_Plain(), "sqlite")
_tables = sa.MetaData()
version_table = sa.Table("manyarms_version", _tables, sa.Column("version", sa.Integer, nullable=False))
studies_table = sa.Table(
    "manyarms_studies",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("header", sa.Text, nullable=False),
)
heads_table = sa.Table(  # its own table, because it is written with every append, and the headers of studies may be long
    "manyarms_heads",
    _tables,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("events", sa.BigInteger, nullable=False),
    sa.Column("checksum", sa.Text, nullable=False),
)
events_table = sa.Table(
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
    sa.Column("checksum", sa.Text, nullable=False),
    sqlite_with_rowid=False,
)
snapshots_table = sa.Table(
    "manyarms_snapshots",
    _tables,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.Text, primary_key=True),  # "state" or "recommendation"
    sa.Column("covered", sa.BigInteger, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("checksum", sa.Text, nullable=False),
)
CONTENT = tuple(events_table.c[name] for name in ("number", "kind", "arm", "start", "stop", "reward", "seconds", "data"))
"""The columns of an event that its checksum covers, in order."""

_NAMES = tuple(column.name for column in CONTENT)


def make_or_check_tables(connection: sa.Connection, url: URL, write: bool) -> None:
    """Create the tables if there are none. Check that they have the current layout, or can be upgraded to it."""
    with connection.begin():
        if not sa.inspect(connection).has_table(version_table.name):
            if not write:
                raise StudyNotFound(f"{shown_url(url)} contains no studies")
            _lock(connection)
            _tables.create_all(connection)
            if connection.execute(sa.select(version_table.c.version)).first() is None:
                connection.execute(version_table.insert().values(version=LAYOUT))
        found = _version(connection)
    if found in _UPGRADES and not write:
        raise OldLayout(
            f"{shown_url(url)} was written by an older version (table layout {found}, this version reads {LAYOUT}): "
            "upgrade it with `manyarms upgrade`, or by running the script that writes it"
        )
    if found != LAYOUT and found not in _UPGRADES:
        raise SchemaError(
            f"{shown_url(url)} was written by a newer version of manyarms (table layout {found}, this version reads {LAYOUT}): "
            "upgrade manyarms"
        )


def needs_upgrade(connection: sa.Connection) -> bool:
    """Whether the tables have an older layout."""
    with connection.begin():
        return _version(connection) != LAYOUT


def upgrade(connection: sa.Connection) -> None:
    """Upgrade the tables to the current layout, in one transaction. The caller must hold the locks of all studies."""
    with connection.begin():
        _lock(connection)
        while (found := _version(connection)) != LAYOUT:
            _UPGRADES[found](connection)
            connection.execute(version_table.update().values(version=found + 1))


def _version(connection: sa.Connection) -> int:
    return int(connection.execute(sa.select(version_table.c.version)).scalar_one())


def _lock(connection: sa.Connection) -> None:
    """Prevent other processes from creating or upgrading the tables until the transaction ends."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_TABLES_LOCK})"))
    else:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _from_layout_1(connection: sa.Connection) -> None:
    """Give each study an id and its events checksums. Snapshots are dropped, because they can be made again."""
    connection.execute(sa.text("ALTER TABLE manyarms_events RENAME TO manyarms_events_1"))
    connection.execute(sa.text("DROP TABLE manyarms_snapshots"))
    if connection.dialect.name == "postgresql":  # renaming a table does not rename its index
        connection.execute(sa.text("ALTER INDEX manyarms_events_pkey RENAME TO manyarms_events_1_pkey"))
    _tables.create_all(connection)
    for study, text in connection.execute(sa.select(studies_table.c.id, studies_table.c.header)).all():
        header = json.dumps({**json.loads(text), "id": new_study_id()})
        connection.execute(studies_table.update().where(studies_table.c.id == study).values(header=header))
        events, checksum = 0, first_checksum(header)
        old = _rows_of_layout_1(connection, study)
        while batch := list(islice(old, _BATCH)):
            rows = []
            for row in batch:
                checksum = next_checksum(checksum, row)
                rows.append({"study": study, **dict(zip(_NAMES, row, strict=True)), "checksum": checksum})
            connection.execute(events_table.insert(), rows)
            events += len(rows)
        connection.execute(heads_table.insert().values(study=study, events=events, checksum=checksum))
    connection.execute(sa.text("DROP TABLE manyarms_events_1"))


def _rows_of_layout_1(connection: sa.Connection, study: int) -> Iterator[Any]:
    columns = ", ".join(_NAMES)
    query = sa.text(
        f"SELECT {columns} FROM manyarms_events_1 WHERE study = :study AND number >= :since ORDER BY number LIMIT {_BATCH}"
    )
    since = 0
    while rows := connection.execute(query, {"study": study, "since": since}).all():
        yield from rows
        since = rows[-1].number + 1


_UPGRADES: dict[int, Callable[[sa.Connection], None]] = {1: _from_layout_1}
"""For each older layout, the function that upgrades it to the next one."""
