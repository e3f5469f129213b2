"""Journals on a PostgreSQL server: the lock lives as long as the connection."""

import signal
from contextlib import closing

import pytest
from pg_outages import open_when_free

from manyarms.errors import StudyLocked
from manyarms.journal import Event
from manyarms.journal.sql import SqlJournal

EVENTS = [Event("asked", arm, 0, 1, data={"config": arm}) for arm in range(4)]


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
    with closing(open_when_free(postgres)) as journal:
        assert list(journal.events()) == EVENTS
