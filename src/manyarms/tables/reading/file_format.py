"""What a file is, told from its first bytes: its name may say anything."""

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

_SEEN = 1 << 16  # bytes looked at, beside the first line
_LONGEST = 1 << 26  # characters of the first line, at most
_LINES = 100  # records looked at
_DELIMITERS = (",", ";", "\t", "|")
_PACKED: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_FOREIGN = {
    b"PK\x03\x04": "a ZIP file, or a spreadsheet such as .xlsx",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"\x89PNG": "a picture",
    b"%PDF": "a PDF file",
    b"SQLite format 3": "an SQLite database",
    b"ARROW1": "an Arrow file",
    b"\x28\xb5\x2f\xfd": "a file packed by zstd",
}
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b"))  # which are rare in text
_DECIMAL_COMMA, _DECIMAL_POINT = re.compile(r"[+-]?\d+,\d+"), re.compile(r"[+-]?\d+\.\d+")


@dataclass(frozen=True, slots=True)
class Kind:
    """How a file is to be read.

    Args:
        parquet: as Parquet; else as text, of which the rest tells.
        unpack: opens what is packed; `open` for what is not.
        encoding: of its text.
        delimiter: between its fields.
        decimal: between the whole and the rest of a number.
    """

    parquet: bool = False
    unpack: Callable[..., Any] = open
    encoding: str = "utf-8"
    delimiter: str = ","
    decimal: str = "."

    def open(self, path: Path) -> IO[str]:
        """The text of the file; the line ends are the reader's business."""
        return self.unpack(path, "rt", encoding=self.encoding, newline="")  # type: ignore[no-any-return]

    def beginning(self, path: Path, size: int = 1 << 22) -> tuple[bytes, float]:
        """The first bytes, and how many of them come of one byte on disk."""
        if self.unpack is open:
            with open(path, "rb") as file:
                return file.read(size), 1.0
        with open(path, "rb") as raw, self.unpack(raw, "rb") as unpacked:
            start = unpacked.read(size)
            return start, len(start) / raw.tell()


def kind_of(path: Path, encoding: str | None = None, delimiter: str | None = None) -> Kind:
    """How to read this file; an error that says why not if it is no table. What is given is not guessed."""
    _check_file(path)
    with open(path, "rb") as file:
        start = file.read(_SEEN)
    if not start:
        raise ValueError(f"{path} is empty")
    if start[:4] == b"PAR1":
        return Kind(parquet=True)
    unpack = next((opener for magic, opener in _PACKED.items() if start.startswith(magic)), open)
    if unpack is not open:
        start = _unpacked(path, unpack)
    _refuse_foreign(path, start)
    kind = Kind(unpack=unpack, encoding=encoding or _encoding(path, start, unpack))
    start, is_all = _with_header(path, unpack)
    lines = _lines(path, start, is_all, kind)
    if not any(line.strip() for line in lines):
        raise ValueError(f"{path} is empty: it holds nothing but blank lines")
    kind = replace(kind, delimiter=_delimiter_given(delimiter) or _delimiter(lines))
    return replace(kind, decimal=_decimal(lines, kind.delimiter))


def _check_file(path: Path) -> None:
    """Python's own messages name numbers of errors."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory, not a table: name a file")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    if not path.is_file():
        raise ValueError(f"{path} is not a file: a table is read more than once, so write it to one first")
    if not os.access(path, os.R_OK):
        raise PermissionError(f"{path} cannot be read: its permissions do not let you")


def _unpacked(path: Path, unpack: Callable[..., Any]) -> bytes:
    with _decompressing(path), unpack(path, "rb") as file:
        return bytes(file.read(_SEEN))


@contextlib.contextmanager
def _decompressing(path: Path) -> Iterator[None]:
    """The errors of a compressed file in one line."""
    try:
        yield
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"{path} is a corrupt compressed file: {error}") from None


def _with_header(path: Path, unpack: Callable[..., Any]) -> tuple[bytes, bool]:
    """The whole first line and some of what follows, and whether that is the whole file.

    As much is read after the header as the header takes: a wide table has long lines.
    """
    with _decompressing(path), unpack(path, "rb") as file:
        start = bytearray(file.read(_SEEN))
        while not _has_line(start) and (more := file.read(len(start))):
            start += more
            if len(start) > _LONGEST:
                raise ValueError(
                    f"{path} has a first line of more than {_LONGEST:,} bytes, too long for the names of columns: "
                    "is the file a table with one row per line?"
                )
        more = file.read(len(start) if len(start) > _SEEN else 0)
        return bytes(start + more), not file.read(1)


def _has_line(start: bytearray) -> bool:
    """Whether a line that is not blank ends in it."""
    text = start.lstrip()
    return b"\n" in text or b"\r" in text


def _refuse_foreign(path: Path, start: bytes) -> None:
    for magic, name in _FOREIGN.items():
        if start.startswith(magic):
            raise ValueError(f"{path} is {name}: save the table as CSV or Parquet")
    marked = any(start.startswith(mark) for mark in _BOMS)
    if not marked and (b"\x00" in start or len(start.translate(None, _CONTROLS)) < 0.98 * len(start)):
        raise ValueError(f"{path} is not text, but binary: a table is a CSV file, packed or not, or a Parquet file")


def _encoding(path: Path, start: bytes, unpack: Callable[..., Any]) -> str:
    """That of the mark at the beginning; UTF-8 if the whole file is; else what Windows writes; else Latin-1."""
    marked = next((name for mark, name in _BOMS.items() if start.startswith(mark)), None)
    if marked is not None:
        return marked
    tried = ("utf-8", "cp1252")
    return next((name for name in tried if _decodes(path, unpack, name)), "latin-1")


def _decodes(path: Path, unpack: Callable[..., Any], encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with _decompressing(path), unpack(path, "rb") as file:
            while part := file.read(1 << 20):
                decoder.decode(part)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _lines(path: Path, start: bytes, is_all: bool, kind: Kind) -> list[str]:
    """The first lines, without a last one that was cut."""
    try:
        decoder = codecs.getincrementaldecoder(kind.encoding)()
        text = decoder.decode(start)
    except LookupError:
        raise ValueError(f"encoding must be one that Python knows, such as utf-8 or cp1252, got {kind.encoding!r}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not in the encoding {kind.encoding}: {error.reason} at byte {error.start}") from None
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
    """The one that gives most records the same number of fields, and more than one; where several do, the most fields."""

    def regularity(delimiter: str) -> tuple[float, int]:
        counts = [len(record) for record in records(lines, delimiter)]
        fields, times = Counter(counts).most_common(1)[0] if counts else (1, 0)
        return (times / len(counts), fields) if fields > 1 else (0.0, 1)

    return max(_DELIMITERS, key=regularity)  # the first of equals: a comma


def records(lines: list[str], delimiter: str) -> list[list[str]]:
    """The first records, blank lines left out; what csv makes nothing of ends them."""
    found: list[list[str]] = []
    reader = csv.reader(io.StringIO("".join(lines), newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        for record in itertools.islice(filter(None, reader), _LINES):
            found.append(record)
    except csv.Error:
        pass
    return found


def first_records(file: IO[str], delimiter: str) -> list[list[str]]:
    """The header, however long it is, and the records that follow in about as many characters; blank lines are left out."""
    found: list[list[str]] = []

    def lines() -> Iterator[str]:
        seen, most = 0, _LONGEST
        while line := file.readline(most - seen):
            seen += len(line)
            if seen >= most:  # the line may be cut
                return
            yield line
            if found and most == _LONGEST:
                most = 2 * seen + _SEEN

    reader = csv.reader(lines(), delimiter=delimiter, skipinitialspace=True)
    with contextlib.suppress(csv.Error):  # a field of more than csv takes ends them
        for record in filter(None, reader):
            found.append(record)
            if len(found) > _LINES:
                break
    return found


def _decimal(lines: list[str], delimiter: str) -> str:
    """A comma, where that does not part the fields and numbers are written so."""
    if delimiter == ",":
        return "."
    fields = [field.strip() for record in records(lines, delimiter)[1:] for field in record]
    commas = sum(_DECIMAL_COMMA.fullmatch(field) is not None for field in fields)
    points = sum(_DECIMAL_POINT.fullmatch(field) is not None for field in fields)
    return "," if commas > points else "."
