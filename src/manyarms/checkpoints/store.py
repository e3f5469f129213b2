"""The checkpoints of one study: which exist, how much space is left, and which are deleted first."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from .. import checks
from .names import new_name, part_of
from .owner import Owner
from .place import Place, make_place
from .remote import Location, location


class Checkpoints:
    """The saved states of one study's arms.

    Each study has its own directory below `directory`, named after its name and id. A study deletes only what it wrote.

    Args:
        directory: Where checkpoints are stored: a directory, or a URL that fsspec knows, such as `s3://bucket/runs`. By
            default, next to the storage.
        max_bytes: Maximum total size, such as "5GB". The arms least likely to be pulled again lose their checkpoints first.
        storage_options: Arguments of the fsspec file system, for a URL. By default they come from the environment, such as
            `AWS_ACCESS_KEY_ID`. They are never stored.

    Attributes:
        directory: The directory of the study that has opened it.
        used: Total size of the checkpoints in bytes.
        limit: Maximum of `used`: `max_bytes` minus the size of the owner file.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        max_bytes: int | str | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.root: Location | None = None
        if directory is not None:
            self.root = location("directory", directory, storage_options)
        elif storage_options is not None:
            raise ValueError("storage_options must be None unless directory is a URL such as 's3://bucket/runs'")
        self.directory: Location = self.root or Path()
        self.max_bytes = None if max_bytes is None else checks.size("max_bytes", max_bytes)
        self.storage_options = storage_options
        self.record: str | None = None  # the content of the owner file
        self.limit = self.max_bytes
        self._place: Place | None = None
        self._sizes: dict[str, int] = {}
        self._reserved: dict[int, int] = {}  # by arm in flight
        self._names: dict[int, str] = {}  # by arm in flight
        self._abandoned: list[str] = []  # their workers were lost, but may still run and save them
        self._largest = 0
        self.used = 0

    def open(self, owner: Owner, named: Collection[str], root: Location | None = None) -> None:
        """Use the directory of this study. Raises `StorageError` if another study owns it, or if it is a link.

        Args:
            owner: The study.
            named: The checkpoints that its journal names.
            root: The parent of the directory, if the user gave none.
        """
        place = make_place(self.root or root or Path(), owner)
        self.directory, self.record, self._place = place.directory, place.record, place
        if self.max_bytes is not None:
            self.limit = max(0, self.max_bytes - len(self.record or ""))
        owned = place.open(named)
        self._reserved, self._names, self._abandoned = {}, {}, []
        self._sizes = {name: size for name, size in place.sizes().items() if owned or name in named}
        self.used = sum(self._sizes.values())
        self._largest = max(self._sizes.values(), default=0)

    @property
    def has_study(self) -> bool:
        """Whether a study has opened it. It may be closed since, but can still load its models."""
        return self._place is not None

    def create(self) -> None:
        """Create the directory with its owner file, so that workers on other machines can recognize it."""
        if self._place is not None:
            self._place.create()

    def __repr__(self) -> str:
        limit = "" if self.max_bytes is None else f", max_bytes={self.max_bytes}"
        held = f" with {len(self._sizes)} checkpoints of {self.used} bytes" if self._sizes else ""
        return f"Checkpoints({str(self.root)!r}{limit}){held}"

    def __contains__(self, name: str) -> bool:
        return name in self._sizes and self._place is not None and self._place.has(name)

    def names(self) -> list[str]:
        """The names of all checkpoints."""
        return list(self._sizes)

    def size(self, name: str) -> int:
        """The size of a checkpoint in bytes; 0 if it does not exist."""
        return self._sizes.get(name, 0)

    def path(self, name: str) -> Location:
        """Where the checkpoint with this name is, whether or not it exists."""
        return self.directory / name

    def new_name(self, arm: int, stop: int) -> str:
        """A new name for the checkpoint of a pull. Files of an abandoned pull of the same arm are removed."""
        self._remove_abandoned(arm)
        self._names[arm] = new_name(arm, stop)
        return self._names[arm]

    def staged(self, name: str) -> Path | None:
        """The path of the checkpoint with this name while it is being written; None if it is written where the pull runs."""
        return self.directory / part_of(name) if isinstance(self.directory, Path) else None

    def _remove_abandoned(self, arm: int) -> None:
        if (name := self._names.pop(arm, None)) is not None:
            self._remove([name, part_of(name)])
            self._abandoned.append(name)

    def add(self, name: str, size: int) -> None:
        """Add a checkpoint that a pull saved, unless it was already found when the directory was opened again."""
        self.used += size - self._sizes.get(name, 0)
        self._sizes[name] = size
        self._largest = max(self._largest, size)

    def note_refused(self, size: int) -> None:
        """Remember the size of a checkpoint that did not fit, so that enough space is freed next time, if possible."""
        if self.limit is None or size <= self.limit:
            self._largest = max(self._largest, size)

    def drop(self, names: Iterable[str]) -> None:
        """Remove checkpoints, if they exist."""
        gone = list(names)
        for name in gone:
            self.used -= self._sizes.pop(name, 0)
        self._remove(gone)

    def _remove(self, names: Iterable[str]) -> None:
        """Delete checkpoints in the study's own directory, and nothing else, even if the names are untrusted."""
        if self._place is not None:
            self._place.remove(names)

    def sweep(self, keep: Collection[str]) -> list[str]:
        """Remove all other checkpoints: unfinished ones of a killed process, and those that are no longer needed."""
        unneeded = [name for name in self._sizes if name not in keep]
        self.drop(unneeded)
        return unneeded

    def reserve(self, arm: int, slots: int) -> int | None:
        """Reserve space for a pull of this arm, if up to `slots` pulls run at once. Returns bytes; None means no limit.

        The space is reserved until `release`, so that `max_bytes` always holds. Each pull gets an equal share, or the size of
        the largest checkpoint so far. The free space is divided among twice as many pulls as run at once, because a pull that
        ended keeps its space until its reward is written.
        """
        if self.limit is None:
            return None
        self._reserved.pop(arm, None)
        free = max(0, self.limit - self.used - sum(self._reserved.values()))
        sharing = max(1, (1 if slots == 1 else 2 * slots) - len(self._reserved))
        self._reserved[arm] = max(free // sharing, min(free, self._largest))
        return self._reserved[arm]

    def keep(self, arm: int) -> None:
        """Keep what a pull of this arm saved. It has an outcome, which may be in the journal even if writing it failed."""
        self._names.pop(arm, None)

    def release(self, arm: int) -> None:
        """Release the space of a pull that has ended, and keep what it saved."""
        self._reserved.pop(arm, None)
        self._names.pop(arm, None)

    def shortage(self, slots: int) -> int:
        """Bytes to free so that the next pulls can each save as much as the largest checkpoint so far; 0 if there is space."""
        if self.limit is None:
            return 0
        coming = sum(self._reserved.values()) + max(1, slots - len(self._reserved)) * self._largest
        return max(0, self.used + coming - self.limit)

    def evict(self, excess: int, owner: Mapping[str, int], priority: Callable[[int], float], needed: Collection[str]) -> None:
        """Remove checkpoints to free space, those of the arms least likely to be pulled again first.

        Args:
            excess: Bytes to free.
            owner: The arm of each checkpoint.
            priority: Returns how likely an arm is to be pulled again, on any scale.
            needed: Checkpoints that must stay.
        """
        spare = {name: size for name, size in self._sizes.items() if name not in needed}
        order = sorted(spare, key=lambda name: priority(owner[name]) if name in owner else -math.inf)
        a_little_more = (self.limit or 0) // 20  # so that the checkpoints are not sorted for every pull
        self.drop(first_to_go(order, spare, excess + a_little_more))

    def renewed(self) -> Checkpoints:
        """A new object with the same settings, for another study."""
        new = Checkpoints(None, self.max_bytes)
        new.root, new.directory, new.storage_options = self.root, self.root or Path(), self.storage_options
        return new

    def close(self, tidy: bool = True) -> None:
        """Finish writing. Without `tidy`, nothing is removed, since another process may write here."""
        if tidy:
            self.tidy()

    def tidy(self) -> None:
        """Remove the files of abandoned pulls, and the directory if nothing but the owner file is left in it."""
        for arm in list(self._names):
            self._remove_abandoned(arm)
        self._remove([file for name in self._abandoned for file in (name, part_of(name))])
        if not self._sizes and self._place is not None:
            self._place.tidy()


def first_to_go(order: Iterable[str], sizes: Mapping[str, int], excess: int) -> list[str]:
    """The first names of `order`, as many as needed to free `excess` bytes."""
    gone = []
    for name in order:
        if excess <= 0:
            break
        gone.append(name)
        excess -= sizes[name]
    return gone
