"""Writes tables in the format of the file's extension."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..html.writing import written_aside

if TYPE_CHECKING:
    import pandas as pd


_OTHER = (".xlsx", ".xls", ".ods", ".json", ".feather", ".arrow", ".zip", ".zst")  # formats that would be no CSV file


def write_frame(path: Path, frame: pd.DataFrame) -> None:
    """Write a table in the format of the file's extension: Parquet, or CSV, delimited by tabs or compressed if it says so."""
    with written_aside(path) as aside:
        frame_writer(path)(frame, aside)


def frame_writer(path: Path) -> Callable[[Any, Any], None]:
    """The function that writes a table to a file with this name; an error if it has another format, or needs a package."""
    endings = [ending.lower() for ending in path.suffixes]
    if path.suffix.lower() in _OTHER:
        raise ValueError(f"A table can be written as .csv, .csv.gz, .tsv or .parquet, got {str(path)!r}")
    if endings[-1:] == [".parquet"]:
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise ImportError('Parquet files need pyarrow: pip install "manyarms[parquet]"') from None
        return lambda frame, place: frame.to_parquet(place, index=False, engine="pyarrow")
    compression = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz"}.get(endings[-1] if endings else "")
    delimiter = "\t" if ".tsv" in endings else ","
    return lambda frame, place: frame.to_csv(place, index=False, sep=delimiter, compression=compression)
