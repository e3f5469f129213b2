"""Journals on a PostgreSQL server: the lock lives as long as the connection."""

import signal
from contextlib import closing

import pytest
import sqlalchemy as sa
from waiting import wait_until

import manyarms as ma
from manyarms.errors import StorageError, StudyLocked
from manyarms.journal import Event
from manyarms.journal.database import parse_url
from manyarms.journal.sql import SqlJournal

EVENTS = [Event("asked", arm, 0, 1, data={"config": arm}) for arm in range(4)]
SPACE = ma.Space(x=ma.Float(0, 1))


def cut(url):
    """End all connections to a database but this one, as a restarted server or a lost network would."""
    engine = sa.create_engine(parse_url(url), poolclass=sa.pool.NullPool)
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with engine.connect() as connection:
        connection.execute(sa.text(f"SELECT pg_terminate_backend(pid, 60000) {others}"))
    engine.dispose()


def is_free(url):
    """Whether the journal can be opened for writing."""
    try:
        SqlJournal(url, "study").close()
    except StudyLocked:
        return False
    return True


def test_the_lock_is_free_when_its_holder_was_killed(postgres, start):
    def hold(ready):
        journal = SqlJournal(postgres, "study")
        journal.create({})
        journal.append(EVENTS)
        ready()
        signal.pause()

    holder = start(hold)
    with pytest.raises(StudyLocked, match="wait for it, stop it, or give this study another name"):
        SqlJournal(postgres, "study")
    holder.kill()
    assert wait_until(lambda: is_free(postgres))  # the server sees the end of a killed process a moment later
    with closing(SqlJournal(postgres, "study")) as journal:
        assert list(journal.events()) == EVENTS


def test_a_writer_whose_connection_was_lost_says_so_and_writes_no_more(postgres):
    with closing(SqlJournal(postgres, "study")) as journal:
        journal.create({})
        journal.append(EVENTS[:2])
        cut(postgres)
        with pytest.raises(StorageError, match="cannot write the journal of study 'study'.*open it again"):
            journal.append(EVENTS[2:])
        assert list(journal.events()) == EVENTS[:2]  # reading connects again, which does not bring back the lock
        with closing(SqlJournal(postgres, "study")) as successor:
            with pytest.raises(StorageError, match="the connection was lost; .* open it again"):
                journal.append(EVENTS[2:])
            successor.append(EVENTS[2:])
    with closing(SqlJournal(postgres, "study")) as journal:
        assert list(journal.events()) == EVENTS


def test_a_reader_whose_connection_was_lost_connects_again(postgres):
    with closing(SqlJournal(postgres, "study")) as writer:
        writer.create({})
        writer.append(EVENTS)
    with closing(SqlJournal(postgres, "study", write=False)) as reader:
        cut(postgres)
        with pytest.raises(StorageError, match="cannot read"):
            list(reader.events())
        assert list(reader.events()) == EVENTS


def test_a_study_that_lost_its_connection_goes_on_when_it_is_opened_again(postgres, tmp_path):
    def make():
        strategy = ma.RandomSearch(SPACE, budget=20, max_steps=1, seed=3)
        return ma.Study(strategy, storage=postgres, checkpoints=str(tmp_path))

    def train(pull):
        if pull.config["x"] > 0.9:
            cut(postgres)
        return pull.config["x"]

    study = make()
    with pytest.raises(StorageError, match="open it again"):
        study.optimize(train, progress=False)
    done = study.tally.pulls
    study.close()
    with make() as study:
        assert done <= study.tally.pulls < 20
        study.optimize(lambda pull: pull.config["x"], progress=False)
        assert study.tally.pulls == 20
        assert study.best_reward > 0.9
