"""The file of results: one line a run, appended when the run is over and never changed. Whatever ends the run, it goes on."""

from __future__ import annotations

import csv
import fcntl
import io
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import pandas as pd


@dataclass(frozen=True, slots=True)
class Run:
    """One method on one split of one set."""

    set: str
    split: int
    method: str


@dataclass(frozen=True, slots=True)
class Result:
    """A line of the file.

    Attributes:
        limit: the seconds an method may use.
        cores: that it may use.
        status: "ok", or "failed".
        accuracy: on the test rows; of a failed run, that of the commonest class.
        seconds: of the clock, of all that the method did before it could predict.
        processor: seconds of the processors, of the same.
        version: of the method's library.
        note: the model, or why there is none.
    """

    set: str
    split: int
    method: str
    limit: float
    cores: int
    status: str
    accuracy: float
    seconds: float
    processor: float
    version: str
    note: str


class Results:
    """The file, open for writing; one run at a time.

    Args:
        path: made where there is none.
        limit: see `Result`; a file of other limits is refused.
        cores: the same.
    """

    def __init__(self, path: Path, limit: float, cores: int) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"out must be a file that no other run writes to, got {str(path)!r}") from None
        _mend(self._file)
        if os.fstat(self._file).st_size == 0:
            self._write([field.name for field in fields(Result)])
        known = read(path)
        if not known.empty and set(zip(known["limit"], known["cores"], strict=True)) != {(limit, cores)}:
            first = known.iloc[0]
            raise ValueError(
                f"seconds and cores must be those of {str(path)!r}, {first['limit']:g} and {first['cores']}, "
                f"got {limit:g} and {cores}: or give another file"
            )
        self._status = {Run(*row): status for *row, status in _keys(known)}

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._file)

    def missing(self, runs: list[Run], retry: bool = False) -> list[Run]:
        """Those that were not run yet; with `retry`, also those that failed."""
        done = {"ok"} if retry else {"ok", "failed"}
        return [run for run in runs if self._status.get(run) not in done]

    def append(self, result: Result) -> None:
        """Write a line; it is on the disk when this returns."""
        self._write(asdict(result).values())

    def _write(self, cells: Iterable[object]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(cells)
        os.write(self._file, text.getvalue().encode())
        os.fsync(self._file)


def _keys(rows: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    return rows[["set", "split", "method", "status"]].itertuples(index=False, name=None)


def _mend(file: int) -> None:
    """Drop a last line that was cut short."""
    size = os.fstat(file).st_size
    content = os.pread(file, size, 0)
    os.ftruncate(file, content.rfind(b"\n") + 1)


def read(path: Path) -> pd.DataFrame:
    """The results, one row a run: the last where it was run again. A line cut short is left out."""
    with open(path, "rb") as file:
        content = file.read()
    rows = pd.read_csv(io.BytesIO(content[: content.rfind(b"\n") + 1]), keep_default_na=False)
    return rows.drop_duplicates(["set", "split", "method"], keep="last", ignore_index=True)
