"""Where the checkpoints of a study are, for studies, readers and the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import StorageError
from ..journal import Journal
from . import Owner, is_checkpoint, is_owned, slug

_HERE = "manyarms-checkpoints"  # in the working directory, if the storage is not a file


def owner_of(journal: Journal, header: Mapping[str, Any]) -> Owner:
    """The study as the owner of its directory of checkpoints."""
    id = header.get("id")
    return Owner(journal.name, id if isinstance(id, str) else None, _place(journal))


def default_root(journal: Journal) -> Path:
    """The default directory: next to the database file, or in the working directory if the storage is not a file."""
    place = _place(journal)
    return Path(f"{place}-checkpoints") if isinstance(place, Path) else Path(_HERE).absolute()


def noted(root: Path, owner: Owner) -> str:
    """The directory as stored in the header: relative to the database if it is next to it, so that both can be moved."""
    directory = root.absolute() / owner.directory_name
    if isinstance(owner.place, Path) and directory.is_relative_to(owner.place.parent):
        return directory.relative_to(owner.place.parent).as_posix()
    return str(directory)


def directories(journal: Journal, header: Mapping[str, Any]) -> list[Path]:
    """The possible directories of a study: the one in its header, the default, and those of older versions."""
    directory, default = _noted_directory(journal, header), default_root(journal)
    roots = dict.fromkeys([default] if directory is None else [directory.parent, default])
    names = dict.fromkeys([owner_of(journal, header).directory_name, slug(journal.name)])
    found = [root / name for name in names for root in roots]
    return [path for path in found if not os.path.islink(path)] or found[:1]


def find_checkpoint(directories: Sequence[Path], name: str) -> Path:
    """The path of a checkpoint; if it does not exist, where it was expected."""
    places = [directory / name for directory in directories]
    return next((path for path in places if is_checkpoint(path)), places[0])


def usual_root(journal: Journal) -> Path:
    """The directory for the checkpoints of a study if the user gives none: where they are already, or the default."""
    header = journal.header
    found = None if header is None else _owned(journal, header)[0]
    return default_root(journal) if found is None else found.parent


def owned_root(journal: Journal, header: Mapping[str, Any]) -> Path:
    """The parent of the directory that the study owns, or the default. Being named in the header is not enough.

    Raises `StorageError` if the directory in the header belongs to another study, or has no owner file.
    """
    found, refusals = _owned(journal, header)
    if found is not None:
        return found.parent
    if refusals:
        raise refusals[0]
    unowned = _noted_directory(journal, header)
    if unowned is not None and unowned.parent != default_root(journal) and os.path.exists(unowned):
        raise StorageError(
            f"{str(unowned)!r} has no file that says it belongs to study {journal.name!r}: if it does, resume the study with "
            f"checkpoints={str(unowned.parent)!r}, which takes over its checkpoints, and try again"
        )
    return default_root(journal)


def _owned(journal: Journal, header: Mapping[str, Any]) -> tuple[Path | None, list[StorageError]]:
    """The directory that the study owns, if there is one, and why others are not owned."""
    refusals: list[StorageError] = []
    for directory in directories(journal, header):
        try:
            if is_owned(directory, owner_of(journal, header)):
                return directory, refusals
        except StorageError as error:
            refusals.append(error)
    return None, refusals


def _noted_directory(journal: Journal, header: Mapping[str, Any]) -> Path | None:
    """The directory in the header, relative to where the database is now."""
    text, place = header.get("checkpoints"), _place(journal)
    if not isinstance(text, str):
        return None
    return (place.parent / text if isinstance(place, Path) else Path(text)).absolute()


def _place(journal: Journal) -> Path | str | None:
    """The file or server of a journal, if known."""
    place: Path | str | None = getattr(journal, "place", None)
    return place
