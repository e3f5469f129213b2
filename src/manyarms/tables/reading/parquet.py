"""Tables in Parquet files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..names import Say, counted, listed, unique_names, without_row_numbers
from .memory import frame_bytes
from .sampling import Sample

if TYPE_CHECKING:
    import pandas as pd

_FEW = 1000  # rows that tell how large the others are


class ParquetFile:
    """A table in a Parquet file.

    Args:
        path: of the file.
        say: called with a line for each odd thing.
    """

    def __init__(self, path: Path, say: Say) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise ImportError('Parquet files need pyarrow: pip install "manyarms[parquet]"') from None
        self._path, self._say = path, say
        try:
            self._file = pq.ParquetFile(path)
        except (pa.ArrowInvalid, OSError) as error:
            raise ValueError(f"{path} is a damaged Parquet file: {str(error).splitlines()[0]}") from None
        schema = self._file.schema_arrow
        names = unique_names(schema.names, say)
        nested = [name for name, field in zip(names, schema, strict=True) if pa.types.is_nested(field.type)]
        if nested:
            say(f"columns of lists or records are left out: {listed(nested)}")
        self._names, self._nested = names, nested

    def most_bytes(self) -> float:
        """What it takes in memory at most: unknown, since a few bytes can stand for many equal values."""
        return math.inf

    def size(self) -> tuple[float, float]:
        """The bytes of a row in memory, and how many rows there are."""
        first = next((self._frame(batch) for batch in self._file.iter_batches(_FEW)), None)
        if first is None:
            return 0.0, 0
        return frame_bytes(first) / len(first), self._file.metadata.num_rows

    def read(self) -> pd.DataFrame:
        """All of it."""
        return self._tidy(self._frame(self._file.read()))

    def draw(self, rows: int, seed: int) -> pd.DataFrame:
        """Rows drawn at random."""
        sample = Sample(rows, seed)
        for batch in self._file.iter_batches():
            sample.add(self._frame(batch))
        self._say(f"{counted(len(sample.rows), 'row')} of {sample.seen:,}, drawn at random")
        return self._tidy(sample.rows)

    def _frame(self, part: Any) -> pd.DataFrame:
        """As pandas has it, whatever notes pandas left in the file on indexes; dates as times, decimals as numbers."""
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
        return without_row_numbers(frame, self._say)
