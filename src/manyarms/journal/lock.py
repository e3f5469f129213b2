"""A lock on a file that its holder's death releases."""

from __future__ import annotations

import errno
import os
import sys
import weakref
from contextlib import suppress
from io import FileIO
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_BEYOND = 2**30  # Windows: a locked byte cannot be read by others, so it is one far behind the holder's number
_LONGEST = 100  # bytes of that number, plenty


class FileLock:
    """Held from `acquire` to `release`; the system releases it if the process dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: FileIO | None = None

    def acquire(self) -> str | None:
        """Take the lock. If another process has it, say which instead (the number it wrote down)."""
        file = FileIO(self._path, "r+", opener=_made)
        try:
            holder = None if _lock(file.fileno()) else _number(file)
        except OSError:  # this file system has no locks
            file.close()
            raise
        if holder is not None:
            file.close()
            return holder
        self._file = file
        _held.add(self)
        try:
            file.truncate(0)
            file.seek(0)
            file.write(str(os.getpid()).encode())
        except OSError:
            self.release()
            raise
        return None

    def release(self) -> None:
        """Release the lock, if it is held. The file stays: removing it could split the lock in two."""
        if self._file is not None:
            _unlock(self._file.fileno())
        self.forget()

    def forget(self) -> None:
        """Close the file; the lock stays with a process that this one was forked from, or to."""
        file, self._file = self._file, None
        _held.discard(self)
        if file is not None:
            with suppress(OSError):
                file.close()


def _made(path: str, flags: int) -> int:
    """Open a file that is made if it is not there."""
    return os.open(path, flags | os.O_CREAT, 0o666)


def _number(file: FileIO) -> str:
    file.seek(0)
    return file.read(_LONGEST).decode(errors="replace").strip() or "unknown"


if sys.platform == "win32":

    def _lock(file: int) -> bool:
        os.lseek(file, _BEYOND, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno != errno.EACCES:
                raise
            return False
        return True

    def _unlock(file: int) -> None:
        os.lseek(file, _BEYOND, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:

    def _lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)  # closing is not enough while a forked child has the file open too


_held: weakref.WeakSet[FileLock] = weakref.WeakSet()


def _forget_all() -> None:
    for lock in list(_held):
        lock.forget()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_forget_all)  # else the lock would outlive its holder in processes that it forked
