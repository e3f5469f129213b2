"""Journals in databases: what is refused and how it is said, and what readers do to writers."""

import sqlite3
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
import sqlalchemy as sa

from manyarms.errors import SchemaError, StorageError, StudyClosed, StudyLocked, StudyNotFound
from manyarms.journal import Event, MemoryJournal, database, layout, open_journal
from manyarms.journal.database import parse_url
from manyarms.journal.sql import SqlJournal
from manyarms.journal.storage import study_names

EVENTS = [Event("asked", arm, 0, 1, data={"config": {"x": arm}}) for arm in range(2_500)]


@pytest.fixture
def file(tmp_path):
    """A database with a study of 2,500 events."""
    with closing(SqlJournal(f"{tmp_path}/studies.db", "study")) as journal:
        journal.create({})
        journal.append(EVENTS)
    return tmp_path / "studies.db"


def files_in(directory):
    return sorted(path.name for path in directory.iterdir())


# -- tables of other versions


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize("version", [0, layout.LAYOUT + 1])
def test_tables_of_an_unknown_version_are_refused_with_what_to_do(url, version, write):
    SqlJournal(url, "study").close()
    engine = sa.create_engine(parse_url(url))
    with engine.begin() as connection:
        connection.execute(sa.text(f"UPDATE manyarms_version SET version = {version}"))
    engine.dispose()
    with pytest.raises(SchemaError, match=f"table layout {version}.*: upgrade manyarms"):
        SqlJournal(url, "study", write)
    with pytest.raises(SchemaError, match="upgrade manyarms"):
        study_names(url)


def test_many_writers_may_make_the_tables_at_once(url):
    names = [f"study {i}" for i in range(8)]
    with ThreadPoolExecutor(8) as threads:
        journals = list(threads.map(lambda name: SqlJournal(url, name), names))
        list(threads.map(lambda journal: journal.create({}), journals))
        list(threads.map(lambda journal: journal.append(EVENTS[:3]), journals))
        list(threads.map(SqlJournal.close, journals))
    assert sorted(study_names(url)) == names


def test_of_many_writers_of_a_new_study_one_gets_it(url):
    def attempt(_):
        try:
            return SqlJournal(url, "study")
        except StudyLocked:
            return None

    with ThreadPoolExecutor(8) as threads:
        journals = [journal for journal in threads.map(attempt, range(8)) if journal is not None]
    assert len(journals) == 1
    journals[0].close()


# -- places that are no database


@pytest.mark.parametrize("write", [True, False])
def test_a_file_that_is_not_a_database_is_refused_and_left_alone(tmp_path, write):
    text = "name,reward\n" * 1_000
    (tmp_path / "results.csv").write_text(text)
    with pytest.raises(StorageError, match="results.csv: file is not a database"):
        SqlJournal(f"{tmp_path}/results.csv", "study", write)
    assert (tmp_path / "results.csv").read_text() == text
    assert files_in(tmp_path) == ["results.csv"]


@pytest.mark.parametrize("write", [True, False])
def test_a_directory_is_refused(tmp_path, write):
    with pytest.raises(StorageError, match="it is a directory; give a file in it"):
        SqlJournal(f"sqlite:///{tmp_path}", "study", write)


def test_a_missing_directory_is_named_and_not_made(tmp_path):
    with pytest.raises(StorageError, match="there is no directory '.*/missing'"):
        SqlJournal(f"sqlite:///{tmp_path}/missing/studies.db", "study")
    with pytest.raises(StudyNotFound, match="there is no file '.*/missing/studies.db'"):
        SqlJournal(f"sqlite:///{tmp_path}/missing/studies.db", "study", write=False)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("mysql://localhost/base", ValueError, "storage must be sqlite or postgresql, got 'mysql://localhost/base'"),
        ("http://x", ValueError, "storage must be sqlite or postgresql, got 'http://x'"),
        ("sqlite:///file:study.db?uri=true", ValueError, "storage must name a SQLite file by its path, not by a file: URI"),
        ("://", ValueError, "storage must be a URL such as \"sqlite:///study.db\", got '://'"),
        ("postgresql://host:door/base", ValueError, "storage must be a URL such as"),
        ("sqlite+unheard:///study.db", StorageError, "sqlite.unheard"),
        ("postgresql+unheard://host/base", StorageError, r"needs a driver: pip install .manyarms\[postgresql\]"),
        ("", TypeError, "storage must be a URL such as"),
        (3, TypeError, "storage must be a URL such as .* got 3"),
    ],
)
def test_a_url_that_will_not_do_is_refused_with_the_rule(url, error, message):
    with pytest.raises(error, match=message):
        SqlJournal(url, "study")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunter2@localhost:1/base",
        "postgresql://me@localhost:1/base?password=hunter2",
        "postgresql://me:hunter2@localhost:1/base?sslpassword=hunter2",
        "postgresql+unheard://me:hunter2@localhost/base",
        "postgresql://me:hunter2@localhost:door/base",
        "postgresql://me:p@hunter2@localhost/base",
        "mysql://me:hunter2@localhost/base",
        "mysql://me@localhost/base?password=hunter2",
        "://me:hunter2@localhost/base",
        "postgresql:me:hunter2@localhost/base",
        "postgres:/me:hunter2@localhost/base",
    ],
)
@pytest.mark.parametrize("act", [SqlJournal, lambda url, name: study_names(url)], ids=["open", "list"])
def test_a_password_is_never_shown(act, url):
    with pytest.raises((StorageError, ValueError)) as raised:
        act(url, "study")
    assert "hunter2" not in "".join(traceback.format_exception(raised.value))


def test_a_password_is_not_shown_when_a_study_is_locked_or_missing(postgres):
    url = postgres.replace("postgres:@", "postgres:hunter2@")  # the server trusts whoever can reach its socket
    with closing(SqlJournal(url, "study")):
        for name, write, error in (("study", True, StudyLocked), ("none", False, StudyNotFound)):
            with pytest.raises(error, match=r"postgres:\*\*\*@") as raised:
                SqlJournal(url, name, write)
            assert "hunter2" not in str(raised.value)


def test_a_path_is_a_storage_and_so_is_a_journal(tmp_path):
    journal = open_journal(tmp_path / "studies.db", "study")
    journal.create({"seed": 1})
    journal.close()
    again = open_journal(f"{tmp_path}/studies.db", "study")
    assert again.header == {"seed": 1}
    assert open_journal(again, "study") is again
    assert isinstance(open_journal(None, "study"), MemoryJournal)
    again.close()


# -- readers


def test_reading_makes_no_files(file):
    before = {path: path.read_bytes() for path in file.parent.iterdir()}
    with closing(SqlJournal(str(file), "study", write=False)) as reader:
        assert len(list(reader.events())) == len(EVENTS)
    assert study_names(str(file)) == ["study"]
    for name, place in (("none", file), ("study", file.parent / "none.db")):
        with pytest.raises(StudyNotFound):
            SqlJournal(str(place), name, write=False)
    assert {path: path.read_bytes() for path in file.parent.iterdir()} == before


def test_a_database_without_studies_is_told_from_a_study_that_is_missing(tmp_path):
    (tmp_path / "empty.db").touch()
    with pytest.raises(StudyNotFound, match="holds no studies"):
        SqlJournal(f"{tmp_path}/empty.db", "study", write=False)


def test_a_reader_in_the_middle_of_a_long_read_does_not_hold_up_the_writer(url, monkeypatch):
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.0)  # so that any wait for a lock is an error
    with closing(SqlJournal(url, "study")) as writer:
        writer.create({})
        writer.append(EVENTS[:2_000])
        with closing(SqlJournal(url, "study", write=False)) as reader:
            read = []
            for event in reader.events():
                read.append(event)
                if len(read) in (1, 500, 1_000, 1_001, 1_999):
                    writer.append(EVENTS[len(writer) : len(writer) + 100])
            assert len(writer) == len(EVENTS)
    assert len(read) >= 2_000
    assert read == EVENTS[: len(read)]


def test_a_commit_that_a_foreign_lock_refuses_can_be_tried_again(file, monkeypatch):
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.1)
    more = [Event("told", 0, 0, 1, 0.5)]
    with closing(SqlJournal(str(file), "study")) as journal, closing(sqlite3.connect(file, isolation_level=None)) as foreign:
        foreign.execute("BEGIN")
        foreign.execute("SELECT * FROM manyarms_events").fetchone()  # and holds its lock, as a database browser may
        if foreign.execute("PRAGMA journal_mode").fetchone() == ("wal",):
            pytest.skip("readers do not lock out writers here")
        with pytest.raises(StorageError, match="database is locked"):
            journal.append(more)
        assert len(journal) == len(EVENTS)
        foreign.execute("ROLLBACK")
        assert list(journal.events()) == EVENTS
        journal.append(more)
        assert list(journal.events()) == EVENTS + more


def test_a_closed_journal_can_be_closed_again_but_not_used(url):
    journal = SqlJournal(url, "study")
    journal.create({})
    journal.close()
    journal.close()
    for use in (lambda: journal.append(EVENTS[:1]), lambda: list(journal.events()), journal.snapshot):
        with pytest.raises(StudyClosed, match="study 'study' is closed: open it again"):
            use()
