"""Read a table from a file into a data frame, with a note on each irregularity."""

from __future__ import annotations

import io
import math
import os
import re
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ... import checks
from ...errors import ManyarmsWarning
from ...sklearn.automl.column_kinds import TEXT, dtype_kind
from ...sklearn.automl.number_formats import are_consistent, mark_thousands, number_format, written_numbers
from ...sklearn.automl.wording import counted, listed, shown_number
from ..fields import check_fields
from ..names import Notify, unique_names, without_row_numbers
from .file_format import FileFormat, doubtful_point, first_records, format_of
from .memory import check_room, explained, frame_bytes, has_room
from .sampling import Sample

MISSING = ["?"]
"""Text that means a missing value, in addition to the defaults of pandas (an empty field, NA, NaN, null, None and so on)."""

_FEW, _FEWEST = 1_000, 20  # rows from which the size of a row is estimated
_GROWTH = 8  # bytes in memory per byte of text, at most
_CELLS = 2_000_000  # in these rows, at most
_WIDE = 1_000  # columns; pandas makes an array for each, and taking rows of so many arrays takes a second
_CHUNK = 50_000  # rows in memory while a sample is drawn
_NOT_NUMBERS = 0.05  # share of the distinct values of a column of numbers that may be something else, as in `kind_of_column`
_RAGGED = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")


def warn(message: str) -> None:
    """Issue a note as a `ManyarmsWarning`."""
    warnings.warn(message, ManyarmsWarning, stacklevel=3)


def read_table(
    path: str | os.PathLike[str],
    *,
    rows: int | None = None,
    seed: int = 0,
    text: Collection[str] = (),
    encoding: str | None = None,
    delimiter: str | None = None,
    copies: float = 3.0,
    notify: Notify = warn,
) -> pd.DataFrame:
    """Read a CSV file (delimited by commas, semicolons, tabs or bars; plain or compressed) or a Parquet file.

    Args:
        path: Path of the file. The format is detected from its content, not from its name.
        rows: Number of rows to draw at random; the file is then read in parts. By default all rows are read.
        seed: Random seed for the sample.
        text: Columns to read as text even if they look like numbers.
        encoding: Encoding of a CSV file. Detected by default.
        delimiter: Delimiter of a CSV file, a character or "tab". Detected by default.
        copies: How many copies of the table must fit into memory. If they do not, `TableTooLarge` is raised.
        notify: Receives a note for each irregularity. By default each is a `ManyarmsWarning`.
    """
    path = Path(path)
    if rows is not None:
        checks.whole("rows", rows, 1)
    format = format_of(path, encoding, delimiter)
    if format.parquet:
        from .parquet import ParquetFile

        file: Any = ParquetFile(path, notify)
    else:
        file = TextFile(path, format, text, notify)
    frame = _read(file, path, rows, seed, copies)
    if not len(frame):
        raise ValueError(f"{path} has a header with {counted(len(frame.columns), 'column')}, but no rows.")
    check_fields(path, frame, sampled=rows is not None)
    return frame


def _read(file: Any, path: Path, rows: int | None, seed: int, copies: float) -> pd.DataFrame:
    """All rows, or a sample of them, if they fit. The size of a small file is not estimated first."""
    if rows is None and has_room(file.most_bytes() * copies):
        with explained(path):
            return file.read()  # type: ignore[no-any-return]
    bytes_per_row, known = file.size()
    check_room(path, bytes_per_row, known if rows is None else min(rows, known), copies)
    with explained(path, bytes_per_row * known * copies if rows is None else None):
        return file.read() if rows is None or rows >= known * 2 else file.draw(rows, seed)  # type: ignore[no-any-return]


class TextFile:
    """A CSV file, or another delimited text file.

    Args:
        path: Path of the file.
        format: How to read it.
        text: Columns to read as text.
        notify: Receives a note for each irregularity.
    """

    def __init__(self, path: Path, format: FileFormat, text: Collection[str], notify: Notify) -> None:
        self._path, self._format, self._notify = path, format, notify
        if format.encoding in ("cp1252", "latin-1"):
            notify(f"{path} is not valid UTF-8, so it is read as {format.encoding}. Set the encoding if this is wrong.")
        if format.decimal == ",":
            notify(f"{path} uses decimal commas.")
        self._names, self._left_out = self._layout()
        known = set(self._names)
        self._text = [name for name in text if name in known]

    def _layout(self) -> tuple[list[str], str | None]:
        """A name for each field of a record, and the name of the field that is not a column, if there is one.

        Some programs end each line with a delimiter; others write row names in a first field that the header omits.
        """
        with self._explained(), self._format.open(self._path) as file:
            header, *rest = first_records(file, self._format.delimiter) or [[]]
        if not header:
            raise ValueError(f"The first line of {self._path} cannot be read as column names. Is there an unclosed quote?")
        names = unique_names(header, self._notify)
        if self._format.delimiter != "," and self._format.decimal == "." and (doubtful := doubtful_point(rest)) is not None:
            self._notify(f"{self._path} uses decimal points: {doubtful} was read as {float(doubtful):g}, not as thousands.")
        fields = {len(record) for record in rest}
        if fields != {len(names) + 1}:
            self._check_first(rest, len(names))
            return names, None
        odd = "Unnamed: field"
        if all(record[-1] == "" for record in rest):
            return [*names, odd], odd
        self._notify("Lines have one more field than the header. The first field is treated as a row name and dropped.")
        return [odd, *names], odd

    def _check_first(self, records: list[list[str]], expected: int) -> None:
        """Raise an error if values would be lost: pandas cuts off what the first record has more, instead of raising one."""
        if not records or len(records[0]) <= expected:
            return
        for number, record in enumerate(records, 1):
            if any(record[expected:]):
                raise _too_many_fields(f"{self._path}, row {number}", len(record), expected, self._format.delimiter)

    def most_bytes(self) -> float:
        """An upper bound on its size in memory: a field and its delimiter, at least two characters, become a number."""
        return _GROWTH * self._path.stat().st_size if self._format.decompress is open else math.inf

    def size(self) -> tuple[float, float]:
        """The bytes per row in memory, and the estimated number of rows."""
        rows = max(_FEWEST, min(_FEW, _CELLS // len(self._names)))
        with self._explained(), self._format.open(self._path) as file:
            first = self._parse(file, nrows=rows, dtype=dict.fromkeys(self._text, str))
        if len(first) < rows:
            return frame_bytes(first) / max(len(first), 1), len(first)
        start, share = self._format.beginning(self._path)
        lines = start.count(b"\n") or start.count(b"\r") or 1
        return frame_bytes(first) / rows, lines / len(start) * share * self._path.stat().st_size

    def read(self) -> pd.DataFrame:
        """The whole table."""
        return self._tidy(self._whole(lambda: self._format.open(self._path)))

    def draw(self, rows: int, seed: int) -> pd.DataFrame:
        """A random sample of the rows. The types are inferred when the sample is complete."""
        sample = Sample(rows, seed)
        with self._explained(), self._format.open(self._path) as file:
            for chunk in self._parse(file, chunksize=_CHUNK, dtype=str, na_filter=False):
                sample.add(chunk)
        self._notify(f"Using a random sample of {counted(len(sample.rows), 'row')} out of {sample.seen:,}.")
        drawn = sample.rows.to_csv(index=False, sep=self._format.delimiter)
        return self._tidy(self._whole(lambda: io.StringIO(drawn)))

    def _whole(self, opened: Callable[[], Any]) -> Any:
        """Parse a file. pandas infers types in chunks; a column whose type differs between chunks is read again as text."""
        with self._explained(), warnings.catch_warnings(action="ignore", category=pd.errors.DtypeWarning):
            with opened() as source:
                frame: Any = self._parse(source, dtype=dict.fromkeys(self._text, str))
            infer, objects = pd.api.types.infer_dtype, frame.columns[frame.dtypes == np.dtype(object)]
            mixed = [name for name in objects if infer(frame[name], skipna=True).startswith("mixed")]
            if mixed:
                with opened() as source:
                    frame[mixed] = self._parse(source, dtype=dict.fromkeys(mixed, str), usecols=mixed)[mixed]
        return frame.copy() if len(frame.columns) > _WIDE else frame  # a copy has all columns of a type in one array

    def _parse(self, source: Any, **options: Any) -> Any:
        format = self._format
        return pd.read_csv(
            source,
            sep=format.delimiter,
            decimal=format.decimal,
            names=self._names,
            header=0,
            index_col=False,
            skipinitialspace=True,
            **({"na_values": MISSING} | options),
        )

    def _tidy(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame if self._left_out is None else frame.drop(columns=self._left_out)
        return without_row_numbers(self._with_thousands(frame), self._notify)

    def _with_thousands(self, frame: pd.DataFrame) -> pd.DataFrame:
        """With decimal commas, points separate thousands. Mark that in text that is numbers: 815.498 does not show it."""
        examples = []
        for name in frame.columns[frame.dtypes.map(dtype_kind) == TEXT] if self._format.decimal == "," else ():
            if name in self._text:
                continue
            marked = {text: mark_thousands(text) for text in map(str, frame[name].dropna().unique())}
            changed = next((text for text, other in marked.items() if text != other), None)
            if changed is None or not are_consistent(marked.values()):
                continue
            format = number_format(marked.values())
            if np.isnan(written_numbers(marked.values(), format)).mean() > _NOT_NUMBERS:
                continue
            frame[name] = frame[name].map(marked)
            value = written_numbers([marked[changed]], format)[0]
            examples.append(f"{name!r} ({changed!r}, read as {shown_number(value)})")
        if examples:
            self._notify(f"Points separate thousands in these columns: {listed(examples, quoted=False)}.")
        return frame

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Replace the parsing errors of pandas with clearer ones."""
        try:
            yield
        except pd.errors.ParserError as error:
            raise _explanation(error, self._path, self._format) from None
        except UnicodeDecodeError as error:
            where = f"{error.reason} at byte {error.start} of a part"
            raise ValueError(f"{self._path} is not encoded in {self._format.encoding}: {where}") from None
        except EOFError as error:
            raise ValueError(f"{self._path} is a corrupt compressed file: {error}") from None


def _explanation(error: Exception, path: Path, format: FileFormat) -> Exception:
    message = " ".join(str(error).split())
    if "out of memory" in message:
        return MemoryError(message)
    if (found := _RAGGED.search(message)) is not None:
        expected, line, saw = found.groups()
        return _too_many_fields(f"{path}, line {line}", saw, expected, format.delimiter)
    if "EOF inside string" in message:
        return ValueError(f"{path}, row {message.split()[-1]}: a quote is opened and never closed.")
    return ValueError(f"{path} cannot be read as a table: {message}")


def _too_many_fields(place: str, saw: object, expected: object, delimiter: str) -> ValueError:
    hint = f"Is {delimiter!r} the right delimiter, or is a quote missing?"
    return ValueError(f"{place}: {saw} fields instead of {expected}. {hint}")
