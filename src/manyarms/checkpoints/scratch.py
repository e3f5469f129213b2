"""The temporary directory of this process. If the process is killed, the next one on this machine removes it."""

from __future__ import annotations

import atexit
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from .files import is_directory, remove

if TYPE_CHECKING:
    from filelock import BaseFileLock

_PREFIX = "manyarms-process-"
_LOCK = "lock"  # a file in the directory that is locked while the process is alive
_changing = Lock()


@dataclass(frozen=True, slots=True)
class _Directory:
    path: Path
    process: int
    lock: BaseFileLock


_own: _Directory | None = None


def process_directory() -> Path:
    """A directory that only this process uses, and only this user can read. It is removed when the process ends."""
    global _own
    with _changing:
        if _own is None or _own.process != os.getpid() or not is_directory(_own.path):  # a forked process needs its own
            _own = _made()
            atexit.register(_remove, _own)
            _remove_abandoned()
        return _own.path


def _made() -> _Directory:
    from filelock import FileLock

    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        lock = FileLock(path / _LOCK, thread_local=False)
        lock.acquire()
        if (path / _LOCK).exists():  # otherwise another process removed it before it was locked
            return _Directory(path, os.getpid(), lock)


def _remove(own: _Directory) -> None:
    if own.process == os.getpid():  # not in a forked process
        own.lock.release()
        remove(own.path)


def _remove_abandoned() -> None:
    """Remove the directories of this user's processes that were killed."""
    from filelock import FileLock, Timeout

    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError, Timeout):
            if is_directory(path) and (path / _LOCK).exists() and _is_mine(path):
                with FileLock(path / _LOCK, timeout=0):
                    remove(path)


def _is_mine(path: Path) -> bool:
    return not hasattr(os, "getuid") or os.lstat(path).st_uid == os.getuid()
