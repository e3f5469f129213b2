"""Where the checkpoints of a study are, for studies, readers and the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import StorageError
from ..journal import Journal
from . import Owner, is_checkpoint, is_owned, is_sound, slug
from .objects import PlaceUnreachable, is_complete, is_remote_sound
from .remote import Location, RemotePath, is_url, location, stored_location

_HERE = "manyarms-checkpoints"  # in the working directory, if the storage is not a file

Options = Mapping[str, Any] | None
"""Arguments of the file system of checkpoints at a URL; None means that they come from the environment."""


def owner_of(journal: Journal, header: Mapping[str, Any]) -> Owner:
    """The study as the owner of its directory of checkpoints."""
    id = header.get("id")
    return Owner(journal.name, id if isinstance(id, str) else None, _place(journal))


def default_root(journal: Journal) -> Path:
    """The default directory: next to the database file, or in the working directory if the storage is not a file."""
    place = _place(journal)
    return Path(f"{place}-checkpoints") if isinstance(place, Path) else Path(_HERE).absolute()


def absolute(text: str) -> str:
    """A path or URL that means the same in any working directory."""
    found = location("checkpoints", text)
    return str(found.absolute() if isinstance(found, Path) else found)


def noted(root: Location, owner: Owner) -> str:
    """The directory as stored in the header: relative if it is inside the database's directory, so that both can be moved."""
    if isinstance(root, RemotePath):
        return str(root / owner.directory_name)
    directory = root.absolute() / owner.directory_name
    if isinstance(owner.place, Path) and directory.is_relative_to(owner.place.parent):
        return directory.relative_to(owner.place.parent).as_posix()
    return str(directory)


def directories(journal: Journal, header: Mapping[str, Any], options: Options = None) -> list[Location]:
    """The possible directories of a study: the one in its header, the default, and those of older versions."""
    directory, default = _noted_directory(journal, header, options), default_root(journal)
    own = owner_of(journal, header).directory_name
    if isinstance(directory, RemotePath):  # older versions stored none at a URL
        return [directory.parent / own, *_local([default], [own])]
    return _local([default] if directory is None else [directory.parent, default], [own, slug(journal.name)])


def _local(roots: Sequence[Path], names: Sequence[str]) -> list[Location]:
    found: list[Path] = [root / name for name in dict.fromkeys(names) for root in dict.fromkeys(roots)]
    return [*(path for path in found if not os.path.islink(path))] or [*found[:1]]


def find_checkpoint(directories: Sequence[Location], name: str) -> Location:
    """Where a checkpoint is; if it does not exist, where it was expected.

    Raises `StorageError` if a place cannot be reached.
    """
    places = [directory / name for directory in directories]
    return next((place for place in places if exists(place)), places[0])


def exists(checkpoint: Location) -> bool:
    """Whether a checkpoint exists, whether or not it is corrupt. Raises `StorageError` if the place cannot be reached."""
    return is_complete(checkpoint) if isinstance(checkpoint, RemotePath) else is_checkpoint(checkpoint)


def is_intact(checkpoint: Location) -> bool:
    """Whether every file of a checkpoint is as it was saved."""
    return is_remote_sound(checkpoint) if isinstance(checkpoint, RemotePath) else is_sound(checkpoint)


def usual_root(journal: Journal) -> Location:
    """The directory for the checkpoints of a study if the user passes none: where they already are, or the default.

    Raises `StorageError` if they are at a URL that cannot be reached.
    """
    header = journal.header
    found = None if header is None else _owned(journal, header)[0]
    return default_root(journal) if found is None else found.parent


def owned_root(journal: Journal, header: Mapping[str, Any]) -> Location:
    """The parent of the directory that the study owns, or the default. A directory in the header is not enough to own it.

    Raises `StorageError` if the directory in the header belongs to another study, or has no owner file.
    """
    found, refusals = _owned(journal, header)
    if found is not None:
        return found.parent
    if refusals:
        raise refusals[0]
    unowned = _noted_directory(journal, header)
    if unowned is not None and unowned.parent != default_root(journal) and _may_exist(unowned):
        raise StorageError(
            f"{str(unowned)!r} has no owner file, so it may not belong to study {journal.name!r}. If it does, resume the study "
            f"with checkpoints={str(unowned.parent)!r} to take over the checkpoints in it, and try again"
        )
    return default_root(journal)


def _may_exist(directory: Location) -> bool:
    return isinstance(directory, RemotePath) or os.path.exists(directory)


def _owned(journal: Journal, header: Mapping[str, Any]) -> tuple[Location | None, list[StorageError]]:
    """The directory that the study owns, if there is one, and why others are not owned."""
    refusals: list[StorageError] = []
    for directory in directories(journal, header):
        try:
            if is_owned(directory, owner_of(journal, header)):
                return directory, refusals
        except PlaceUnreachable:
            raise
        except StorageError as error:
            refusals.append(error)
    return None, refusals


def _noted_directory(journal: Journal, header: Mapping[str, Any], options: Options = None) -> Location | None:
    """The directory in the header. A path is relative to where the database is now."""
    text, place = header.get("checkpoints"), _place(journal)
    if not isinstance(text, str):
        return None
    if is_url(text):
        return stored_location(text, options)
    return (place.parent / text if isinstance(place, Path) else Path(text)).absolute()


def _place(journal: Journal) -> Path | str | None:
    """The file or server of a journal, if known."""
    place: Path | str | None = getattr(journal, "place", None)
    return place
