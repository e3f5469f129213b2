"""Local copies of the last uploaded checkpoints, so that an arm that continues in this process needs no download.

The name of a checkpoint is unique and its content never changes, so a local copy with the
right checksums can replace a download.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Lock

from .files import remove
from .manifest import is_sound
from .remote import RemotePath
from .scratch import process_directory

_MOST = 4
_MOST_BYTES = 10**9


class Uploads:
    """A limited number of local copies of checkpoints. Each can be taken once."""

    def __init__(self, most: int = _MOST, most_bytes: int = _MOST_BYTES) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._kept: dict[RemotePath, tuple[Path, int]] = {}  # oldest first
        self._changing = Lock()

    def add(self, checkpoint: RemotePath, directory: Path, size: int) -> None:
        """Keep a local directory that was uploaded as a checkpoint, by moving it. Removes the oldest copies if necessary."""
        if size > self._most_bytes:
            return
        with self._changing, suppress(OSError):
            place = process_directory() / f"uploaded-{checkpoint.name}"
            directory.rename(place)
            self._kept[checkpoint] = place, size
            while len(self._kept) > self._most or sum(size for _, size in self._kept.values()) > self._most_bytes:
                remove(self._kept.pop(next(iter(self._kept)))[0])

    def take(self, checkpoint: RemotePath, into: Path) -> bool:
        """Move the copy of a checkpoint to a new directory. Returns False if there is none, or if it has changed."""
        with self._changing:
            place, _ = self._kept.pop(checkpoint, (None, 0))
        if place is None:
            return False
        try:
            place.rename(into)
        except OSError:
            return False
        if is_sound(into):
            return True
        remove(into)
        return False

    def clear(self) -> None:
        """Remove all copies."""
        with self._changing:
            for place, _ in self._kept.values():
                remove(place)
            self._kept.clear()


uploads = Uploads()
"""The copies of this process."""
