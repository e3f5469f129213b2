"""The owner of a directory of checkpoints: a file in it names the study, and no other study may use it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import StorageError
from .files import is_directory, read_regular
from .names import directory_name, slug
from .objects import read_small, write_small
from .remote import Location, RemotePath

OWNER = "owner.json"
"""The file that names the owner of a directory."""

_MOST = 2**16  # maximum size of that file in bytes


@dataclass(frozen=True, slots=True)
class Owner:
    """A study as the owner of a directory.

    Args:
        name: The name of the study.
        id: The id in its header. None in custom journals that were written before studies had ids. Such a study owns no
            directory. It uses a directory named after its name alone, and in it only the checkpoints that its journal names.
        place: The file or server of its journal, which distinguishes it from a copy with the same id; None if unknown.
    """

    name: str
    id: str | None = None
    place: Path | str | None = None

    @property
    def directory_name(self) -> str:
        """The name of the study's directory."""
        return slug(self.name) if self.id is None else directory_name(self.name, self.id)

    def record(self, directory: Location) -> str | None:
        """The content of the owner file; None if the study owns no directory."""
        if self.id is None:
            return None
        return json.dumps({"id": self.id, "name": self.name, "storage": self.storage(directory)})

    def storage(self, directory: Location) -> str | None:
        """The place of the journal. A file is relative to a local directory, so that both can be moved together."""
        if not isinstance(self.place, Path):
            return self.place
        file = self.place.resolve()
        if isinstance(directory, RemotePath):
            return str(file)
        try:
            return Path(os.path.relpath(file, directory.resolve())).as_posix()
        except ValueError:  # on another drive of Windows
            return str(file)


def is_owned(directory: Location, owner: Owner) -> bool:
    """Whether the study owns the directory; False if it has no owner file. Raises `StorageError` if another study owns it."""
    found = _read(directory)
    if found is None:
        return False
    if found["id"] != owner.id:
        raise StorageError(f"{_belongs(directory, found)}: pass another directory for this study with checkpoints=")
    if _is_copy(directory, found.get("storage"), owner.storage(directory)):
        raise StorageError(
            f"{_belongs(directory, found)} in {found['storage']!r:.300}, of which this is a copy: give the copy another "
            f"directory with checkpoints=, or, if the study has moved here for good, delete {str(directory / OWNER)!r}"
        )
    return True


def says(directory: Location, record: str) -> bool:
    """Whether the owner file exists with this content."""
    return bool(_read(directory) == json.loads(record))


def mark(directory: Path, record: str) -> None:
    """Write the owner file, unless it has this content already. Errors are ignored."""
    if not says(directory, record):
        with suppress(OSError):
            (directory / OWNER).unlink(missing_ok=True)  # it may be a link, which must not be followed
            (directory / OWNER).write_text(record, encoding="utf-8")


def mark_remote(directory: RemotePath, record: str) -> None:
    """Write the owner file. Raises `StorageError` if that fails. It is written in any case, to see that it can be."""
    write_small(directory, OWNER, record.encode())


def claim(directory: Path, record: str) -> None:
    """Create the directory with its owner file. Raises `OSError` if that fails, or if another study owns it."""
    directory.mkdir(parents=True, exist_ok=True)
    if not is_directory(directory):
        raise PermissionError(f"{directory} is a link")
    try:
        with open(directory / OWNER, "x", encoding="utf-8") as file:
            file.write(record)
    except FileExistsError:
        found = _read(directory)  # None if another worker is writing it
        if found is not None and found != json.loads(record):
            raise PermissionError(_belongs(directory, found)) from None


def _read(directory: Location) -> Mapping[str, Any] | None:
    """The content of the owner file; None if it is missing or corrupt, for example after a power cut."""
    try:
        if isinstance(directory, RemotePath):
            found = json.loads(read_small(directory, OWNER, _MOST) or b"null")
        else:
            found = json.loads(read_regular(directory / OWNER, _MOST))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("id"), str) else None


def _is_copy(directory: Location, recorded: Any, storage: str | None) -> bool:
    """Whether the directory belongs to a study that still exists elsewhere, so that this one is a copy and was not moved."""
    if not isinstance(recorded, str) or storage is None or recorded == storage:
        return False
    if "://" in recorded or isinstance(directory, RemotePath):
        return True  # the study may still be on that server, or on another machine
    here = directory.resolve()
    try:
        return not os.path.samefile(here / recorded, here / storage)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:  # not readable
        return True


def _belongs(directory: Location, found: Mapping[str, Any]) -> str:
    return (
        f"the checkpoint directory {str(directory)!r} belongs to study {found.get('name')!r:.300} with id {found['id']!r:.80}"
    )
