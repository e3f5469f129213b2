"""Reads, measures and deletes directories that may be untrusted: follows no links, and never blocks on a pipe."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b, file_digest
from io import BufferedReader
from pathlib import Path

_JUNCTION = 0xA0000003  # `stat.IO_REPARSE_TAG_MOUNT_POINT` of Windows: a link that looks like a directory
_SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def is_directory(path: Path) -> bool:
    """Whether the path is a directory, and not a link to one."""
    try:
        return _is_real(os.lstat(path))
    except (OSError, ValueError):
        return False


def regular_files(directory: Path) -> dict[str, int]:
    """The sizes of the files below a directory, by relative name. Raises `OSError` for links, pipes and devices."""
    if not is_directory(directory):
        raise OSError(f"{str(directory)!r} cannot be saved: it is not a directory, or is a link to one")
    sizes = {}
    for name, entry in _entries(directory, strict=True):
        if not entry.is_file(follow_symlinks=False):
            raise OSError(f"{name!r} is not a regular file; links, pipes and devices cannot be saved")
        sizes[name] = entry.stat(follow_symlinks=False).st_size
    return sizes


def size_of(directory: Path) -> int:
    """The total size in bytes of all readable regular files below a directory."""
    return sum(_size(entry) for _, entry in _entries(directory, strict=False)) if is_directory(directory) else 0


def read_regular(path: Path, most: int) -> bytes:
    """The content of a regular file. Raises `OSError` if it is larger than `most` bytes, or not a regular file."""
    with _open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise OSError(f"{path} has more than {most} bytes")
        return file.read(most)


def checksum(path: Path) -> str:
    """The checksum of a regular file, as 32 hexadecimal digits."""
    with _open_regular(path) as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()


def remove(directory: Path) -> None:
    """Delete a directory and everything below it, without following links. Files that cannot be deleted are left."""
    with suppress(RecursionError):  # nested too deep
        shutil.rmtree(directory, ignore_errors=True)
        if sys.platform == "win32" and is_directory(directory):  # Windows cannot delete read-only files
            for name, entry in _entries(directory, strict=False):
                if entry.is_file(follow_symlinks=False):
                    with suppress(OSError):
                        os.chmod(directory / name, stat.S_IWRITE)
            shutil.rmtree(directory, ignore_errors=True)


def _open_regular(path: Path) -> BufferedReader:
    if not hasattr(os, "O_NOFOLLOW") and not stat.S_ISREG(os.lstat(path).st_mode):
        raise OSError(f"{path} is not a regular file")
    file = os.fdopen(os.open(path, os.O_RDONLY | _SAFELY), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(f"{path} is not a regular file")
    return file


def _entries(directory: Path, strict: bool) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Everything below a directory except directories, by relative name. Unless `strict`, unreadable parts are skipped."""
    rest = [""]  # not recursive, because an untrusted directory may be nested very deep
    while rest:
        below = rest.pop()
        try:
            entries = os.scandir(os.path.join(directory, below))  # faster than a Path for deep directories
        except OSError:
            if strict:
                raise
            continue
        with entries:
            for entry in entries:
                name = f"{below}/{entry.name}" if below else entry.name
                if entry.is_dir(follow_symlinks=False) and not _is_junction(entry):
                    rest.append(name)
                else:
                    yield name, entry


def _is_real(status: os.stat_result) -> bool:
    """Whether the status is that of a directory, and not of a link to one."""
    return stat.S_ISDIR(status.st_mode) and getattr(status, "st_reparse_tag", 0) != _JUNCTION


def _is_junction(directory: os.DirEntry[str]) -> bool:
    try:
        return not _is_real(directory.stat(follow_symlinks=False))
    except OSError:  # deleted in the meantime, which reading it will show
        return False


def _size(entry: os.DirEntry[str]) -> int:
    """The size of a regular file in bytes; 0 for anything else, and for files deleted in the meantime."""
    try:
        return entry.stat(follow_symlinks=False).st_size if entry.is_file(follow_symlinks=False) else 0
    except OSError:
        return 0
