"""A row that is not as it was written breaks the chain of checksums, and is named."""

from contextlib import closing

import pytest
import sqlalchemy as sa

from manyarms.errors import StorageError
from manyarms.journal import Event
from manyarms.journal.database import parse_url
from manyarms.journal.sql import SqlJournal

LENGTH = 1_203  # more than is read at once


@pytest.fixture
def stored(url):
    """A study of 1,203 events beside another one; gives what runs a statement on its database."""
    for name in ("study", "another"):
        with closing(SqlJournal(url, name)) as journal:
            journal.create({"id": name, "seed": 0})
            journal.append(Event("asked", arm, 0, 1, data={"config": {"x": arm}}) for arm in range(LENGTH - 3))
            journal.append([Event("told", arm, 0, 1, 0.5, 1.0, {"metrics": {"loss": 0.5}}) for arm in range(3)])
    engine = sa.create_engine(parse_url(url))

    def run(statement):
        with engine.begin() as connection:
            connection.execute(sa.text(statement))

    yield run
    engine.dispose()


def read(url, write, since=0):
    with closing(SqlJournal(url, "study", write)) as journal:
        return list(journal.events(since))


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize("since", [0, LENGTH])
@pytest.mark.parametrize(
    ("change", "number"),
    [
        ("UPDATE manyarms_events SET reward = 0.5000000000000001 WHERE study = 1 AND number = 1201", 1201),
        ("UPDATE manyarms_events SET reward = -0.5 WHERE study = 1 AND number = 1202", 1202),
        ("UPDATE manyarms_events SET reward = 1 WHERE study = 1 AND number = 7", 7),
        ("UPDATE manyarms_events SET seconds = 1.5 WHERE study = 1 AND number = 1200", 1200),
        ("UPDATE manyarms_events SET seconds = NULL WHERE study = 1 AND number = 1200", 1200),
        ("UPDATE manyarms_events SET arm = 8 WHERE study = 1 AND number = 7", 7),
        ("UPDATE manyarms_events SET start = 1 WHERE study = 1 AND number = 7", 7),
        ("UPDATE manyarms_events SET stop = 2 WHERE study = 1 AND number = 7", 7),
        ("UPDATE manyarms_events SET kind = 'failed' WHERE study = 1 AND number = 1200", 1200),
        ("UPDATE manyarms_events SET data = replace(data, '7', '8') WHERE study = 1 AND number = 7", 7),
        ("UPDATE manyarms_events SET data = NULL WHERE study = 1 AND number = 999", 999),
        ("UPDATE manyarms_events SET data = 'no JSON' WHERE study = 1 AND number = 0", 0),
        ("UPDATE manyarms_events SET checksum = 'ff' WHERE study = 1 AND number = 1000", 1000),
        ("DELETE FROM manyarms_events WHERE study = 1 AND number = 0", 0),
        ("DELETE FROM manyarms_events WHERE study = 1 AND number BETWEEN 998 AND 1100", 998),
    ],
)
def test_a_changed_or_missing_row_is_named(url, stored, change, number, since, write):
    stored(change)
    with pytest.raises(StorageError, match=rf"journal of study 'study' in .* is corrupt: event {number}[ ,]"):
        read(url, write, since)


@pytest.mark.parametrize("write", [True, False])
def test_two_rows_that_changed_places_are_named(url, stored, write):
    for number, other in ((-1, 20), (20, 10), (10, -1)):
        stored(f"UPDATE manyarms_events SET number = {number} WHERE study = 1 AND number = {other}")
    with pytest.raises(StorageError, match="event 10 does not match its checksum"):
        read(url, write)


@pytest.mark.parametrize("write", [True, False])
def test_missing_last_rows_are_named(url, stored, write):
    stored("DELETE FROM manyarms_events WHERE study = 1 AND number >= 1201")
    with pytest.raises(StorageError, match="event 1201 and all events after it, 2 in total, are missing"):
        SqlJournal(url, "study", write)


@pytest.mark.parametrize("write", [True, False])
def test_a_row_added_at_the_end_is_named(url, stored, write):
    stored("UPDATE manyarms_events SET study = 1, number = 1203 WHERE study = 2 AND number = 1202")
    with pytest.raises(StorageError, match="event 1203 was not written by a study"):
        SqlJournal(url, "study", write)


@pytest.mark.parametrize("write", [True, False])
def test_rows_of_another_study_are_named(url, stored, write):
    stored("DELETE FROM manyarms_events WHERE study = 1")
    stored("UPDATE manyarms_events SET study = 1 WHERE study = 2")
    with pytest.raises(StorageError, match="is corrupt: event 1202 does not match the checksum at the end of the journal"):
        SqlJournal(url, "study", write)


@pytest.mark.parametrize("write", [True, False])
def test_a_changed_header_is_found(url, stored, write):
    stored("UPDATE manyarms_studies SET header = replace(header, '\"seed\": 0', '\"seed\": 1') WHERE id = 1")
    with pytest.raises(StorageError, match="is corrupt: event 0, or the header, does not match its checksum"):
        read(url, write)


def test_a_changed_header_of_a_study_without_events_is_found(url):
    with closing(SqlJournal(url, "study")) as journal:
        journal.create({"seed": 0})
    engine = sa.create_engine(parse_url(url))
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE manyarms_studies SET header = '{}'"))
    engine.dispose()
    with pytest.raises(StorageError, match="the header does not match the checksum at the end of the journal"):
        SqlJournal(url, "study")


def test_text_that_is_not_utf_8_is_named(tmp_path):
    url = f"{tmp_path}/study.db"
    with closing(SqlJournal(url, "study")) as journal:
        journal.create({})
        journal.append(Event("asked", arm, 0, 1, data={"config": arm}) for arm in range(1_500))
    engine = sa.create_engine(parse_url(url))
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE manyarms_events SET data = CAST(x'7bff7d' AS TEXT) WHERE number = 1234"))
    engine.dispose()
    with pytest.raises(StorageError, match="event 1234 cannot be read"):
        read(url, write=False)


def test_a_changed_snapshot_is_ignored(url, stored):
    with closing(SqlJournal(url, "study")) as journal:
        journal.save_snapshot(4, "state")
        assert journal.snapshot() == (4, "state")
        for change in ("text = 'stat'", "covered = 5"):
            stored(f"UPDATE manyarms_snapshots SET {change}")
            assert journal.snapshot() is None


def test_a_chain_is_continued_after_reopening_and_in_many_batches(url, stored):
    for _ in range(3):
        with closing(SqlJournal(url, "study")) as journal:
            journal.append([Event("told", 0, 0, 1, -0.0, 0.0)])
            journal.append([Event("failed", 0, 0, 1, None, 5e-324, {"reason": "é"}), Event("budget", data={"budget": None})])
    assert len(read(url, write=False)) == len(read(url, write=True)) == LENGTH + 9
