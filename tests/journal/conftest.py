"""A PostgreSQL server, small disks, and processes that can be killed."""

import itertools
import os
import signal

import disks
import pg_outages
import pytest
from sqlalchemy.engine import make_url

_numbers = itertools.count()


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server, started once per session."""
    with pg_outages.running_server() as server:
        yield server


@pytest.fixture
def postgres(server):
    """The URL of an empty database."""
    database = f"test_{next(_numbers)}"
    server.psql(f"CREATE DATABASE {database}")
    yield server.get_uri(database=database)
    server.psql(f"DROP DATABASE {database} WITH (FORCE)")


@pytest.fixture
def clock(monkeypatch):
    """The clock with which connections measure how long a server has not replied."""
    limited = pytest.importorskip("manyarms.journal.reply_limit").LimitedConnection
    clock = pg_outages.Clock()
    monkeypatch.setattr(limited, "clock", clock)
    return clock


@pytest.fixture
def proxy(postgres, clock):
    url = make_url(postgres)
    proxy = pg_outages.Proxy(url.query["host"], clock)
    proxy.url = f"postgresql://postgres@127.0.0.1:{proxy.port}/{url.database}?sslmode=disable&gssencmode=disable"
    proxy.impatient = f"{proxy.url}&reconnect_timeout=0.5s"
    yield proxy
    proxy.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """The URL of an empty database of each kind."""
    return f"sqlite:///{tmp_path}/studies.db" if request.param == "sqlite" else request.getfixturevalue("postgres")


@pytest.fixture
def small_disk(tmp_path):
    """A directory on a disk of 256 kB."""
    with disks.small_disk(tmp_path / "disk", "256k") as disk:
        yield disk


@pytest.fixture
def start():
    """Runs a function in its own process, and waits until the function calls its argument."""
    processes = []

    def start(function):
        processes.append(Process(function))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()


class Process:
    """A forked process, because importing the library would take longer than most of these tests."""

    def __init__(self, function):
        ready, say_ready = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                function(lambda: os.write(say_ready, b"!"))
            finally:
                os._exit(0)  # without the cleanup of the tests, which is left to the parent
        self._running = True
        os.close(say_ready)
        assert os.read(ready, 1), "the process ended before it was ready"
        os.close(ready)

    def kill(self):
        """Kill the process, and wait until it has ended."""
        if self._running:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self._running = False
