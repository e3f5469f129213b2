"""A database with the tables of the first version is upgraded when it is opened for writing."""

import json
import pickle
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

import manyarms as ma
from manyarms.checkpoints import OWNER, commit, is_sound, slug
from manyarms.errors import SchemaError, StudyLocked
from manyarms.journal import layout
from manyarms.journal.database import parse_url
from manyarms.journal.lock import FileLock
from manyarms.journal.sql import SqlJournal
from manyarms.journal.storage import study_names, upgrade_storage

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
        assert resumed.counts.steps == 6 and list(resumed.counts.in_flight) == [5]
        resumed.optimize(lambda pull: 0.5 / pull.stop, progress=False)
        assert resumed.counts.steps == 30
    with study() as again:
        assert again.counts.steps == 30


def old_models(root, name, others=("arm-0-step-1-ffffffff", "arm-3-step-2-00000000.part", "notes.txt")):
    """Put models where the first version kept them: those that the study's journal names, and others of a study like it."""
    last = {arm: data["checkpoint"] for kind, arm, *_, data in old_events(name) if kind == "told"}
    for arm, checkpoint in last.items():
        staged = root / slug(name) / "a.part"
        staged.mkdir(parents=True)
        (staged / "state.pickle").write_bytes(pickle.dumps(f"arm {arm}"))
        commit(staged, root / slug(name) / checkpoint)
    for other in others:
        (root / slug(name) / other).mkdir()
    return set(last.values()), set(others)


def finished(storage, root):
    strategy = ma.MutantUCB(SPACE, budget=40, max_steps=4, seed=0)
    return ma.Study(strategy, storage=storage, name="finished", checkpoints=str(root))


def test_an_old_study_takes_over_the_models_that_its_journal_names_and_no_others(old, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the old header notes "models"
    named, others = old_models(tmp_path / "models", "finished")
    for _ in range(2):
        with finished(old, tmp_path / "models") as study:
            assert study.best_model() == f"arm {study.best().id}"
            place = study.checkpoint_of(study.best().id).parent
        assert {path.name for path in place.iterdir()} == named | {OWNER}
        assert {path.name for path in (tmp_path / "models" / slug("finished")).iterdir()} == others
    with ma.load_study(old, "finished") as view:
        assert is_sound(view.checkpoint_of(view.best().id))


def test_readers_find_the_models_of_an_old_study_that_was_not_resumed_yet(tmp_path):
    file = tmp_path / "studies.db"
    shutil.copy(OLD, file)
    upgrade_storage(str(file))
    old_models(tmp_path / "models", "finished", others=())
    with ma.load_study(str(file), "finished") as view:
        assert is_sound(view.checkpoint_of(view.best().id))
    finished(str(file), tmp_path / "models").close()
    assert not (tmp_path / "models" / slug("finished")).exists()
    with ma.load_study(str(file), "finished") as view:
        assert is_sound(view.checkpoint_of(view.best().id))


def test_of_two_copies_of_an_old_study_the_second_trains_again_what_the_first_took_over(tmp_path):
    for name in ("one.db", "two.db"):
        shutil.copy(OLD, tmp_path / name)
    old_models(tmp_path / "models", "finished", others=())
    with finished(str(tmp_path / "one.db"), tmp_path / "models") as one:
        assert one.best_model() == f"arm {one.best().id}"
    with finished(str(tmp_path / "two.db"), tmp_path / "models") as two:
        assert two.best_model(lambda pull: pull.save("trained again") or 0.5) == "trained again"
    with finished(str(tmp_path / "one.db"), tmp_path / "models") as one:
        assert one.best_model() == f"arm {one.best().id}"


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
