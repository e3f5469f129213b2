"""The checkpoints of one study: what is there, how much room there is, and what goes first when it runs out."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from .. import checks
from ..errors import StorageError
from .files import is_directory, remove, size_of
from .manifest import is_checkpoint
from .names import is_entry, is_name, new_name, part_of, slug
from .owner import OWNER, Owner, claim, is_owned, mark, says


class Checkpoints:
    """The saved states of one study's arms.

    Each study has a directory of its own below `directory`, named after its name and its id. It never deletes anything that it
    did not write.

    Args:
        directory: Where checkpoints are kept. By default beside the storage.
        max_bytes: The most bytes they may take, such as "5GB". The arms least likely to be pulled again lose theirs first.

    Attributes:
        directory: The directory of the study, once one has opened it.
        is_open: Whether a study uses it now.
        used: Bytes that checkpoints take.
        limit: The most bytes that they may take: `max_bytes` without the owner file.
    """

    def __init__(self, directory: str | os.PathLike[str] | None = None, max_bytes: int | str | None = None) -> None:
        self.root = None if directory is None else Path(checks.path("directory", directory))
        self.directory = self.root or Path()
        self.max_bytes = None if max_bytes is None else checks.size("max_bytes", max_bytes)
        self.record: str | None = None  # what the owner file says
        self.limit = self.max_bytes
        self.is_open = False
        self._real: Path | None = None  # the directory without links, as it was when it was opened
        self._sizes: dict[str, int] = {}
        self._reserved: dict[int, int] = {}  # by arm in flight
        self._names: dict[int, str] = {}  # by arm in flight
        self._largest = 0
        self.used = 0

    def open(self, owner: Owner, named: Collection[str], root: Path | None = None) -> None:
        """Use the directory of this study, and see what is there. `StorageError` if it is another study's, or a link.

        Args:
            owner: The study.
            named: The checkpoints that its journal names.
            root: Where its directory is, if the user gave none.
        """
        place = (self.root or root or Path()).absolute()
        self.directory = place / owner.directory_name
        self._real = place.resolve() / owner.directory_name
        self.record = owner.record(self.directory)
        if self.max_bytes is not None:
            self.limit = max(0, self.max_bytes - len(self.record or ""))
        if os.path.lexists(self.directory) and not is_directory(self.directory):
            raise StorageError(f"the checkpoint directory {str(self.directory)!r} is a link or a file: move it away")
        owned = self.record is not None and is_owned(self.directory, owner)
        self._mark_and_adopt(place / slug(owner.name), named)
        self._reserved, self._names = {}, {}
        self._sizes = {name: size for name, size in _found(self.directory).items() if owned or name in named}
        self.used = sum(self._sizes.values())
        self._largest = max(self._sizes.values(), default=0)
        self.is_open = True

    def __repr__(self) -> str:
        limit = "" if self.max_bytes is None else f", max_bytes={self.max_bytes}"
        held = f" with {len(self._sizes)} checkpoints of {self.used} bytes" if self._sizes else ""
        return f"Checkpoints({str(self.root)!r}{limit}){held}"

    def _mark_and_adopt(self, old: Path, named: Iterable[str]) -> None:
        """Note whose the directory is, and move there what the journal names of the directory that versions without ids used.

        That directory was named after the study alone, so it may hold checkpoints of other studies: those stay.
        """
        if self.record is None:
            return
        if is_directory(self.directory):
            mark(self.directory, self.record)
        mine = [name for name in named if is_name(name) and is_directory(old / name)] if is_directory(old) else []
        for name in mine:
            with suppress(OSError):  # what cannot be moved is trained again
                claim(self.directory, self.record)
                (old / name).rename(self.directory / name)
        if mine:
            with suppress(OSError):  # others' checkpoints are in it
                old.rmdir()

    def __contains__(self, name: str) -> bool:
        return name in self._sizes and is_checkpoint(self.directory / name)

    def names(self) -> list[str]:
        """All that is there."""
        return list(self._sizes)

    def size(self, name: str) -> int:
        """The bytes of a checkpoint; 0 if it is not there."""
        return self._sizes.get(name, 0)

    def path(self, name: str) -> Path:
        """Where the checkpoint of this name is, or will be."""
        return self.directory / name

    def new_name(self, arm: int, stop: int) -> str:
        """A name for what a pull of this arm saves. What an abandoned pull of the arm wrote is removed."""
        self._remove_abandoned(arm)
        self._names[arm] = new_name(arm, stop)
        return self._names[arm]

    def staged(self, name: str) -> Path:
        """Where the checkpoint of this name is while it is being written."""
        return self.directory / part_of(name)

    def _remove_abandoned(self, arm: int) -> None:
        if (name := self._names.pop(arm, None)) is not None:
            self._remove([name, part_of(name)])

    def add(self, name: str, size: int) -> None:
        """Note a checkpoint that a pull saved."""
        self._sizes[name] = size
        self.used += size
        self._largest = max(self._largest, size)

    def note_refused(self, size: int) -> None:
        """Remember that a checkpoint of this size had no room, so that more is made next time, if it can ever fit."""
        if self.limit is None or size <= self.limit:
            self._largest = max(self._largest, size)

    def drop(self, names: Iterable[str]) -> None:
        """Remove checkpoints, if they are there."""
        gone = list(names)
        for name in gone:
            self.used -= self._sizes.pop(name, 0)
        self._remove(gone)

    def _remove(self, names: Iterable[str]) -> None:
        """Delete entries of the study's own directory, and nothing else, whoever chose the names."""
        if self._is_in_place():
            for name in filter(is_entry, names):
                remove(self.directory / name)

    def _is_in_place(self) -> bool:
        """Whether the directory is still where it was when it was opened, and not a link to elsewhere."""
        return self._real is not None and self.directory.resolve() == self._real

    def sweep(self, keep: Collection[str]) -> list[str]:
        """Remove all checkpoints but these: unfinished ones of a killed process, and those no longer needed."""
        unneeded = [name for name in self._sizes if name not in keep]
        self.drop(unneeded)
        return unneeded

    def reserve(self, arm: int, slots: int) -> int | None:
        """How much a pull of this arm may save, with up to `slots` pulls at once, so that `max_bytes` holds whatever they do.

        None: no limit. The room is the arm's until `release`. Each gets an equal share, or as much as the largest so far took;
        twice as many as run at once share, since a pull that ended holds its room until its reward is written.
        """
        if self.limit is None:
            return None
        self._reserved.pop(arm, None)
        free = max(0, self.limit - self.used - sum(self._reserved.values()))
        sharing = max(1, (1 if slots == 1 else 2 * slots) - len(self._reserved))
        self._reserved[arm] = max(free // sharing, min(free, self._largest))
        return self._reserved[arm]

    def release(self, arm: int) -> None:
        """The pull of this arm has ended: give its room back."""
        self._reserved.pop(arm, None)
        self._names.pop(arm, None)

    def shortage(self, slots: int) -> int:
        """Bytes to free so that the next pulls can each save as much as the largest checkpoint so far; 0 if there is room."""
        if self.limit is None:
            return 0
        coming = sum(self._reserved.values()) + max(1, slots - len(self._reserved)) * self._largest
        return max(0, self.used + coming - self.limit)

    def evict(self, excess: int, owner: Mapping[str, int], priority: Callable[[int], float], needed: Collection[str]) -> None:
        """Drop checkpoints to free so many bytes, of the arms least likely to be pulled again first.

        Args:
            excess: bytes to free.
            owner: the arm of each checkpoint.
            priority: how likely an arm is to be pulled again.
            needed: checkpoints that must stay.
        """
        spare = {name: size for name, size in self._sizes.items() if name not in needed}
        order = sorted(spare, key=lambda name: priority(owner[name]) if name in owner else -math.inf)
        a_little_more = (self.limit or 0) // 20  # so that not every pull sorts
        self.drop(first_to_go(order, spare, excess + a_little_more))

    def close(self, tidy: bool = True) -> None:
        """Let another study use this object. Without `tidy` nothing is removed: another process may be writing here."""
        self.is_open = False
        if tidy:
            self.tidy()

    def tidy(self) -> None:
        """Remove what abandoned pulls wrote and, if nothing is left in it but the owner file, the directory."""
        for arm in list(self._names):
            self._remove_abandoned(arm)
        if self._sizes or not self._is_in_place():
            return
        with suppress(OSError):  # it was never made, or something came in between
            if os.listdir(self.directory) == [OWNER] and self.record is not None and says(self.directory, self.record):
                (self.directory / OWNER).unlink()
            self.directory.rmdir()


def first_to_go(order: Iterable[str], sizes: Mapping[str, int], excess: int) -> list[str]:
    """The shortest beginning of `order` that frees `excess` bytes; all of it if that is too little."""
    gone = []
    for name in order:
        if excess <= 0:
            break
        gone.append(name)
        excess -= sizes[name]
    return gone


def _found(directory: Path) -> dict[str, int]:
    """The checkpoints in a directory, unfinished ones too, with their sizes."""
    if not is_directory(directory):
        return {}
    with os.scandir(directory) as entries:
        names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False) and is_entry(entry.name)]
    return {name: size_of(directory / name) for name in names}
