"""The results of a race: one Parquet file, whole at any time, with a row for each reading of each heat."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from ...errors import SchemaError, StorageError, StudyLocked
from ...journal.lock import FileLock
from .heats import Key, Row

SCHEMA = pa.schema(
    [
        ("family", pa.string()),
        ("problem", pa.string()),
        ("half", pa.string()),  # "tuned" or "reported"
        ("entrant", pa.string()),
        ("peer", pa.bool_()),
        ("version", pa.string()),  # of manyarms, or of the peer's package
        ("seed", pa.int64()),
        ("budget", pa.int64()),  # of the heat, in full trainings
        ("trainings", pa.int64()),  # when it was read
        ("regret", pa.float64()),  # in percent; NaN where patience ended before
        ("pulls", pa.int64()),
        ("arms", pa.int64()),
        ("deciding", pa.float64()),  # CPU seconds so far
    ]
)
_KEY = ("family", "problem", "entrant", "seed", "budget", "version")
_EVERY = 1.0  # seconds between writes, at least


def read(path: Path) -> pa.Table:
    """The rows of a file.

    Raises:
        StorageError: it cannot be read.
        SchemaError: it is something else.
    """
    try:
        table = parquet.read_table(path)
    except FileNotFoundError:
        raise StorageError(f"there is no {str(path)!r}: `manyarms race` makes it") from None
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise StorageError(f"{str(path)!r} is damaged or no Parquet file ({reason}): move it away, or name another") from error
    try:
        return table.select(SCHEMA.names).cast(SCHEMA)
    except (pa.ArrowException, KeyError, ValueError) as error:
        found = ", ".join(table.column_names)
        raise SchemaError(
            f"{str(path)!r} is not a race, or one of another version of manyarms (its columns are {found}): name another file"
        ) from error


def frame(table: pa.Table) -> pd.DataFrame:
    """The rows for tables and plots."""
    rows: pd.DataFrame = table.to_pandas()
    return rows


def of_heats(table: pa.Table, keys: Collection[Key]) -> pd.DataFrame:
    """The rows of these heats."""
    rows = frame(table)
    return rows[[name in keys for name in zip(*(rows[column] for column in _KEY), strict=True)]]


class Results:
    """The file of a race that goes on; only one process may have it open.

    Args:
        path: of the file; what it holds is kept.
        clock: Gives the time in seconds, from any start.

    Attributes:
        unsaved: whether there are rows to write.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._clock, self._new, self.unsaved = path, clock, list[Row](), False
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(path.with_name(f".{path.name}.lock"))
        if (owner := self._lock.acquire()) is not None:
            raise StudyLocked(f"another race (process {owner}) writes to {str(path)!r}: wait for it, or name another file")
        try:
            self._table = read(path) if path.exists() else SCHEMA.empty_table()
        except BaseException:
            self._lock.release()
            raise
        self._saved = -math.inf

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.save()
        finally:
            self._lock.release()

    def keys(self) -> set[Key]:
        """The heats it holds."""
        rows = self.table().select(_KEY).group_by(list(_KEY)).aggregate([]).to_pylist()
        return {tuple(row[name] for name in _KEY) for row in rows}

    def table(self) -> pa.Table:
        """All rows."""
        if self._new:
            self._table = pa.concat_tables([self._table, pa.Table.from_pylist(self._new, SCHEMA)]).combine_chunks()
            self._new = []
        return self._table

    def add(self, rows: Iterable[Row]) -> None:
        """Take the rows of a heat; they are written soon."""
        self._new += rows
        self.unsaved = True

    def drop(self, keys: Collection[Key]) -> None:
        """Forget these heats, in the file too."""
        doomed = self.keys() & set(keys)
        if doomed:
            columns = zip(*(self.table()[name].to_pylist() for name in _KEY), strict=True)
            self._table = self._table.filter(pa.array([row not in doomed for row in columns]))
            self._write()

    def due(self) -> float:
        """Seconds until the next write."""
        return max(0.0, self._saved + _EVERY - self._clock())

    def save(self, only_if_due: bool = False) -> None:
        """Write what is new; where there is nothing, or it is too early, do nothing."""
        if self.unsaved and not (only_if_due and self.due()):
            self._write()

    def _write(self) -> None:
        aside = self._path.with_name(f".{self._path.name}.part")
        with open(aside, "wb") as file:
            parquet.write_table(self.table(), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, self._path)
        self.unsaved, self._saved = False, self._clock()
