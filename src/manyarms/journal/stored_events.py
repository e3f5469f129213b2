"""The events of one study in a database, read and compared with their checksums."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from ..errors import StorageError
from .chain import first_checksum, sound_rows
from .connection import Work
from .database import cause_of
from .layout import CONTENT, events_table
from .protocol import Event

_CHUNK = 1000  # rows per query, so that a reader's lock lasts a few milliseconds
_event = events_table.c


class Read(Protocol):
    """Runs work that reads from the database. Errors of the database become `StorageError`."""

    def __call__(self, work: Work[Any]) -> Any: ...


class StoredEvents:
    """The events of a study. Each is compared with its checksum before it is used.

    Args:
        study: The number of the study in the tables.
        header: The header of the study as text, from which the chain of checksums starts.
        read: Runs work that reads.
        corrupt: Makes the error for a journal that is corrupt, from what is wrong with it.
    """

    def __init__(self, study: int, header: str, read: Read, corrupt: Callable[[str], StorageError]) -> None:
        self._study, self._read, self._corrupt = study, read, corrupt
        self._first = first_checksum(header)
        self._checked = (0, self._first)  # number of events compared with their checksums, and the checksum of the last one

    def checksum_before(self, number: int) -> str:
        """The checksum that the event with this number continues from."""
        if number == 0:
            return self._first
        query = sa.select(_event.checksum).where(_event.study == self._study, _event.number == number - 1)
        return str(self._read(lambda connection: connection.execute(query).scalar()))

    def events(self, since: int, until: int | None) -> Iterator[Event]:
        """The events from number `since` on, up to but not including `until`; None means all.

        Those before `since` are compared with their checksums, too: a snapshot may replace them.
        """
        self.check(since, until)
        for rows in self._rows(since, self.checksum_before(since), until):
            for row in rows:
                yield self._parsed(row)

    def check(self, number: int, until: int | None) -> None:
        """Compare the events before this number with their checksums, unless that was done before."""
        if self._checked[0] < number:
            for _ in self._rows(*self._checked, until):
                if self._checked[0] >= number:
                    return

    def _rows(self, number: int, checksum: str, until: int | None) -> Iterator[Sequence[Any]]:
        """The rows from this number on, in chunks; `checksum` is that of the row before."""
        query = sa.select(*CONTENT, _event.checksum).where(_event.study == self._study).order_by(_event.number).limit(_CHUNK)
        if until is not None:
            query = query.where(_event.number < until)
        while rows := self._chunk(query.where(_event.number >= number), number):
            sound, checksum = sound_rows(checksum, number, rows)
            number += sound
            if self._checked[0] < number:
                self._checked = (number, checksum)
            yield rows[:sound]
            if sound < len(rows):
                raise self._mismatch(number, rows[sound])

    def _chunk(self, query: sa.Select[Any], number: int) -> Sequence[Any]:
        """The rows of a query from this number on. For text that is not UTF-8, the error names the row."""
        try:
            return self._all(query)
        except StorageError as error:
            if not isinstance(error.__cause__, SQLAlchemyError) or "decode" not in cause_of(error.__cause__):
                raise
            for one in range(number, number + _CHUNK):
                try:
                    self._all(query.where(_event.number == one))
                except StorageError as failure:
                    cause = failure.__cause__
                    reason = cause_of(cause) if isinstance(cause, SQLAlchemyError) else str(failure)
                    raise self._corrupt(f"event {one} cannot be read ({reason})") from failure
            raise

    def _all(self, query: sa.Select[Any]) -> Sequence[Any]:
        rows: Sequence[Any] = self._read(lambda connection: connection.execute(query).all())
        return rows

    def _mismatch(self, number: int, row: Any) -> StorageError:
        """The error for a row that is not the event with this number."""
        if row[0] != number:
            return self._corrupt(f"event {number} is missing")
        return self._corrupt(f"event {number}{'' if number else ', or the header,'} does not match its checksum")

    def _parsed(self, row: Any) -> Event:
        number, kind, arm, start, stop, reward, seconds, data = row[:8]
        try:
            content = json.loads(data) if data else {}
        except ValueError as error:
            raise self._corrupt(f"event {number} has data that is not JSON ({error})") from error
        return Event(kind, arm, start, stop, reward, seconds, content)
