"""Result files: one Parquet file with the rows of all runs, complete at any time, so that a benchmark can be resumed."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from ...errors import SchemaError, StorageError, StudyLocked
from ...journal.lock import FileLock

Row = dict[str, Any]
"""One line of a result file, by column."""
Key = tuple[Any, ...]
"""The values of the key columns, which identify a run: its method, problem, seed and settings."""

_INTERVAL = 1.0  # shortest time between two writes, in seconds


@dataclass(frozen=True)
class Layout:
    """The columns of a result file.

    Attributes:
        schema: Names and types of the columns.
        key: Columns that identify a run. A run may have several rows.
        former_names: Current names of columns, by the name they have in older files.
    """

    schema: pa.Schema
    key: tuple[str, ...]
    former_names: Mapping[str, str] = field(default_factory=dict)

    def rows_of(self, table: pa.Table, keys: Collection[Key]) -> pd.DataFrame:
        """The rows of these runs."""
        rows = frame(table)
        return rows[[key in keys for key in zip(*(rows[column] for column in self.key), strict=True)]]


def read(path: Path, layout: Layout) -> pa.Table:
    """Read the rows of a file.

    Raises:
        StorageError: The file does not exist or cannot be read.
        SchemaError: The file does not have the expected columns.
    """
    try:
        with open(path, "rb") as file:  # by name, it would be opened twice, and a writer may replace it in between
            table = parquet.read_table(file)
    except FileNotFoundError:
        raise StorageError(f"The result file {str(path)!r} does not exist. Run the benchmark first.") from None
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise StorageError(
            f"{str(path)!r} is corrupt or not a Parquet file ({reason}). Move it away, or choose another file."
        ) from error
    try:
        table = table.rename_columns([layout.former_names.get(name, name) for name in table.column_names])
        return table.select(layout.schema.names).cast(layout.schema)
    except (pa.ArrowException, KeyError, ValueError) as error:
        found = ", ".join(table.column_names)
        raise SchemaError(
            f"{str(path)!r} does not hold results of this benchmark, or was written by an incompatible version. "
            f"Its columns are {found}. Choose another file."
        ) from error


def frame(table: pa.Table) -> pd.DataFrame:
    """The rows as a data frame."""
    rows: pd.DataFrame = table.to_pandas()
    return rows


class Results:
    """A result file that is open for writing. Only one process can have it open.

    Args:
        path: Path of the file. Its rows are kept.
        layout: Columns of the file.
        settings: Values that these columns have in every row. A file with different values raises an error.
        clock: Returns the time in seconds, from any start.

    Attributes:
        unsaved: Whether there are rows to write.
    """

    def __init__(
        self,
        path: Path,
        layout: Layout,
        settings: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path, self._layout, self._clock = path, layout, clock
        self._new, self.unsaved, self._saved = list[Row](), False, -math.inf
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(path.with_name(f".{path.name}.lock"))
        if (owner := self._lock.acquire()) is not None:
            raise StudyLocked(f"Process {owner} is writing to {str(path)!r}. Wait until it ends, or choose another file.")
        try:
            self._table = read(path, layout) if path.exists() else layout.schema.empty_table()
            self._check(settings or {})
        except BaseException:
            self._lock.release()
            raise

    def _check(self, settings: Mapping[str, Any]) -> None:
        for name, value in settings.items():
            other = [known for known in self._table[name].unique().to_pylist() if known != value]
            if other:
                raise ValueError(f"{str(self._path)!r} holds runs with {name} = {other[0]}, not {value}. Choose another file.")

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.save()
        finally:
            self._lock.release()

    def keys(self) -> set[Key]:
        """The keys of the runs in the file."""
        columns = list(self._layout.key)
        rows = self.table().select(columns).group_by(columns).aggregate([]).to_pylist()
        return {tuple(row[name] for name in columns) for row in rows}

    def table(self) -> pa.Table:
        """All rows."""
        if self._new:
            new = pa.Table.from_pylist(self._new, self._layout.schema)
            self._table = pa.concat_tables([self._table, new]).combine_chunks()
            self._new = []
        return self._table

    def add(self, rows: Iterable[Row]) -> None:
        """Add the rows of a run. They are written at the next save."""
        self._new += rows
        self.unsaved = True

    def drop(self, keys: Collection[Key]) -> None:
        """Remove these runs, including from the file."""
        dropped = self.keys() & set(keys)
        if dropped:
            columns = zip(*(self.table()[name].to_pylist() for name in self._layout.key), strict=True)
            self._table = self._table.filter(pa.array([key not in dropped for key in columns]))
            self._write()

    def save(self, only_if_due: bool = False) -> None:
        """Write new rows, if there are any. With `only_if_due`, at most about once a second."""
        due = self._clock() >= self._saved + _INTERVAL
        if self.unsaved and (due or not only_if_due):
            self._write()

    def _write(self) -> None:
        temporary = self._path.with_name(f".{self._path.name}.part")
        with open(temporary, "wb") as file:
            parquet.write_table(self.table(), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self._path)
        self.unsaved, self._saved = False, self._clock()
