"""Journals on a PostgreSQL server whose connections are cut: what is written once, who may write, and the time limits."""

from contextlib import closing

import pytest
import sqlalchemy as sa
from pg_outages import HARMS, Clock, end_sessions, execute

from manyarms.errors import ManyarmsWarning, StorageError, StudyLocked, StudyNotFound
from manyarms.journal import Event
from manyarms.journal.sql import SqlJournal
from manyarms.journal.storage import study_names

EVENTS = [Event("asked", arm, 0, 1, data={"config": arm}) for arm in range(6)]

pytestmark = pytest.mark.filterwarnings("ignore:the connection to:manyarms.ManyarmsWarning")


@pytest.mark.parametrize("harm", HARMS)
def test_everything_that_is_written_is_written_once_when_a_commit_is_lost(proxy, harm):
    header = {"id": "unique"}
    with closing(SqlJournal(proxy.url, "study")) as journal:
        for write in (
            lambda: journal.create(header),
            lambda: journal.append(EVENTS),
            lambda: journal.save_snapshot(3, "text"),
            lambda: journal.save_recommendation(6, "arm 2"),
        ):
            proxy.next_commit = harm
            write()
        assert proxy.next_commit is None
        found = journal.header, list(journal.events()), journal.snapshot(), journal.recommendation()
        assert found == (header, EVENTS, (3, "text"), (6, "arm 2"))
    assert study_names(proxy.url) == ["study"]


def test_a_lost_connection_and_its_return_are_each_reported_once(proxy):
    with closing(SqlJournal(proxy.url, "study")) as journal:
        journal.create({})
        for events in (EVENTS[:3], EVENTS[3:]):
            proxy.next_commit = "lose reply"
            with pytest.warns(ManyarmsWarning) as caught:
                journal.append(events)
            lost, back = (str(warning.message) for warning in caught)
            assert "was lost" in lost and "reconnecting for up to 600 s" in lost
            assert "is back after" in back


def test_another_process_that_took_the_study_over_is_not_disturbed(postgres):
    with closing(SqlJournal(postgres, "study")) as journal:
        journal.create({})
        journal.append(EVENTS[:2])
        end_sessions(postgres)
        with closing(SqlJournal(postgres, "study")) as successor:
            with pytest.raises(StudyLocked, match="was taken over by another process while the connection to it was lost"):
                journal.append(EVENTS[2:4])
            successor.append(EVENTS[4:])
        with pytest.raises(StorageError, match="another process has written to it; close the study and open it again"):
            journal.append(EVENTS[2:4])
    with closing(SqlJournal(postgres, "study")) as journal:
        assert list(journal.events()) == EVENTS[:2] + EVENTS[4:]


def test_a_write_that_is_interrupted_while_it_waits_can_be_tried_again(proxy, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    with closing(SqlJournal(proxy.url, "study")) as journal:
        journal.create({})
        proxy.next_commit = "silence"
        with monkeypatch.context() as patch:
            patch.setattr(Clock, "__call__", interrupt)
            with pytest.raises(KeyboardInterrupt):
                journal.append(EVENTS[:2])
        journal.append(EVENTS)
        with pytest.raises(StudyLocked):
            SqlJournal(proxy.url, "study")
        assert list(journal.events()) == EVENTS


def test_a_reader_whose_session_ended_continues(postgres):
    with closing(SqlJournal(postgres, "study")) as writer:
        writer.create({})
        writer.append(EVENTS)
    with closing(SqlJournal(postgres, "study", write=False)) as reader:
        begun = reader.events()
        next(begun)
        end_sessions(postgres)
        assert list(begun) == EVENTS[1:]
        assert list(reader.events()) == EVENTS


def test_an_error_that_is_not_of_the_connection_is_raised_at_once(postgres, recwarn):
    with closing(SqlJournal(postgres, "study")) as journal:
        journal.create({})
        execute(postgres, "ALTER TABLE manyarms_events RENAME TO hidden")
        with pytest.raises(StorageError, match='"manyarms_events" does not exist'):
            journal.append(EVENTS)
        execute(postgres, "ALTER TABLE hidden RENAME TO manyarms_events")
        journal.append(EVENTS)
        assert list(journal.events()) == EVENTS
    assert [warning for warning in recwarn if warning.category is ManyarmsWarning] == []


def test_a_missing_study_is_still_not_found(proxy):
    SqlJournal(proxy.url, "study").close()
    with pytest.raises(StudyNotFound):
        SqlJournal(proxy.url, "study", write=False)


# -- settings


def settings(url):
    names = ("statement_timeout", "idle_in_transaction_session_timeout", "tcp_keepalives_idle", "application_name")
    with closing(SqlJournal(url, "study")) as journal:
        show = [sa.text(f"SHOW {name}") for name in names]
        return journal._connection.run(lambda connection: [connection.execute(query).scalar() for query in show])


def test_the_server_gets_time_limits_for_the_session(proxy):
    statement, transaction, keepalives, name = settings(proxy.url)
    assert (statement, transaction) == ("5min", "5min")
    assert keepalives in ("30", "0")  # 0 behind the proxy, where the server has a Unix socket
    assert name.startswith("manyarms ")
    assert settings(proxy.url)[-1] != name


def test_the_url_sets_time_limits_and_the_name_of_the_session(proxy):
    statement, _, _, name = settings(f"{proxy.url}&reply_timeout=2m&application_name={'Ünï' * 30}")
    assert statement == "20min"
    assert name.startswith("?n??n?")
    assert len(name) == 63
    assert settings(f"{proxy.url}&reply_timeout=365d")[0] == "2147483647ms"
