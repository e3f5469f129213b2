"""The manifest of a checkpoint: which files it has, with their sizes and checksums."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from .files import checksum, is_directory, read_regular, regular_files, size_of

MANIFEST = "manyarms.json"
"""The file that makes a directory a checkpoint: its other files, with size and checksum."""

_MOST = 16 * 2**20  # bytes of a manifest, enough for 200,000 files
_NOT_YET = "0" * 32  # in place of a checksum


def commit(staged: Path, final: Path, lasting: bool = True) -> int:
    """Turn a directory of files into a checkpoint: add the manifest, sync, rename.

    Args:
        staged: The directory as it was written.
        final: Where the checkpoint goes.
        lasting: Wait for the disk, so that the checkpoint survives a power cut.

    Returns:
        Its size in bytes. `OSError` if it cannot be saved.
    """
    sizes = _files(staged)
    text = _text(sizes, {name: checksum(staged / name) for name in sizes})
    (staged / MANIFEST).write_text(text, encoding="utf-8")
    for path in (*(staged / name for name in sizes), staged / MANIFEST, staged) if lasting else ():
        _sync(path)
    staged.rename(final)
    if lasting:
        _sync(final.parent)
    return size_of(final)


def committed_size(staged: Path) -> int:
    """The bytes that the directory will take as a checkpoint. `OSError` if it cannot be one."""
    sizes = _files(staged)
    return sum(sizes.values()) + len(_text(sizes, dict.fromkeys(sizes, _NOT_YET)))


def is_checkpoint(path: Path) -> bool:
    """Whether there is a checkpoint, sound or corrupt."""
    return is_directory(path) and os.path.lexists(path / MANIFEST)


def is_sound(checkpoint: Path) -> bool:
    """Whether every file of the manifest is there as it was saved; False if it is corrupt or missing.

    Only regular files inside the checkpoint are ever read, regardless of what the manifest names, and none of them before all
    have the sizes that it gives.
    """
    try:
        if not is_directory(checkpoint):
            return False
        listed, there = _listed(checkpoint), regular_files(checkpoint)
        return all(there.get(name) == size for name, (size, _) in listed.items()) and all(
            checksum(checkpoint / name) == digest for name, (_, digest) in listed.items()
        )
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return False


def saved_sizes(checkpoint: Path) -> dict[str, int]:
    """The files that a sound checkpoint was saved with, and their sizes; not those that were added later."""
    return {name: size for name, (size, _) in _listed(checkpoint).items()}


def _listed(checkpoint: Path) -> dict[str, tuple[int, str]]:
    """The files of the manifest, with their sizes and checksums, if it is what we wrote; a stranger's may be anything."""
    listed: dict[str, tuple[int, str]] = json.loads(read_regular(checkpoint / MANIFEST, _MOST))
    return listed


def _files(staged: Path) -> dict[str, int]:
    """The files to save, in the order of their names."""
    return {name: size for name, size in sorted(regular_files(staged).items()) if name != MANIFEST}


def _text(sizes: Mapping[str, int], checksums: Mapping[str, str]) -> str:
    text = json.dumps({name: [size, checksums[name]] for name, size in sizes.items()})
    if len(text) > _MOST:
        raise OSError(errno.EFBIG, f"{len(sizes)} files are too many for one checkpoint")
    return text


def _sync(path: Path) -> None:
    """Wait until a file or directory is on disk. Windows has no such call for directories, and needs to write the file."""
    if sys.platform == "win32" and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
