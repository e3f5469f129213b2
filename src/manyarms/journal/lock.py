"""A lock on a file, which the system releases when its holder's process ends."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock

_LENGTH = 100  # characters of a process id, more than enough


class FileLock:
    """A lock that is held from `acquire` to `release`. The file stays, and says which process took the lock last."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock: BaseFileLock | None = None

    def acquire(self) -> str | None:
        """Take the lock. If another process holds it, return the id of that process instead."""
        import filelock  # here: readers need no lock

        try:
            self._lock = filelock.FileLock(self._path, thread_local=False)
            self._lock.acquire(blocking=False)
        except filelock.Timeout:
            return self._holder()
        with suppress(PermissionError):  # Windows lets nobody write to a locked file
            self._path.write_text(str(os.getpid()), encoding="utf-8")
        return None

    def release(self) -> None:
        """Release the lock, if this object holds it."""
        if self._lock is not None:
            self._lock.release(force=True)

    def _holder(self) -> str:
        with suppress(OSError), self._path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_LENGTH).strip() or "unknown"
        return "unknown"
