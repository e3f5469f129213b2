"""`upgrade`: storages that an older version wrote."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from commands import refused


def test_upgrade_converts_an_old_storage(manyarms, place):
    shutil.copy(Path(__file__).parents[1] / "journal/layout-1.sqlite3", place / "manyarms.db")
    assert refused(manyarms("status"), 1, "upgrade it with `manyarms upgrade`")
    assert manyarms("upgrade").out == "manyarms.db: upgraded\n"
    assert manyarms("upgrade").out == "manyarms.db: up to date\n"
    assert [row["study"] for row in manyarms("status", "--json").data] == ["finished", "interrupted", "empty"]
    assert refused(manyarms("upgrade", "missing.db"), 1, "there is no file 'missing.db'")
    assert not Path("missing.db").exists()


def test_upgrade_writes_nothing_to_a_file_without_studies(manyarms, place):
    with closing(sqlite3.connect("foreign.db")) as connection, connection:
        connection.execute("CREATE TABLE theirs (a)")
    (place / "empty.db").touch()
    (place / "text.db").write_text("x")
    before = {path.name: path.read_bytes() for path in place.iterdir() if path.suffix == ".db"}
    assert len(before) == 3
    for name in before:
        assert manyarms("upgrade", name).code == 1
    assert {path.name: path.read_bytes() for path in place.iterdir() if path.suffix == ".db"} == before
