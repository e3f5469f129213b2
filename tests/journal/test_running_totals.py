"""Counts that are kept current by reading only new events are those of counting every event."""

from contextlib import closing

import pytest

from manyarms.journal import Event, running_totals
from manyarms.journal.running_totals import BestPull, RunningTotals
from manyarms.journal.sql import SqlJournal
from manyarms.journal.totals import steps_before
from manyarms.study.counts import Counts

HEADER = {"direction": "minimize", "settings": None}
EVENTS = [
    Event("asked", 0, 0, 2, data={"config": {}}),
    Event("asked", 1, 0, 2, data={"config": {}}),
    Event("told", 1, 0, 2, 0.5, 1.5),
    Event("budget", data={"budget": 50, "seconds": 9.0}),
    Event("failed", 0, 0, 2, None, 0.5, data={"reason": 'bad \x00 "}', "details": "a long traceback"}),
    Event("asked", 1, 2, 4),
    Event("told", 1, 2, 4, 0.25, 1.0, data={"checkpoint": "arm-1-step-4-00000000"}),
    Event("asked", 2, 0, 2, data={"config": {}, "parents": [1]}),
    Event("told", 2, 0, 2, 0.25, 1.0),
    Event("asked", 3, 0, 2, data={"config": {}}),
    Event("asked", 0, 0, 2),
]


@pytest.fixture
def journal(url):
    with closing(SqlJournal(url, "study")) as journal:
        journal.create(HEADER)
        yield journal


def assert_same(found, events):
    counts = Counts("minimize")
    for event in events:
        counts.count(event)
    assert (found.arms, found.pulls, found.steps, found.seconds) == (
        len(counts.arms),
        counts.pulls,
        counts.steps,
        counts.seconds,
    )
    assert found.reasons == counts.reasons and found.failures == counts.failures
    assert list(found.in_flight.items()) == [(arm, (f.pull.start, f.pull.stop)) for arm, f in counts.in_flight.items()]
    assert found.changed_limits == counts.budget


def test_the_counts_are_those_of_all_events_after_each_of_them(journal):
    found = RunningTotals()
    found.update(journal)
    assert_same(found, [])
    for number, event in enumerate(EVENTS, 1):
        journal.append([event])
        found.update(journal)
        assert_same(found, EVENTS[:number])
    assert found.best == BestPull(1, 4, 0.25, after=6)  # the first of two
    assert steps_before(journal, 1, 4) == 6 and steps_before(journal, 2, 2) == 8 and steps_before(journal, 9, 1) is None


def test_only_new_events_are_read_in_batches(journal, monkeypatch):
    monkeypatch.setattr(running_totals, "_BATCH", 3)
    journal.append(EVENTS[:-1])
    found, read = RunningTotals(), []
    found.update(journal)
    assert_same(found, EVENTS[:-1])
    original = found.count
    monkeypatch.setattr(found, "count", lambda *given: read.append(found.events) or original(*given))
    found.update(journal)
    assert read == []
    journal.append(EVENTS[-1:])
    found.update(journal)
    assert read == [len(EVENTS) - 1]
    assert_same(found, EVENTS)


def test_a_study_that_was_replaced_is_counted_from_the_start(url, journal):
    journal.append(EVENTS[:3])
    found = RunningTotals()
    found.update(journal)
    with closing(SqlJournal(url, "another")) as other:
        other.create(HEADER)
        other.append(EVENTS[:1])
        found.update(other)
        assert_same(found, EVENTS[:1])


def test_a_study_that_was_restored_from_a_backup_is_counted_from_the_start(tmp_path):
    path = tmp_path / "study.db"
    with closing(SqlJournal(str(path), "study")) as journal:
        journal.create(HEADER)
    backup, found = path.read_bytes(), RunningTotals()
    longer = [EVENTS[1], EVENTS[0], *EVENTS[2:]]
    for events in (EVENTS[:5], EVENTS[:2], longer):
        path.write_bytes(backup)
        with closing(SqlJournal(str(path), "study")) as journal:
            journal.append(events)
            found.update(journal)
        assert_same(found, events)
