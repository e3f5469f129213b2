"""Tables in Parquet files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...sklearn.automl.wording import counted, listed
from ..names import Notify, unique_names, without_row_numbers
from .memory import frame_bytes
from .sampling import Sample

if TYPE_CHECKING:
    import pandas as pd

_FEW = 1000  # rows from which the size of a row is estimated


class ParquetFile:
    """A table in a Parquet file.

    Args:
        path: Path of the file.
        notify: Receives a note for each irregularity.
    """

    def __init__(self, path: Path, notify: Notify) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise ImportError('Parquet files need pyarrow: pip install "manyarms[parquet]"') from None
        self._path, self._notify = path, notify
        try:
            self._file = pq.ParquetFile(path)
        except (pa.ArrowInvalid, OSError) as error:
            raise ValueError(f"{path} is a corrupt Parquet file: {str(error).splitlines()[0]}") from None
        schema = self._file.schema_arrow
        names = unique_names(schema.names, notify)
        nested = [name for name, field in zip(names, schema, strict=True) if pa.types.is_nested(field.type)]
        if nested:
            notify(f"Dropped columns of lists or records: {listed(nested)}.")
        self._names, self._nested = names, nested

    def most_bytes(self) -> float:
        """An upper bound of its size in memory: unknown, because a few bytes can encode many equal values."""
        return math.inf

    def size(self) -> tuple[float, float]:
        """The bytes per row in memory, and the number of rows."""
        first = next((self._frame(batch) for batch in self._file.iter_batches(_FEW)), None)
        if first is None:
            return 0.0, 0
        return frame_bytes(first) / len(first), self._file.metadata.num_rows

    def read(self) -> pd.DataFrame:
        """The whole table."""
        return self._tidy(self._frame(self._file.read()))

    def draw(self, rows: int, seed: int) -> pd.DataFrame:
        """A random sample of the rows."""
        sample = Sample(rows, seed)
        for batch in self._file.iter_batches():
            sample.add(self._frame(batch))
        self._notify(f"Using a random sample of {counted(len(sample.rows), 'row')} out of {sample.seen:,}.")
        return self._tidy(sample.rows)

    def _frame(self, part: Any) -> pd.DataFrame:
        """As a data frame, ignoring index metadata; dates become times, and decimals become floats."""
        import pyarrow as pa

        part = part.rename_columns(self._names).drop_columns(self._nested)
        columns = []
        for field, column in zip(part.schema, part.columns, strict=True):
            if pa.types.is_date(field.type):
                column = column.cast(pa.timestamp("ms"))
            elif pa.types.is_decimal(field.type):
                column = column.cast(pa.float64())
            columns.append(column)
        frame: pd.DataFrame = pa.table(columns, names=part.schema.names).to_pandas(ignore_metadata=True)
        return frame

    def _tidy(self, frame: pd.DataFrame) -> pd.DataFrame:
        return without_row_numbers(frame, self._notify)
