"""A database with the tables of the first version is upgraded when it is opened for writing."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

import manyarms as ma
from manyarms.errors import SchemaError, StudyLocked
from manyarms.journal import layout
from manyarms.journal.database import parse_url
from manyarms.journal.lock import FileLock
from manyarms.journal.sql import SqlJournal, study_names, upgrade_storage

OLD = Path(__file__).with_name("layout-1.sqlite3")
"""Written by version 0.1.0: "finished" with a snapshot, "interrupted" with a pull in flight and a raised budget, "empty"."""

SPACE = ma.Space(lr=ma.Float(1e-5, 1e-1, log=True), act=ma.Choice("relu", "tanh"))


@pytest.fixture
def old(request, tmp_path, url):
    """The URL of a copy of the old database: the file itself, or its rows in PostgreSQL."""
    file = tmp_path / "studies.db"
    shutil.copy(OLD, file)
    if url.startswith("sqlite"):
        return url
    engine = sa.create_engine(parse_url(url))
    with engine.begin() as connection, closing(sqlite3.connect(file)) as source:
        for name, statement in source.execute("SELECT name, sql FROM sqlite_master WHERE sql LIKE 'CREATE TABLE%'").fetchall():
            statement = statement.replace("DOUBLE", "DOUBLE PRECISION").replace(" WITHOUT ROWID", "")
            for column in ("reward", "seconds"):
                statement = statement.replace(f"{column} ,", f"{column} DOUBLE PRECISION,")
            connection.execute(sa.text(statement))
            for row in source.execute(f"SELECT * FROM {name}").fetchall():
                values = ", ".join(f":{i}" for i in range(len(row)))
                connection.execute(sa.text(f"INSERT INTO {name} VALUES ({values})"), {str(i): v for i, v in enumerate(row)})
    engine.dispose()
    return url


def old_events(name):
    """The events of a study as the old file holds them."""
    with closing(sqlite3.connect(OLD)) as source:
        rows = source.execute(
            "SELECT kind, arm, start, stop, reward, seconds, data FROM manyarms_events e JOIN manyarms_studies s "
            "ON e.study = s.id WHERE s.name = ? ORDER BY number",
            [name],
        )
        return [(*row[:6], json.loads(row[6]) if row[6] else {}) for row in rows]


@pytest.mark.parametrize("name", ["finished", "interrupted", "empty"])
def test_opening_for_writing_upgrades_and_keeps_every_event(old, name):
    SqlJournal(old, "finished").close()
    with closing(SqlJournal(old, name, write=False)) as journal:
        found = [(e.kind, e.arm, e.start, e.stop, e.reward, e.seconds, dict(e.data)) for e in journal.events()]
        assert found == old_events(name)
        assert len(journal) == len(found)
    assert study_names(old) == ["finished", "interrupted", "empty"]
    assert not upgrade_storage(old)


def test_each_study_gets_an_id_of_its_own(old):
    assert upgrade_storage(old)
    ids = set()
    for name in study_names(old):
        with closing(SqlJournal(old, name, write=False)) as journal:
            ids.add(journal.header["id"])
            assert journal.header["manyarms"] == "0.1.0"
    assert len(ids) == 3


def test_a_reader_explains_what_to_do_and_changes_nothing(old):
    for attempt in (lambda: ma.load_study(old, "finished"), lambda: study_names(old)):
        with pytest.raises(SchemaError, match=r"older version \(table layout 1, .*: upgrade it with `manyarms upgrade`, or by"):
            attempt()
    engine = sa.create_engine(parse_url(old))
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT version FROM manyarms_version")).scalar() == 1
    engine.dispose()


def test_an_old_study_is_resumed(old, tmp_path):
    def study():
        strategy = ma.AdaptiveMutantUCB(SPACE, budget=30, max_steps=4, seed=1)
        return ma.Study(strategy, storage=old, name="interrupted", checkpoints=str(tmp_path), direction="minimize")

    with study() as resumed:
        assert resumed.tally.steps == 6 and list(resumed.tally.in_flight) == [5]
        resumed.optimize(lambda pull: 0.5 / pull.stop, progress=False)
        assert resumed.tally.steps == 30
    with study() as again:
        assert again.tally.steps == 30


def test_an_upgrade_that_fails_leaves_the_old_tables(old, monkeypatch):
    def fails(connection):
        layout._from_layout_1(connection)
        raise RuntimeError("the power went out")

    with monkeypatch.context() as patch:
        patch.setitem(layout._UPGRADES, 1, fails)
        with pytest.raises(RuntimeError):
            upgrade_storage(old)
    with pytest.raises(SchemaError, match="table layout 1"):
        study_names(old)
    assert upgrade_storage(old)
    with closing(SqlJournal(old, "finished", write=False)) as journal:
        assert len(list(journal.events())) == len(old_events("finished"))


def test_no_upgrade_while_another_process_writes_one_of_the_studies(tmp_path):
    file = tmp_path / "studies.db"
    shutil.copy(OLD, file)
    lock = FileLock(tmp_path / "studies.db-5f862dd0.lock")  # as version 0.1.0 names it for "empty"
    assert lock.acquire() is None
    with pytest.raises(StudyLocked, match="study 'empty' .* is being written by another process"):
        SqlJournal(str(file), "finished")
    lock.release()
    SqlJournal(str(file), "finished").close()
