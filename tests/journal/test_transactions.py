"""Journals of many studies with many readers: transactions, round trips to a server, and sessions on it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest
import sqlalchemy as sa
from pg_outages import execute
from waiting import wait_until

import manyarms as ma
from manyarms.errors import StorageError
from manyarms.journal import Event
from manyarms.journal.sql import SqlJournal
from manyarms.study.verify import audit

SPACE = ma.Space(x=ma.Float(0, 1))
EVENTS = [Event("asked", arm, 0, 1, data={"config": {"x": arm}}) for arm in range(1_000)]
ODD = [
    Event("told", 0, 0, 1, -0.0, 1e-300, {"attributes": {"text": "quotes \"' \\ {braces}, NULL, ☃", "nothing": None}}),
    Event("told", 2**62, 2**40, 2**41, float("inf"), 0.1 + 0.2),
    Event("failed", 1, 0, 1, None, None, {"reason": ""}),
    Event("budget", data={"budget": None}),
]


def value(pull):
    return pull["x"]


def opened(url, name="study", budget=64):
    return ma.Study(ma.RandomSearch(SPACE, budget=budget, max_steps=1, seed=0), storage=url, name=name)


def sessions(url):
    """The number of sessions that the library has on the server."""
    ((found,),) = execute(
        url, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'manyarms %'"
    )
    return found


@pytest.fixture
def count_transactions(url):
    """Returns the number of transactions that have written events."""
    if not url.startswith("sqlite"):
        yield lambda: execute(url, "SELECT count(DISTINCT xmin::text) FROM manyarms_events")[0][0]
        return
    statements = []

    def trace(connection, _):
        connection.set_trace_callback(statements.append)

    sa.event.listen(sa.pool.Pool, "connect", trace)
    yield lambda: sum("INSERT INTO manyarms_events" in text for text in "\n".join(statements).split("COMMIT"))
    sa.event.remove(sa.pool.Pool, "connect", trace)


# -- transactions


def test_outcomes_that_arrive_together_are_written_in_one_transaction(url, count_transactions):
    with opened(url) as study:
        study.optimize(value, runner=ma.SimulatedRunner(workers=16), progress=False)
        assert study.counts.pulls == 64
        assert count_transactions() == 4


def test_outcomes_that_arrive_alone_are_written_alone(url, count_transactions):
    with opened(url, budget=6) as study:
        runner = ma.SimulatedRunner(workers=3, seconds=lambda pull: 1.0 + pull.arm.id / 100)
        study.optimize(value, runner=runner, progress=False)
        assert count_transactions() == 6


def test_events_are_read_as_they_were_written_alone_and_together(url):
    with closing(SqlJournal(url, "study")) as journal:
        journal.create({})
        for event in ODD:
            journal.append([event])
        journal.append(ODD + EVENTS)
        journal.append(iter(EVENTS[:2]))
        found = list(journal.events())
    assert found == ODD + ODD + EVENTS + EVENTS[:2]
    assert str(found[0].reward) == "-0.0"
    with closing(SqlJournal(url, "study", write=False)) as reader:
        reader.check()


def test_a_refused_append_writes_nothing_and_can_be_followed_by_another(url):
    with closing(SqlJournal(url, "study")) as journal:
        journal.create({})
        journal.append(EVENTS[:2])
        with pytest.raises(StorageError, match="cannot write the journal of study 'study'"):
            journal.append([EVENTS[2], Event("asked", 3, 0, 1), Event(None)])  # the kind must not be NULL
        assert list(journal.events()) == EVENTS[:2]
        journal.append(EVENTS[2:5])
        assert list(journal.events()) == EVENTS[:5]
        journal.check()


@pytest.mark.parametrize("events", [1, 2, 500])
def test_an_append_to_a_server_is_one_round_trip(postgres, monkeypatch, events):
    from manyarms.journal.reply_limit import LimitedConnection

    exchanges, wait = [], LimitedConnection.wait

    def counted(exchange):
        ready = None
        try:
            ready = yield exchange.send(ready)
            exchanges.append(exchange)
            while True:
                ready = yield exchange.send(ready)
        except StopIteration as end:
            return end.value

    with closing(SqlJournal(postgres, "study")) as journal:
        journal.create({})
        for number in range(10):  # the driver prepares a statement that is used often
            with monkeypatch.context() as patch:
                patch.setattr(LimitedConnection, "wait", lambda self, gen, *more, **options: wait(self, counted(gen)))
                journal.append(EVENTS[:events])
            assert len(exchanges) == number + 1
        assert len(list(journal.events())) == 10 * events


# -- many studies, many readers


def test_many_studies_write_at_once_in_one_database(url):
    def run(name):
        with opened(url, name, budget=20) as study:
            study.optimize(value, progress=False)
            return study.counts.pulls, list(audit(study.journal))

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(run, [f"study {i}" for i in range(8)])) == [(20, [])] * 8


def test_many_readers_see_a_beginning_of_the_journal_while_it_is_written(url):
    done = threading.Event()

    def read(_):
        lengths = []
        while not lengths or not done.is_set():
            with closing(SqlJournal(url, "study", write=False)) as reader:
                found = list(reader.events())
            assert found == EVENTS[: len(found)]
            lengths.append(len(found))
        return lengths

    with closing(SqlJournal(url, "study")) as writer, ThreadPoolExecutor(24) as threads:
        writer.create({})
        readers = [threads.submit(read, None) for _ in range(24)]
        try:
            for start in range(0, len(EVENTS), 50):
                writer.append(EVENTS[start : start + 50])
        finally:
            done.set()
        for reader in readers:
            assert reader.result() == sorted(reader.result())
        assert list(writer.events()) == EVENTS


def test_more_studies_can_be_open_for_reading_than_a_server_has_connections(postgres):
    ((limit,),) = execute(postgres, "SHOW max_connections")
    with opened(postgres, budget=5) as study, ExitStack() as stack:
        study.optimize(value, progress=False)
        assert wait_until(lambda: sessions(postgres) == 0)
        views = [stack.enter_context(ma.load_study(postgres)) for _ in range(int(limit) + 5)]
        assert {view.best_reward for view in views} == {study.best_reward}
        study.optimize(value, budget=10, progress=False)
        assert all(len(view.pulls_dataframe()) == 5 for view in views[:10])
        assert len(study.pulls_dataframe()) == 10
        assert wait_until(lambda: sessions(postgres) == 0)


def test_a_view_of_a_study_that_is_being_written_does_not_end_its_session(postgres):
    with opened(postgres) as study:
        study.tell(study.ask(), 0.5)
        assert study.best_reward == 0.5 and len(study.pulls_dataframe()) == 1
        with ma.load_study(postgres) as view:
            assert view.best_reward == 0.5
        assert wait_until(lambda: sessions(postgres) == 1)
        study.tell(study.ask(), 0.25)
        assert study.counts.pulls == 2
