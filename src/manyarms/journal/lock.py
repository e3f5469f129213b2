"""A lock on a file that its holder's death releases."""

from __future__ import annotations

import os
import weakref
from contextlib import suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows has no flock; there the database's own lock is the only guard
    fcntl = None  # type: ignore[assignment]


class FileLock:
    """Held from `acquire` to `release`; the system releases it if the process dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None

    def acquire(self) -> str | None:
        """Take the lock. If another process has it, say which instead (the number it wrote down)."""
        file = open(self._path, "a+")  # noqa: SIM115 - kept open while the lock is held
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with file:
                file.seek(0)
                return file.read().strip() or "unknown"
        except OSError:  # this file system has no locks
            file.close()
            raise
        self._file = file
        _held.add(self)
        try:
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
        except OSError:
            self.release()
            raise
        return None

    def release(self) -> None:
        """Let go of the lock, if it is held. The file stays: removing it could split the lock in two."""
        if self._file is not None and fcntl is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)  # closing is not enough while a forked child has the file open too
        self.forget()

    def forget(self) -> None:
        """Close the file; the lock stays with a process that this one was forked from, or to."""
        file, self._file = self._file, None
        _held.discard(self)
        if file is not None:
            with suppress(OSError):  # the number that could not be written to a full disk
                file.close()


_held: weakref.WeakSet[FileLock] = weakref.WeakSet()


def _forget_all() -> None:
    for lock in list(_held):
        lock.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)  # else the lock would outlive its holder in processes that it forked
