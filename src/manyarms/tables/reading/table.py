"""Reading a table from a file into a pandas frame, with a clear word on whatever is odd."""

from __future__ import annotations

import io
import math
import os
import re
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import checks
from ...errors import ManyarmsWarning
from ..fields import check_fields
from ..names import Say, counted, unique_names, without_row_numbers
from .file_format import Kind, first_records, kind_of
from .memory import check_room, explained, frame_bytes, has_room
from .sampling import Sample

if TYPE_CHECKING:
    import pandas as pd

MISSING = ["?"]
"""What means a missing value beside what pandas takes for one (an empty field, NA, NaN, null, None and so on)."""

_FEW, _FEWEST = 1_000, 20  # rows that tell how large the others are
_GROWTH = 8  # bytes in memory for a byte of text, at most
_CELLS = 2_000_000  # in these rows, at most
_WIDE = 1_000  # columns, of which pandas makes an array each; taking rows of so many arrays takes a second
_CHUNK = 50_000  # rows held at once while a sample is drawn
_RAGGED = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")


def warn(message: str) -> None:
    """The way to tell of odd things where nobody asked for another."""
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
    say: Say = warn,
) -> pd.DataFrame:
    """The table in a CSV file (also with tabs or semicolons, also packed by gzip, bzip2 or xz) or in a Parquet file.

    Args:
        path: of the file. What it is is told from its content, not from its name.
        rows: draw so many rows at random instead of all; the file is then read a part at a time.
        seed: of that draw.
        text: the columns to take as text even if they look like numbers.
        encoding, delimiter: of a CSV file; guessed by default.
        copies: how many times the table will be in memory when it is used. If that is more than there is, it is not read.
        say: called with a line for each odd thing; by default a `ManyarmsWarning` is given.
    """
    path = Path(path)
    if rows is not None:
        checks.whole("rows", rows, 1)
    pandas()
    kind = kind_of(path, encoding, delimiter)
    if kind.parquet:
        from .parquet import ParquetFile

        file: Any = ParquetFile(path, say)
    else:
        file = TextFile(path, kind, text, say)
    frame = _read(file, path, rows, seed, copies)
    if not len(frame):
        raise ValueError(f"{path} has the names of {counted(len(frame.columns), 'column')}, but no rows")
    check_fields(path, frame, sampled=rows is not None)
    return frame


def _read(file: Any, path: Path, rows: int | None, seed: int, copies: float) -> pd.DataFrame:
    """All rows, or a sample of them, if they fit. A file so small that there is no doubt is not measured first."""
    if rows is None and has_room(file.most_bytes() * copies):
        with explained(path):
            return file.read()  # type: ignore[no-any-return]
    bytes_a_row, known = file.size()
    check_room(path, bytes_a_row, known if rows is None else min(rows, known), copies)
    with explained(path, bytes_a_row * known * copies if rows is None else None):
        return file.read() if rows is None or rows >= known * 2 else file.draw(rows, seed)  # type: ignore[no-any-return]


def pandas() -> Any:
    """The package, or how to get it."""
    try:
        import pandas
    except ImportError:
        raise ImportError('tables need pandas: pip install "manyarms[pandas]"') from None
    return pandas


class TextFile:
    """A CSV file or one like it.

    Args:
        path: of the file.
        kind: how to read it.
        text: the columns to take as text.
        say: called with a line for each odd thing.
    """

    def __init__(self, path: Path, kind: Kind, text: Collection[str], say: Say) -> None:
        self._path, self._kind, self._say = path, kind, say
        if kind.encoding in ("cp1252", "latin-1"):
            say(f"{path} is not in UTF-8: read as {kind.encoding} (--encoding says otherwise)")
        if kind.decimal == ",":
            say(f"{path} writes its numbers with a decimal comma")
        self._names, self._left_out = self._layout()
        known = set(self._names)
        self._text = [name for name in text if name in known]

    def _layout(self) -> tuple[list[str], str | None]:
        """A name for each field of a record; and the one that is not a column, if there is such a field.

        Some programs end each line with a delimiter, some write the names of rows in a first field that has no name.
        """
        with self._explained(), self._kind.open(self._path) as file:
            header, *rest = first_records(file, self._kind.delimiter) or [[]]
        if not header:
            raise ValueError(f"{self._path} has a first line that cannot be read as names of columns: is a quote never closed?")
        names = unique_names(header, self._say)
        fields = {len(record) for record in rest}
        if fields != {len(names) + 1}:
            return names, None
        odd = "Unnamed: field"
        if all(record[-1] == "" for record in rest):
            return [*names, odd], odd
        self._say("lines have one field more than there are names: the first is taken for the name of the row, and left out")
        return [odd, *names], odd

    def most_bytes(self) -> float:
        """What it takes in memory at most: a field of two characters, its delimiter included, becomes a number."""
        return _GROWTH * self._path.stat().st_size if self._kind.unpack is open else math.inf

    def size(self) -> tuple[float, float]:
        """The bytes of a row in memory, and about how many rows there are."""
        rows = max(_FEWEST, min(_FEW, _CELLS // len(self._names)))
        with self._explained(), self._kind.open(self._path) as file:
            first = self._parse(file, nrows=rows, dtype=dict.fromkeys(self._text, str))
        if len(first) < rows:
            return frame_bytes(first) / max(len(first), 1), len(first)
        start, share = self._kind.beginning(self._path)
        lines = start.count(b"\n") or start.count(b"\r") or 1
        return frame_bytes(first) / rows, lines / len(start) * share * self._path.stat().st_size

    def read(self) -> pd.DataFrame:
        """All of it."""
        return self._tidy(self._whole(lambda: self._kind.open(self._path)))

    def draw(self, rows: int, seed: int) -> pd.DataFrame:
        """Rows drawn at random. Their fields are kept as written until all are there: types can only be told then."""
        sample = Sample(rows, seed)
        with self._explained(), self._kind.open(self._path) as file:
            for chunk in self._parse(file, chunksize=_CHUNK, dtype=str, na_filter=False):
                sample.add(chunk)
        self._say(f"{counted(len(sample.rows), 'row')} of {sample.seen:,}, drawn at random")
        drawn = sample.rows.to_csv(index=False, sep=self._kind.delimiter)
        return self._tidy(self._whole(lambda: io.StringIO(drawn)))

    def _whole(self, opened: Callable[[], Any]) -> Any:
        """Read what this opens. pandas tells types part by part: a column that differs from part to part is text."""
        with self._explained(), warnings.catch_warnings(action="ignore", category=pandas().errors.DtypeWarning):
            with opened() as source:
                frame: Any = self._parse(source, dtype=dict.fromkeys(self._text, str))
            kind_of_values, objects = pandas().api.types.infer_dtype, frame.columns[frame.dtypes == np.dtype(object)]
            mixed = [name for name in objects if kind_of_values(frame[name], skipna=True).startswith("mixed")]
            if mixed:
                with opened() as source:
                    frame[mixed] = self._parse(source, dtype=dict.fromkeys(mixed, str), usecols=mixed)[mixed]
        return frame.copy() if len(frame.columns) > _WIDE else frame  # a copy has all columns of a type in one array

    def _parse(self, source: Any, **options: Any) -> Any:
        kind = self._kind
        return pandas().read_csv(
            source,
            sep=kind.delimiter,
            decimal=kind.decimal,
            names=self._names,
            header=0,
            index_col=False,
            skipinitialspace=True,
            **({"na_values": MISSING} | options),
        )

    def _tidy(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame if self._left_out is None else frame.drop(columns=self._left_out)
        return without_row_numbers(frame, self._say)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """The errors of parsing in words that help."""
        try:
            yield
        except pandas().errors.ParserError as error:
            raise _explanation(error, self._path, self._kind) from None
        except UnicodeDecodeError as error:
            where = f"{error.reason} at byte {error.start} of a part"
            raise ValueError(f"{self._path} is not in the encoding {self._kind.encoding}: {where}") from None
        except EOFError as error:
            raise ValueError(f"{self._path} is a corrupt compressed file: {error}") from None


def _explanation(error: Exception, path: Path, kind: Kind) -> Exception:
    message = " ".join(str(error).split())
    if "out of memory" in message:
        return MemoryError(message)
    if (found := _RAGGED.search(message)) is not None:
        expected, line, saw = found.groups()
        hint = f"is {kind.delimiter!r} really what parts them, or is a quote missing?"
        return ValueError(f"{path}, line {line}: {saw} fields where the lines before have {expected}; {hint}")
    if "EOF inside string" in message:
        return ValueError(f"{path}, row {message.split()[-1]}: a quote is opened there and never closed")
    return ValueError(f"{path} cannot be read as a table: {message}")
