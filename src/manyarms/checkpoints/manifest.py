"""The manifest of a checkpoint: which files it has, with their sizes and checksums."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from .files import checksum, is_directory, read_regular, regular_files, size_of

MANIFEST = "manyarms.json"
"""The file that makes a directory a checkpoint. It lists the other files with their sizes and checksums."""

MOST = 16 * 2**20
"""Maximum size of a manifest in bytes, enough for 200,000 files."""

_NOT_YET = "0" * 32  # in place of a checksum


def commit(staged: Path, final: Path, lasting: bool = True) -> int:
    """Turn a directory of files into a checkpoint: add the manifest, sync, rename.

    Args:
        staged: The directory as it was written.
        final: The path of the checkpoint.
        lasting: Whether to wait for the disk, so that the checkpoint survives a power cut.

    Returns:
        The size in bytes.

    Raises:
        OSError: The checkpoint cannot be saved.
    """
    sizes, text = listing(staged)
    (staged / MANIFEST).write_text(text, encoding="utf-8")
    for path in (*(staged / name for name in sizes), staged / MANIFEST, staged) if lasting else ():
        _sync(path)
    staged.rename(final)
    if lasting:
        _sync(final.parent)
    return size_of(final)


def listing(staged: Path) -> tuple[dict[str, int], str]:
    """The sizes of the files of a directory, and the content of its manifest. Raises `OSError` if it cannot be saved."""
    sizes = _files(staged)
    return sizes, _text(sizes, {name: checksum(staged / name) for name in sizes})


def committed_size(staged: Path) -> int:
    """The size in bytes of the directory as a checkpoint. Raises `OSError` if it cannot be one."""
    sizes = _files(staged)
    return sum(sizes.values()) + len(_text(sizes, dict.fromkeys(sizes, _NOT_YET)))


def is_checkpoint(path: Path) -> bool:
    """Whether a checkpoint exists, whether or not it is corrupt."""
    return is_directory(path) and os.path.lexists(path / MANIFEST)


def is_sound(checkpoint: Path) -> bool:
    """Whether every file of the manifest is as it was saved; False if the checkpoint is corrupt or missing.

    Only regular files inside the checkpoint are read, regardless of what the manifest lists, and only if all of them have the
    right size.
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
    """The sizes of the files that a sound checkpoint was saved with, without files that were added later."""
    return {name: size for name, (size, _) in _listed(checkpoint).items()}


def _listed(checkpoint: Path) -> dict[str, tuple[int, str]]:
    """The sizes and checksums in the manifest. An untrusted manifest may contain anything."""
    listed: dict[str, tuple[int, str]] = json.loads(read_regular(checkpoint / MANIFEST, MOST))
    return listed


def listed_in(manifest: bytes) -> dict[str, tuple[int, str]]:
    """The sizes and checksums in a manifest. Raises `ValueError` if it is not one."""
    try:
        found: Any = json.loads(manifest)
        return {name: (int(size), str(digest)) for name, (size, digest) in found.items()}
    except (AttributeError, TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def is_inside(name: str) -> bool:
    """Whether this is the name of a file inside a checkpoint, other than the manifest."""
    path = PurePath(name)
    return bool(path.parts) and not path.anchor and ".." not in path.parts and "\0" not in name and name != MANIFEST


def _files(staged: Path) -> dict[str, int]:
    """The sizes of the files to save, in the order of their names."""
    return {name: size for name, size in sorted(regular_files(staged).items()) if name != MANIFEST}


def _text(sizes: Mapping[str, int], checksums: Mapping[str, str]) -> str:
    text = json.dumps({name: [size, checksums[name]] for name, size in sizes.items()})
    if len(text) > MOST:
        raise OSError(errno.EFBIG, f"{len(sizes)} files are too many for one checkpoint")
    return text


def _sync(path: Path) -> None:
    """Wait until a file or directory is on disk. Windows cannot do this for directories, and must open files for writing."""
    if sys.platform == "win32" and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
