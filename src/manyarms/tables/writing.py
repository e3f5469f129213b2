"""Files that are complete or absent: written under a temporary name, then renamed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import StorageError

if TYPE_CHECKING:
    import pandas as pd


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


def write_frame(path: Path, frame: pd.DataFrame) -> None:
    """Write a table in the format of the file's extension: Parquet, or CSV, delimited by tabs or compressed if it says so."""
    with written_aside(path) as aside:
        frame_writer(path)(frame, aside)


def frame_writer(path: Path) -> Callable[[Any, Any], None]:
    """The function that writes a table to a file with this name; an error if a package for it is missing."""
    endings = [ending.lower() for ending in path.suffixes]
    if endings[-1:] == [".parquet"]:
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise ImportError('Parquet files need pyarrow: pip install "manyarms[parquet]"') from None
        return lambda frame, place: frame.to_parquet(place, index=False, engine="pyarrow")
    compression = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz"}.get(endings[-1] if endings else "")
    delimiter = "\t" if ".tsv" in endings else ","
    return lambda frame, place: frame.to_csv(place, index=False, sep=delimiter, compression=compression)
