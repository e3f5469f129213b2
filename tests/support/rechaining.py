"""Makes the checksums of a changed database right again, for tests of what the chain alone does not show."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from manyarms.journal.chain import first_checksum, next_checksum, snapshot_checksum


def rechain(file) -> None:
    """Compute all checksums of a SQLite file anew, and the number of events that each study has."""
    with closing(sqlite3.connect(file)) as database, database:
        for study, header in database.execute("SELECT id, header FROM manyarms_studies").fetchall():
            checksum, count = first_checksum(header), 0
            rows = database.execute(
                "SELECT number, kind, arm, start, stop, reward, seconds, data "
                "FROM manyarms_events WHERE study = ? ORDER BY number",
                [study],
            ).fetchall()
            for row in rows:
                checksum, count = next_checksum(checksum, row), row[0] + 1
                values = [checksum, study, row[0]]
                database.execute("UPDATE manyarms_events SET checksum = ? WHERE study = ? AND number = ?", values)
            database.execute("UPDATE manyarms_heads SET events = ?, checksum = ? WHERE study = ?", [count, checksum, study])
            rows = database.execute("SELECT kind, covered, text FROM manyarms_snapshots WHERE study = ?", [study]).fetchall()
            for kind, covered, text in rows:
                values = [snapshot_checksum(header, kind, covered, text), study, kind]
                database.execute("UPDATE manyarms_snapshots SET checksum = ? WHERE study = ? AND kind = ?", values)
