"""Files that are complete or absent: written under a temporary name, then renamed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import StorageError


@contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """A temporary path to write to. When the block ends without an error, it replaces the file."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield aside
        with open(aside, "r+b") as file:  # on Windows, only a writable file can be synced
            os.fsync(file.fileno())
        os.replace(aside, path)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file."""
    with written_aside(path) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")
