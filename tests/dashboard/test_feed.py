"""A study is read once, in batches, and again only if it was replaced."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing

import pytest
from dashboards import client_of, make_study, open_study, pull_once

from manyarms.dashboard import feed as feeds
from manyarms.dashboard.feed import StudyFeed
from manyarms.dashboard.reader import Unreadable
from manyarms.dashboard.studies import Studies
from manyarms.errors import StudyNotFound
from manyarms.journal.stored_events import StoredEvents


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def feed(storage, clock):
    feed = StudyFeed(storage, "study", 1, clock)
    yield feed
    feed.close()


def refreshed(feed, clock):
    clock.now += 1
    feed.refresh()
    return feed.events


def test_each_event_is_read_once(storage, feed, clock, monkeypatch):
    parsed = []
    original = StoredEvents._parsed
    monkeypatch.setattr(StoredEvents, "_parsed", lambda self, row: parsed.append(row[0]) or original(self, row))
    with open_study(storage) as study:
        for pulls in range(1, 6):
            pull_once(study)
            parsed.clear()
            assert refreshed(feed, clock) == 2 * pulls
            assert parsed == [2 * pulls - 2, 2 * pulls - 1]


def test_a_long_study_is_read_in_parts_that_can_be_used_meanwhile(storage, clock, monkeypatch):
    make_study(storage)
    monkeypatch.setattr(feeds, "_BATCH", 10)
    feed = StudyFeed(storage, "study", 1, clock)
    feed.refresh(seconds=0)
    assert feed.events == 10 and feed.length == 120 and not feed.is_complete and len(feed.columns) > 0
    while not feed.is_complete:
        feed.refresh(seconds=0)
    assert feed.events == feed.charts.events == 120
    feed.close()


def test_a_refresh_during_another_does_not_wait_for_it(storage, feed, clock):
    make_study(storage, budget=8)
    before = refreshed(feed, clock)
    make_study(storage, budget=16)
    with feed._reading:
        assert refreshed(feed, clock) == before
    assert refreshed(feed, clock) > before


def test_a_file_that_disappears_and_returns_is_read_again(storage, feed, clock):
    make_study(storage, budget=8)
    before = refreshed(feed, clock)
    shutil.copy(storage, storage + ".copy")
    os.remove(storage)
    with pytest.raises(Unreadable, match="there is no file"):
        refreshed(feed, clock)
    assert feed.events == before  # what is known can still be shown
    os.rename(storage + ".copy", storage)
    columns = feed.columns
    assert refreshed(feed, clock) == before and feed.columns is columns


def test_a_study_that_was_replaced_by_another_is_read_from_the_start(storage, feed, clock):
    make_study(storage, budget=20)
    assert refreshed(feed, clock) > 20
    os.remove(storage)
    with open_study(storage) as study:
        pull_once(study)
        assert refreshed(feed, clock) == 2 and len(feed.columns) == 1


def test_a_study_that_was_deleted_is_not_found(storage, feed, clock):
    make_study(storage, budget=8)
    refreshed(feed, clock)
    with closing(sqlite3.connect(storage)) as connection, connection:
        for table in ("studies", "events", "heads", "snapshots"):
            connection.execute(f"DELETE FROM manyarms_{table}")
    with pytest.raises(StudyNotFound):
        refreshed(feed, clock)


def test_a_corrupt_journal_is_an_error_with_its_place(storage, feed, clock):
    make_study(storage, budget=8)
    with closing(sqlite3.connect(storage)) as connection, connection:
        connection.execute("UPDATE manyarms_events SET reward = 2 WHERE number = 3")
    with pytest.raises(Unreadable, match="event 3"):
        refreshed(feed, clock)


def test_the_page_recovers_when_the_storage_returns(storage):
    make_study(storage, budget=8)
    with client_of(storage) as client:
        assert client.get("/api/studies").status_code == 200
        os.rename(storage, storage + ".away")
        for path in ("/api/studies", "/api/study/1", "/api/study/1/arms"):
            answer = client.get(path)
            assert answer.status_code == 503 and answer.json()["error"] == "The storage cannot be read at the moment."
        os.rename(storage + ".away", storage)
        for path in ("/api/studies", "/api/study/1", "/api/study/1/arms"):
            assert client.get(path).status_code == 200


def test_only_a_few_studies_and_those_that_are_watched_stay_in_memory(storage, clock):
    for number in range(6):
        make_study(storage, f"study {number}", budget=8)
    studies = Studies(storage, clock)
    for number in range(1, 7):
        clock.now += 20
        assert studies.failures(number)["total"] >= 0
        studies.failures(1)  # a browser shows it all the time
    assert list(studies._open) == [4, 5, 6, 1]
    for number in range(1, 7):
        studies.failures(number)
    assert len(studies._open) == 6
    studies.close()


def test_readers_do_not_keep_a_writer_waiting(storage):
    """A reader holds no lock between requests: another connection can write at once."""
    make_study(storage, budget=8)
    studies = Studies(storage)
    studies.list()
    studies.study(1)
    studies.failures(1)
    with closing(sqlite3.connect(storage)) as connection:
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("BEGIN EXCLUSIVE")
        connection.rollback()
    studies.close()
