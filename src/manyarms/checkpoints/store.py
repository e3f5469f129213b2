"""The checkpoints of one study: what is there, how much room there is, and what goes first when it runs out."""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import blake2b
from pathlib import Path

from .. import checks
from .files import remove, size_of
from .manifest import is_checkpoint


class Checkpoints:
    """The saved states of one study's arms.

    Args:
        directory: where they are kept; each study has a directory of its own below it.
        max_bytes: the most they may take, such as "5GB"; the arms least likely to be pulled again lose theirs first.
    """

    def __init__(self, directory: str | os.PathLike[str], max_bytes: int | str | None = None) -> None:
        self.directory = self._root = Path(checks.path("directory", directory))
        self.max_bytes = None if max_bytes is None else checks.size("max_bytes", max_bytes)
        self._sizes: dict[str, int] = {}
        self._reserved: dict[int, int] = {}  # by arm in flight
        self._names: dict[int, str] = {}  # by arm in flight
        self._largest = 0
        self.used = 0  # bytes taken

    def open(self, study: str) -> None:
        """Use the directory of this study, and see what is there."""
        self.directory = self._root.absolute() / slug(study)
        self._sizes, self._reserved, self._names = {}, {}, {}
        if self.directory.is_dir():
            with os.scandir(self.directory) as entries:
                for entry in entries:
                    if entry.is_dir():
                        self._sizes[entry.name] = size_of(Path(entry.path))
        self.used = sum(self._sizes.values())
        self._largest = max(self._sizes.values(), default=0)

    def __repr__(self) -> str:
        limit = "" if self.max_bytes is None else f", max_bytes={self.max_bytes}"
        held = f" with {len(self._sizes)} checkpoints of {self.used} bytes" if self._sizes else ""
        return f"Checkpoints({str(self._root)!r}{limit}){held}"

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
        """A name no checkpoint has had: what a killed worker left behind is never taken for it.

        What an abandoned pull of this arm wrote under its own name is removed.
        """
        if (abandoned := self._names.get(arm)) is not None:
            remove(self.directory / abandoned)
            remove(self.directory / f"{abandoned}.part")
        self._names[arm] = f"arm-{arm}-step-{stop}-{secrets.token_hex(4)}"
        return self._names[arm]

    def add(self, name: str, size: int) -> None:
        """Note a checkpoint that a pull saved."""
        self._sizes[name] = size
        self.used += size
        self._largest = max(self._largest, size)

    def note_refused(self, size: int) -> None:
        """Remember that a checkpoint of this size had no room, so that more is made next time, if it can ever fit."""
        if self.max_bytes is None or size <= self.max_bytes:
            self._largest = max(self._largest, size)

    def drop(self, names: Iterable[str]) -> None:
        """Remove checkpoints, if they are there."""
        for name in names:
            self.used -= self._sizes.pop(name, 0)
            remove(self.directory / name)

    def sweep(self, keep: Collection[str]) -> list[str]:
        """Remove everything but these: what was being written when a process died, and what is no longer needed."""
        doomed = [name for name in self._sizes if name not in keep]
        self.drop(doomed)
        return doomed

    def reserve(self, arm: int, slots: int) -> int | None:
        """How much a pull of this arm may save, with up to `slots` pulls at once, so that `max_bytes` holds whatever they do.

        None: no limit. The room is the arm's until `release`. Each gets an equal share, or as much as the largest so far took;
        twice as many as run at once share, since a pull that ended holds its room until its reward is written.
        """
        if self.max_bytes is None:
            return None
        self._reserved.pop(arm, None)
        free = max(0, self.max_bytes - self.used - sum(self._reserved.values()))
        sharing = max(1, (1 if slots == 1 else 2 * slots) - len(self._reserved))
        self._reserved[arm] = max(free // sharing, min(free, self._largest))
        return self._reserved[arm]

    def release(self, arm: int) -> None:
        """The pull of this arm has ended: give its room back."""
        self._reserved.pop(arm, None)
        self._names.pop(arm, None)

    def shortage(self, slots: int) -> int:
        """Bytes to free so that the next pulls can each save as much as the largest checkpoint so far; 0 if there is room."""
        if self.max_bytes is None:
            return 0
        coming = sum(self._reserved.values()) + max(1, slots - len(self._reserved)) * self._largest
        return max(0, self.used + coming - self.max_bytes)

    def evict(self, excess: int, owner: Mapping[str, int], promise: Callable[[int], float], needed: Collection[str]) -> None:
        """Drop checkpoints to free so many bytes, of the arms least likely to be pulled again first.

        Args:
            excess: bytes to free.
            owner: the arm of each checkpoint.
            promise: how likely an arm is to be pulled again.
            needed: checkpoints that must stay.
        """
        spare = {name: size for name, size in self._sizes.items() if name not in needed}
        order = sorted(spare, key=lambda name: promise(owner[name]) if name in owner else -math.inf)
        self.drop(
            first_to_go(order, spare, excess + (self.max_bytes or 0) // 20)
        )  # a little more, so that not every pull sorts

    def close(self) -> None:
        """Remove the directory if nothing was ever saved in it."""
        if not self._sizes and self.directory.is_dir():
            remove(self.directory)


def first_to_go(order: Iterable[str], sizes: Mapping[str, int], excess: int) -> list[str]:
    """The shortest beginning of `order` that frees `excess` bytes; all of it if that is too little."""
    gone = []
    for name in order:
        if excess <= 0:
            break
        gone.append(name)
        excess -= sizes[name]
    return gone


def slug(study: str) -> str:
    """A directory name for any study name: its letters and digits, and a checksum that tells it from others."""
    words = "".join(c if c.isascii() and c.isalnum() else "-" for c in study)[:40].strip("-")
    return f"{words or 'study'}-{blake2b(study.encode(), digest_size=4).hexdigest()}"
