"""The format of a file, detected from its content rather than from its name."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import csv
import gzip
import io
import itertools
import lzma
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

_SEEN = 1 << 16  # bytes inspected, besides the first line
_LONGEST = 1 << 26  # characters in the first line, at most
_LINES = 100  # records inspected
_DELIMITERS = (",", ";", "\t", "|")
_COMPRESSED: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_FOREIGN = {
    b"PK\x03\x04": "a ZIP file, or a spreadsheet such as .xlsx",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"\x89PNG": "a picture",
    b"%PDF": "a PDF file",
    b"SQLite format 3": "an SQLite database",
    b"ARROW1": "an Arrow file",
    b"\x28\xb5\x2f\xfd": "a file compressed with zstd",
}
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b"))  # rare in text
_DECIMAL_COMMA, _DECIMAL_POINT = re.compile(r"[+-]?\d+,\d+"), re.compile(r"[+-]?\d+\.\d+")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")  # or thousandths


@dataclass(frozen=True, slots=True)
class FileFormat:
    """How to read a file.

    Args:
        parquet: Whether it is a Parquet file; the other arguments are for text files.
        decompress: Opens the file; `open` if it is not compressed.
        encoding: Encoding of the text.
        delimiter: Delimiter of the fields.
        decimal: Decimal separator of numbers.
    """

    parquet: bool = False
    decompress: Callable[..., Any] = open
    encoding: str = "utf-8"
    delimiter: str = ","
    decimal: str = "."

    def open(self, path: Path) -> IO[str]:
        """Open the file as text, with its line endings unchanged."""
        return self.decompress(path, "rt", encoding=self.encoding, newline="")  # type: ignore[no-any-return]

    def beginning(self, path: Path, size: int = 1 << 22) -> tuple[bytes, float]:
        """The first bytes after decompression, and the number of bytes per byte on disk."""
        if self.decompress is open:
            with open(path, "rb") as file:
                return file.read(size), 1.0
        with open(path, "rb") as raw, self.decompress(raw, "rb") as file:
            start = file.read(size)
            return start, len(start) / raw.tell()


def format_of(path: Path, encoding: str | None = None, delimiter: str | None = None) -> FileFormat:
    """How to read this file. Raises an error if it is not a table. Arguments that are set are not detected."""
    _check_file(path)
    with open(path, "rb") as file:
        start = file.read(_SEEN)
    if not start:
        raise ValueError(f"{path} is empty.")
    if start[:4] == b"PAR1":
        return FileFormat(parquet=True)
    decompress = next((opener for magic, opener in _COMPRESSED.items() if start.startswith(magic)), open)
    if decompress is not open:
        start = _decompressed(path, decompress)
    _refuse_foreign(path, start)
    format = FileFormat(decompress=decompress, encoding=encoding or _encoding(path, start, decompress))
    start, is_all = _with_header(path, decompress)
    lines = _lines(path, start, is_all, format)
    if not any(line.strip() for line in lines):
        raise ValueError(f"{path} is empty: it has only blank lines.")
    format = replace(format, delimiter=_delimiter_given(delimiter) or _delimiter(lines))
    return replace(format, decimal=_decimal(lines, format.delimiter))


def _check_file(path: Path) -> None:
    """Raise errors with clearer messages than those of Python."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory. Give the path of a file.")
    if not path.exists():
        raise FileNotFoundError(f"The file {str(path)!r} does not exist.")
    if not path.is_file():
        raise ValueError(f"{path} is not a regular file. A table is read more than once, so write it to a file first.")
    if not os.access(path, os.R_OK):
        raise PermissionError(f"{path} cannot be read: permission denied.")


def _decompressed(path: Path, decompress: Callable[..., Any]) -> bytes:
    with _decompressing(path), decompress(path, "rb") as file:
        return bytes(file.read(_SEEN))


@contextlib.contextmanager
def _decompressing(path: Path) -> Iterator[None]:
    """Report the errors of a compressed file on one line."""
    try:
        yield
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"{path} is a corrupt compressed file: {error}") from None


def _with_header(path: Path, decompress: Callable[..., Any]) -> tuple[bytes, bool]:
    """The first line and about as much after it, because a wide table has long lines; and whether that is the whole file."""
    with _decompressing(path), decompress(path, "rb") as file:
        start = bytearray(file.read(_SEEN))
        while not _has_line(start) and (more := file.read(len(start))):
            start += more
            if len(start) > _LONGEST:
                raise ValueError(
                    f"{path} has a first line of more than {_LONGEST:,} bytes, which is too long for column names. "
                    "Is the file a table with one row per line?"
                )
        more = file.read(len(start) if len(start) > _SEEN else 0)
        return bytes(start + more), not file.read(1)


def _has_line(start: bytearray) -> bool:
    """Whether it contains the end of a line that is not blank."""
    text = start.lstrip()
    return b"\n" in text or b"\r" in text


def _refuse_foreign(path: Path, start: bytes) -> None:
    for magic, name in _FOREIGN.items():
        if start.startswith(magic):
            raise ValueError(f"{path} is {name}. Save the table as CSV or Parquet.")
    marked = any(start.startswith(mark) for mark in _BOMS)
    if not marked and (b"\x00" in start or len(start.translate(None, _CONTROLS)) < 0.98 * len(start)):
        raise ValueError(f"{path} is a binary file. A table must be a CSV file, compressed or not, or a Parquet file.")


def _encoding(path: Path, start: bytes, decompress: Callable[..., Any]) -> str:
    """The encoding of the byte order mark; else UTF-8, Windows-1252 or Latin-1: the first that decodes the whole file."""
    marked = next((name for mark, name in _BOMS.items() if start.startswith(mark)), None)
    if marked is not None:
        return marked
    tried = ("utf-8", "cp1252")
    return next((name for name in tried if _decodes(path, decompress, name)), "latin-1")


def _decodes(path: Path, decompress: Callable[..., Any], encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with _decompressing(path), decompress(path, "rb") as file:
            while part := file.read(1 << 20):
                decoder.decode(part)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _lines(path: Path, start: bytes, is_all: bool, format: FileFormat) -> list[str]:
    """The first lines, without a truncated last line."""
    try:
        decoder = codecs.getincrementaldecoder(format.encoding)()
        text = decoder.decode(start)
    except LookupError:
        raise ValueError(f"encoding must be a Python encoding, such as utf-8 or cp1252, got {format.encoding!r}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not encoded in {format.encoding}: {error.reason} at byte {error.start}") from None
    lines = text.splitlines(keepends=True)
    return lines if is_all or len(lines) < 2 else lines[:-1]


def _delimiter_given(delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise ValueError(f'delimiter must be one character, or "tab", got {delimiter!r}')
    return delimiter


def _delimiter(lines: list[str]) -> str:
    """The delimiter with which most records have the same number of fields; among equals, the one with the most fields."""

    def regularity(delimiter: str) -> tuple[float, int]:
        counts = [len(record) for record in records(lines, delimiter)]
        fields, times = Counter(counts).most_common(1)[0] if counts else (1, 0)
        return (times / len(counts), fields) if fields > 1 else (0.0, 1)

    return max(_DELIMITERS, key=regularity)  # among equals, the first: a comma


def records(lines: list[str], delimiter: str) -> list[list[str]]:
    """The first records without blank lines, up to a line that cannot be parsed."""
    found: list[list[str]] = []
    reader = csv.reader(io.StringIO("".join(lines), newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        for record in itertools.islice(filter(None, reader), _LINES):
            found.append(record)
    except csv.Error:
        pass
    return found


def first_records(file: IO[str], delimiter: str) -> list[list[str]]:
    """The header of any length, and the records in about as many characters after it, without blank lines."""
    found: list[list[str]] = []

    def lines() -> Iterator[str]:
        seen, most = 0, _LONGEST
        while line := file.readline(most - seen):
            seen += len(line)
            if seen >= most:  # the line may be truncated
                return
            yield line
            if found and most == _LONGEST:
                most = 2 * seen + _SEEN

    reader = csv.reader(lines(), delimiter=delimiter, skipinitialspace=True)
    with contextlib.suppress(csv.Error):  # a field longer than the csv module accepts
        for record in filter(None, reader):
            found.append(record)
            if len(found) > _LINES:
                break
    return found


def _decimal(lines: list[str], delimiter: str) -> str:
    """A comma if the numbers are written with one and it is not the delimiter; else a point."""
    if delimiter == ",":
        return "."
    fields = [field.strip() for record in records(lines, delimiter)[1:] for field in record]
    decimals = [field for field in fields if _DECIMAL_COMMA.fullmatch(field) or _DECIMAL_POINT.fullmatch(field)]
    shown = [field for field in decimals if _THOUSANDS.fullmatch(field) is None] or decimals  # those that show the sign
    commas = sum("," in field for field in shown)
    return "," if commas > len(shown) - commas else "."


def doubtful_point(found: list[list[str]]) -> str | None:
    """A number whose point may separate thousands, if no number in these records shows what the points mean.

    >>> doubtful_point([["a", "815.498"]]), doubtful_point([["0.5", "815.498"]]), doubtful_point([["a", "5"]])
    ('815.498', None, None)
    """
    fields = [field.strip() for record in found for field in record]
    points = [field for field in fields if _DECIMAL_POINT.fullmatch(field)]
    return points[0] if points and all(map(_THOUSANDS.fullmatch, points)) else None
