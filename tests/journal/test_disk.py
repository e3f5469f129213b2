"""Journals in SQLite files: full and read-only disks, killed writers, and the lock between processes."""

import errno
import fcntl
import os
import random
import signal
import sqlite3
import subprocess
import time
from contextlib import closing, suppress
from functools import partial

import pytest

from manyarms.errors import StorageError, StudyLocked
from manyarms.journal import Event
from manyarms.journal.lock import FileLock
from manyarms.journal.sql import SqlJournal

KILLS = 10
BATCH = 20


def batch(first, size=10):
    """Events that are numbered, so that a journal with some of them missing is seen."""
    return [Event("asked", arm, 0, 1, data={"config": "x" * size}) for arm in range(first, first + BATCH)]


def fill(journal):
    """Append until there is no room any more."""
    while len(journal) < 10_000:
        journal.append(batch(len(journal), size=1_000))


def fill_with(junk):
    """Take all the room there is."""
    with suppress(OSError), junk.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4_096))


def numbers(journal):
    return [event.arm for event in journal.events()]


# -- disks


def test_a_full_disk_is_an_error_that_loses_nothing_and_can_be_got_over(small_disk):
    (small_disk / "junk").write_bytes(bytes(64_000))
    with closing(SqlJournal(f"{small_disk}/studies.db", "study")) as journal:
        journal.create({})
        with pytest.raises(StorageError, match="cannot write the journal of study 'study'.*full"):
            fill(journal)
        written = len(journal)
        assert written % BATCH == 0
        assert numbers(journal) == list(range(written))
        with closing(SqlJournal(f"{small_disk}/studies.db", "study", write=False)) as reader:
            assert numbers(reader) == list(range(written))
        (small_disk / "junk").unlink()
        journal.append(batch(written))
        assert numbers(journal) == list(range(written + BATCH))
    with closing(SqlJournal(f"{small_disk}/studies.db", "study")) as journal:
        assert numbers(journal) == list(range(written + BATCH))


def test_a_study_that_finds_the_disk_full_is_not_left_locked(small_disk):
    with closing(SqlJournal(f"{small_disk}/studies.db", "study")) as journal:
        journal.create({})
    fill_with(small_disk / "junk")
    with pytest.raises(StorageError, match="cannot open the journal of study 'other'.*No space left") as raised:
        SqlJournal(f"{small_disk}/studies.db", "other")
    (small_disk / "junk").unlink()
    SqlJournal(f"{small_disk}/studies.db", "other").close()  # while the error, and all it refers to, is still there
    assert raised.value.__cause__ is not None


def test_a_limit_on_the_size_of_the_database_is_got_over_like_a_full_disk(tmp_path):
    with closing(SqlJournal(f"{tmp_path}/studies.db", "study")) as journal:
        journal.create({})

        def limit(pages):
            journal._connection.run(lambda connection: connection.exec_driver_sql(f"PRAGMA max_page_count={pages}"))

        limit(60)
        with pytest.raises(StorageError, match="full"):
            fill(journal)
        written = len(journal)
        assert numbers(journal) == list(range(written)) != []
        limit(1000)
        journal.append(batch(written))
        assert numbers(journal) == list(range(written + BATCH))


def test_on_a_read_only_disk_a_study_can_be_read_but_not_written(small_disk):
    with closing(SqlJournal(f"{small_disk}/studies.db", "study")) as journal:
        journal.create({})
        journal.append(batch(0))
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with closing(SqlJournal(f"{small_disk}/studies.db", "study", write=False)) as reader:
        assert numbers(reader) == list(range(BATCH))
    with pytest.raises(StorageError, match="cannot open the journal of study 'study'.*Read-only"):
        SqlJournal(f"{small_disk}/studies.db", "study")
    with pytest.raises(StorageError, match="cannot open the journal of study 'study' in .*new.db"):
        SqlJournal(f"{small_disk}/new.db", "study")


# -- killed writers


def test_a_writer_killed_at_any_moment_leaves_whole_appends_and_no_lock(tmp_path, start):
    storage, moments, written = f"{tmp_path}/studies.db", random.Random(0), []

    def write(ready, life):
        journal = SqlJournal(storage, "study")
        if journal.header is None:
            journal.create({})
        if life % 2:  # else even a first append may be cut short
            journal.append(batch(len(journal), size=2_000))
        ready()
        while True:
            journal.append(batch(len(journal), size=2_000))

    for life in range(KILLS):
        writer = start(partial(write, life=life))
        time.sleep(moments.uniform(0.0, 0.05))
        writer.kill()
        with closing(SqlJournal(storage, "study")) as journal:
            written.append(len(journal))
            assert written[-1] % BATCH == 0
            assert numbers(journal) == list(range(written[-1]))
    assert written == sorted(written)
    assert written[-1] >= KILLS // 2 * BATCH


def test_a_reader_rolls_back_what_a_killed_writer_left_half_written(tmp_path, start):
    with closing(SqlJournal(f"{tmp_path}/studies.db", "study")) as journal:
        journal.create({})
        journal.append(batch(0))
    before = (tmp_path / "studies.db").read_bytes()

    def write_half(ready):
        connection = sqlite3.connect(tmp_path / "studies.db", isolation_level=None)
        connection.execute("PRAGMA cache_size=1")  # page, so that the file is written to before the commit
        connection.execute("BEGIN IMMEDIATE")
        rows = [(1, BATCH + i, "asked", "x" * 2_000, "") for i in range(200)]
        connection.executemany("INSERT INTO manyarms_events (study, number, kind, data, checksum) VALUES (?, ?, ?, ?, ?)", rows)
        ready()
        signal.pause()

    start(write_half).kill()
    if not (tmp_path / "studies.db-journal").exists():
        pytest.skip("SQLite keeps a write-ahead log here")
    assert (tmp_path / "studies.db").read_bytes() != before
    with closing(SqlJournal(f"{tmp_path}/studies.db", "study", write=False)) as reader:
        assert numbers(reader) == list(range(BATCH))
    assert not (tmp_path / "studies.db-journal").exists()


# -- the lock


def test_a_lock_held_by_a_living_process_names_it_and_is_free_when_it_dies(tmp_path, start):
    def hold(ready):
        journal = SqlJournal(f"{tmp_path}/studies.db", "study")
        journal.create({})
        ready()
        signal.pause()

    holder = start(hold)
    message = rf"is being written by another process \(process {holder.pid}\): wait for it, stop it, or .* another name"
    with pytest.raises(StudyLocked, match=message):
        SqlJournal(f"{tmp_path}/studies.db", "study")
    SqlJournal(f"{tmp_path}/studies.db", "another").close()
    SqlJournal(f"{tmp_path}/studies.db", "study", write=False).close()
    holder.kill()
    SqlJournal(f"{tmp_path}/studies.db", "study").close()


def test_a_study_reached_through_a_link_is_the_same_study(tmp_path):
    (tmp_path / "link.db").symlink_to(tmp_path / "studies.db")
    with closing(SqlJournal(f"{tmp_path}/studies.db", "study")), pytest.raises(StudyLocked):
        SqlJournal(f"{tmp_path}/link.db", "study")


@pytest.mark.parametrize("end", ["close", "kill"])
def test_a_process_that_the_writer_forked_does_not_keep_the_lock(tmp_path, start, end):
    """Such as a data loader's worker, which may outlive the killed process that trained."""
    child, pid_of_child = os.pipe()

    def hold(ready):
        journal = SqlJournal(f"{tmp_path}/studies.db", "study")
        if os.fork() == 0:
            os.write(pid_of_child, str(os.getpid()).encode())
            signal.pause()
        if end == "close":
            journal.close()
        ready()
        signal.pause()

    holder = start(hold)
    orphan = int(os.read(child, 20))
    if end == "kill":
        holder.kill()
    try:
        SqlJournal(f"{tmp_path}/studies.db", "study").close()
    finally:
        os.kill(orphan, signal.SIGKILL)


def test_a_forked_process_that_ends_does_not_free_the_lock(tmp_path):
    with closing(SqlJournal(f"{tmp_path}/studies.db", "study")) as journal:
        if (pid := os.fork()) == 0:
            journal._lock.release()
            os._exit(0)
        os.waitpid(pid, 0)
        with pytest.raises(StudyLocked):
            SqlJournal(f"{tmp_path}/studies.db", "study")


def test_a_file_system_without_locks_is_not_taken_for_a_locked_study(tmp_path, monkeypatch):
    def refuse(file, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StorageError, match="cannot open the journal of study 'study'.*No locks available"):
        SqlJournal(f"{tmp_path}/studies.db", "study")


def test_a_lock_may_be_released_twice_and_one_that_nobody_uses_any_more_is_free(tmp_path):
    held = FileLock(tmp_path / "study.lock")
    assert held.acquire() is None
    held.release()
    held.release()
    assert held.acquire() is None
    assert FileLock(tmp_path / "study.lock").acquire() == str(os.getpid())
    del held
    assert FileLock(tmp_path / "study.lock").acquire() is None
