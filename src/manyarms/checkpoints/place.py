"""Places that hold the checkpoints of one study: a local directory, or a directory at an fsspec URL."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from ..errors import StorageError
from . import objects
from .files import is_directory, remove, size_of
from .manifest import MANIFEST, is_checkpoint
from .names import is_entry, is_name, slug
from .owner import OWNER, Owner, claim, is_owned, mark, mark_remote, says
from .remote import Location, RemotePath


class Place(Protocol):
    """Holds the checkpoints of one study. It deletes nothing but checkpoints in its own directory."""

    def open(self, named: Collection[str]) -> bool:
        """Write the owner file. Returns whether the study owned the directory before.

        Args:
            named: The checkpoints that the journal of the study names.

        Raises:
            StorageError: Another study owns the directory, it is a link, or it cannot be reached.
        """

    def create(self) -> None:
        """Create the directory with its owner file, if `open` did not. Raises `StorageError` if that fails."""

    def sizes(self) -> dict[str, int]:
        """The sizes of the checkpoints, including unfinished ones."""

    def has(self, name: str) -> bool:
        """Whether a checkpoint that was found or added is complete."""

    def remove(self, names: Iterable[str]) -> None:
        """Delete checkpoints, and nothing else, even if the names are untrusted."""

    def tidy(self) -> None:
        """Delete the directory if only the owner file is left in it."""


def make_place(root: Location, owner: Owner) -> LocalPlace | RemotePlace:
    """The place of a study below a directory."""
    return RemotePlace(root, owner) if isinstance(root, RemotePath) else LocalPlace(root.absolute(), owner)


class LocalPlace:
    """A directory on this machine, or one that it shares with others."""

    def __init__(self, root: Path, owner: Owner) -> None:
        self.directory = root / owner.directory_name
        self.record = owner.record(self.directory)
        self._owner = owner
        self._real = root.resolve() / owner.directory_name  # with the links resolved as they were when it was opened

    def open(self, named: Collection[str]) -> bool:
        """See `Place.open`."""
        if os.path.lexists(self.directory) and not is_directory(self.directory):
            raise StorageError(f"the checkpoint directory {str(self.directory)!r} is a link or a file: move it away")
        owned = self.record is not None and is_owned(self.directory, self._owner)
        self._mark_and_adopt(self.directory.parent / slug(self._owner.name), named)
        return owned

    def create(self) -> None:
        """See `Place.create`."""
        try:
            if self.record is not None:
                claim(self.directory, self.record)
        except OSError as error:
            raise StorageError(f"the checkpoint directory {str(self.directory)!r} cannot be created: {error}") from error

    def _mark_and_adopt(self, old: Path, named: Iterable[str]) -> None:
        """Write the owner file, and move checkpoints here from the directory that versions without ids used.

        That directory was named after the study alone and may have checkpoints of other studies, so only those that the
        journal names are moved.
        """
        if self.record is None:
            return
        if is_directory(self.directory):
            mark(self.directory, self.record)
        mine = [name for name in named if is_name(name) and is_directory(old / name)] if is_directory(old) else []
        for name in mine:
            with suppress(OSError):  # a checkpoint that cannot be moved is trained again
                claim(self.directory, self.record)
                (old / name).rename(self.directory / name)
        if mine:
            with suppress(OSError):  # it has checkpoints of other studies
                old.rmdir()

    def sizes(self) -> dict[str, int]:
        """See `Place.sizes`."""
        if not is_directory(self.directory):
            return {}
        with os.scandir(self.directory) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False) and is_entry(entry.name)]
        return {name: size_of(self.directory / name) for name in names}

    def has(self, name: str) -> bool:
        """See `Place.has`."""
        return is_checkpoint(self.directory / name)

    def remove(self, names: Iterable[str]) -> None:
        """See `Place.remove`."""
        if self._is_in_place():
            for name in filter(is_entry, names):
                remove(self.directory / name)

    def _is_in_place(self) -> bool:
        """Whether the directory is still the one that was opened, and has not been replaced by a link."""
        return self.directory.resolve() == self._real

    def tidy(self) -> None:
        """See `Place.tidy`."""
        if not self._is_in_place():
            return
        with suppress(OSError):  # it was never created, or something was added to it
            if os.listdir(self.directory) == [OWNER] and self.record is not None and says(self.directory, self.record):
                (self.directory / OWNER).unlink()
            self.directory.rmdir()


class RemotePlace:
    """A directory at an fsspec URL."""

    def __init__(self, root: RemotePath, owner: Owner) -> None:
        self.directory = root / owner.directory_name
        self.record = owner.record(self.directory)
        self._owner = owner
        self._incomplete: set[str] = set()

    def open(self, named: Collection[str]) -> bool:
        """See `Place.open`. The owner file is written first, which shows that the place is writable."""
        if self.record is None:
            return False
        owned = is_owned(self.directory, self._owner)
        mark_remote(self.directory, self.record)
        return owned

    def create(self) -> None:
        """Do nothing: `open` has written the owner file."""

    def sizes(self) -> dict[str, int]:
        """See `Place.sizes`."""
        found = objects.entry_files(self.directory)
        self._incomplete = {name for name, files in found.items() if MANIFEST not in files}
        return {name: sum(files.values()) for name, files in found.items()}

    def has(self, name: str) -> bool:
        """See `Place.has`. Does not contact the server: if the checkpoint is missing, the worker that loads it reports that."""
        return name not in self._incomplete

    def remove(self, names: Iterable[str]) -> None:
        """See `Place.remove`."""
        objects.remove([self.directory / name for name in names])

    def tidy(self) -> None:
        """Do nothing: the owner file stays, so that the study finds its place again."""
