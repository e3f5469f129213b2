"""A lock on a file that its holder's death releases."""

from __future__ import annotations

import os
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
        except OSError:
            file.seek(0)
            holder = file.read().strip()
            file.close()
            return holder or "unknown"
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        self._file = file
        return None

    def release(self) -> None:
        """Let go of the lock, if it is held. The file stays: removing it could split the lock in two."""
        if self._file is not None:
            self._file.close()
            self._file = None
