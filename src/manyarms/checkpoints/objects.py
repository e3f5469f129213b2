"""Checkpoints at an fsspec URL: uploaded with the manifest last, downloaded, and verified by their checksums.

A checkpoint without a manifest is incomplete and never loaded. Files are streamed, so they do not have to fit into memory.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import StorageError
from .files import remove as remove_local
from .manifest import MANIFEST, MOST, is_inside, listed_in, listing
from .names import is_entry, is_name
from .remote import BUCKETS, RemotePath, filesystem, shown_error

_BLOCK = 8 * 2**20  # bytes per part of an upload; S3 requires at least 5 MiB
_PARTS = 9_000  # maximum parts of a file; S3 allows 10,000
_AT_ONCE = 4  # files that are transferred in parallel


class PlaceUnreachable(StorageError):
    """The place of checkpoints cannot be reached, read or written."""


def upload(staged: Path, final: RemotePath) -> int:
    """Turn a local directory into a checkpoint: upload its files, then the manifest.

    Returns:
        The size in bytes.

    Raises:
        OSError: The checkpoint cannot be saved. What was uploaded is deleted, if possible.
    """
    sizes, text = listing(staged)
    (staged / MANIFEST).write_text(text, encoding="utf-8")  # so that the local copy is a checkpoint too
    try:
        fs, base = filesystem(final)

        def send(name: str) -> None:
            path = f"{base}/{name}"
            _make_parents(fs, final, path)
            block = max(_BLOCK, -(-sizes[name] // _PARTS))
            with open(staged / name, "rb") as source, fs.open(path, "wb", block_size=block) as target:
                shutil.copyfileobj(source, target, 2**20)

        _each(send, sizes)
        _make_parents(fs, final, f"{base}/{MANIFEST}")
        fs.pipe_file(f"{base}/{MANIFEST}", text.encode())
    except BaseException as error:
        with suppress(Exception):
            remove([final])
        if not isinstance(error, Exception):
            raise
        raise OSError(f"{final} cannot be written: {shown_error(error, final)}") from None
    return sum(sizes.values()) + len(text)


def download(checkpoint: RemotePath, into: Path) -> None:
    """Download a checkpoint to a new directory, and verify its checksums. If it fails, the directory is removed.

    Raises:
        OSError: The checkpoint is missing or corrupt.
        PlaceUnreachable: The place cannot be reached.
    """
    try:
        with _reaching(checkpoint):
            fs, base = _located(checkpoint)
            manifest, checksums = _manifest(fs, base)
            into.mkdir(mode=0o700, parents=True)
            (into / MANIFEST).write_bytes(manifest)

            def get(name: str) -> None:
                (into / name).parent.mkdir(parents=True, exist_ok=True)
                with open(into / name, "wb") as target:
                    if _read(fs, f"{base}/{name}", target) != checksums[name]:
                        raise _Corrupt("a file has changed")

            _each(get, checksums)
    except BaseException:
        remove_local(into)
        raise


def is_remote_sound(checkpoint: RemotePath) -> bool:
    """Whether every file of the manifest is as it was saved. The content is not kept."""
    try:
        with _reaching(checkpoint):
            fs, base = _located(checkpoint)
            checksums = _manifest(fs, base)[1]
            return all(_each(lambda name: _read(fs, f"{base}/{name}") == checksums[name], checksums))
    except OSError:
        return False


def is_complete(checkpoint: RemotePath) -> bool:
    """Whether a checkpoint exists, whether or not it is corrupt. Raises `PlaceUnreachable` if the place cannot be reached."""
    with _reaching(checkpoint):
        fs, base = filesystem(checkpoint)
        fs.invalidate_cache()
        return bool(fs.exists(f"{base}/{MANIFEST}"))


def entry_files(directory: RemotePath) -> dict[str, dict[str, int]]:
    """The sizes of the files of all checkpoints in the directory of a study, including incomplete ones."""
    found: dict[str, dict[str, int]] = {}
    with _reaching(directory):
        for path, size in _files(*filesystem(directory)).items():
            entry, _, name = path.partition("/")
            if name and is_entry(entry):
                found.setdefault(entry, {})[name] = size
    return found


def remove(checkpoints: Iterable[RemotePath]) -> None:
    """Delete checkpoints, and nothing else, even if their names are untrusted. Errors are ignored."""
    for parent, names in _by_parent(checkpoints).items():
        with suppress(Exception):  # the rest is deleted when the study is opened again
            fs, base = filesystem(names[0].parent)
            fs.invalidate_cache()
            if base and parent:
                fs.rm([f"{base}/{place.name}" for place in names], recursive=True)


def read_small(directory: RemotePath, name: str, most: int) -> bytes | None:
    """The content of a small file; None if it does not exist or is too large."""
    with _reaching(directory):
        fs, base = filesystem(directory)
        fs.invalidate_cache()
        try:
            size = fs.info(f"{base}/{name}")["size"]
            return bytes(fs.cat_file(f"{base}/{name}")) if size <= most else None
        except FileNotFoundError:
            return None


def write_small(directory: RemotePath, name: str, data: bytes) -> None:
    """Write a small file. Raises `PlaceUnreachable` if that fails."""
    try:
        fs, base = filesystem(directory)
        _make_parents(fs, directory, f"{base}/{name}")
        fs.pipe_file(f"{base}/{name}", data)
    except (StorageError, ImportError):
        raise
    except Exception as error:
        raise PlaceUnreachable(f"the checkpoints at {directory} cannot be written: {shown_error(error, directory)}") from None


@contextmanager
def _reaching(place: RemotePath) -> Iterator[None]:
    """Raise `PlaceUnreachable` if a place cannot be reached. A missing file is still an `OSError`."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, StorageError, ImportError):
        raise
    except _Corrupt as error:
        raise OSError(str(error)) from None
    except Exception as error:
        raise PlaceUnreachable(f"the checkpoints at {place} cannot be reached: {shown_error(error, place)}") from None


class _Corrupt(Exception):
    """A checkpoint is not as it was saved."""


def _located(checkpoint: RemotePath) -> tuple[Any, str]:
    """The file system of a checkpoint, and its path there. Names in an untrusted journal may be anything."""
    if not is_name(checkpoint.name):
        raise _Corrupt("its name is not that of a checkpoint")
    return filesystem(checkpoint)


def _manifest(fs: Any, base: str) -> tuple[bytes, dict[str, str]]:
    """The manifest of a checkpoint, and the checksums of its files, all of which exist with the right size."""
    found = _files(fs, base)
    if not 0 <= found.get(MANIFEST, -1) <= MOST:
        raise _Corrupt("it has no manifest")
    content = bytes(fs.cat_file(f"{base}/{MANIFEST}"))
    try:
        listed = listed_in(content)
    except ValueError:
        raise _Corrupt("the manifest cannot be read") from None
    if any(not is_inside(name) or found.get(name) != size for name, (size, _) in listed.items()):
        raise _Corrupt("files are missing or have changed")
    return content, {name: digest for name, (_, digest) in listed.items()}


def _read(fs: Any, path: str, target: BinaryIO | None = None) -> str:
    """Read a file in blocks, and copy it to `target` if given. Returns its checksum."""
    digest = blake2b(digest_size=16)
    with fs.open(path, "rb", block_size=_BLOCK) as source:  # `get_file` of s3fs would read 500 MB at once
        while block := source.read(2**20):
            digest.update(block)
            if target is not None:
                target.write(block)
    return digest.hexdigest()


def _files(fs: Any, base: str) -> dict[str, int]:
    """The sizes of the files below a directory, by relative name."""
    fs.invalidate_cache()  # other processes write too
    try:
        found = fs.find(base, detail=True)
    except FileNotFoundError:
        return {}
    above = f"{base}/"
    return {path.removeprefix(above): int(info["size"] or 0) for path, info in found.items() if path.startswith(above)}


def _make_parents(fs: Any, place: RemotePath, path: str) -> None:
    """Create the directory of a file. Not for object stores, which have no directories and would create a missing bucket."""
    if place.protocol not in BUCKETS:
        fs.makedirs(os.path.dirname(path), exist_ok=True)


def _each(act: Callable[[str], Any], names: Iterable[str]) -> list[Any]:
    """The results of calling `act` with each name, a few in parallel."""
    given = list(names)
    if len(given) < 2:
        return [act(name) for name in given]
    with ThreadPoolExecutor(min(_AT_ONCE, len(given)), thread_name_prefix="manyarms-files") as pool:
        futures = [pool.submit(act, name) for name in given]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _by_parent(checkpoints: Iterable[RemotePath]) -> dict[str, list[RemotePath]]:
    """The checkpoints of each study, without names that are not those of checkpoints."""
    found: dict[str, list[RemotePath]] = {}
    for place in checkpoints:
        if len(place.parts) > 1 and is_entry(place.name):
            found.setdefault(str(place.parent), []).append(place)
    return found
