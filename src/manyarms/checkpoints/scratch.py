"""Temporary directories of this process. If the process is killed, the next one on this machine removes them."""

from __future__ import annotations

import atexit
import os
import tempfile
import weakref
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


class ScratchDirectory:
    """A temporary directory that is removed when it is closed or when nothing refers to this object any more.

    Unlike `tempfile.TemporaryDirectory`, it does not warn in the second case, is left alone by forked processes, and does not
    outlive a killed process for long.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(dir=process_directory()))
        self._remove = weakref.finalize(self, _remove_scratch, self.path, os.getpid())

    def close(self) -> None:
        self._remove()


def _remove_scratch(path: Path, process: int) -> None:
    if process == os.getpid():  # not in a forked process
        remove(path)


def _made() -> _Directory:
    from filelock import FileLock

    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        lock = FileLock(path / _LOCK, thread_local=False)
        lock.acquire()
        if (path / _LOCK).exists():  # otherwise another process removed it before it was locked
            return _Directory(path, os.getpid(), lock)


def _remove(own: _Directory) -> None:
    global _own
    if own is _own:
        _own = None  # a lock that is deleted only with this module would print an error
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
