"""Keeps a study up to date: reads each event once, in small batches, as the search writes it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

import sqlalchemy as sa

from ..core import sign_of
from ..errors import StudyNotFound
from ..journal.database import file_identity, parse_url, place_of
from ..journal.header import stored_header
from ..journal.layout import CONTENT, events_table
from ..journal.protocol import Event
from ..journal.sql import SqlJournal
from ..safe_text import safe_text
from .charts import Charts
from .columns import ArmColumns
from .overview import parsed
from .reader import Unreadable, check_file, explained, quick_url
from .strategy_charts import StrategyCharts

_BATCH = 1_000  # events; others can use the feed between batches
_FRESH = 0.25  # seconds for which a refresh is not repeated
_MANY = 500  # numbers in one query
_event = events_table.c
_MALFORMED = (TypeError, ValueError, KeyError, AttributeError, OverflowError, IndexError, RecursionError)


class StudyFeed:
    """The events of one study, as columns and charts. Can be used by several threads; hold `lock` while using the columns.

    Args:
        storage: The file or URL of the storage.
        name: Name of the study.
        number: Number of the study in the tables.
        clock: Returns the time in seconds.

    Attributes:
        lock: Protects everything below, and the connection.
        header: Header of the study.
        columns: The arms.
        charts: The charts of the history.
        strategy: The charts of what the strategy knows.
        length: Number of events in the storage.
    """

    def __init__(self, storage: str, name: str, number: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.name, self.number = name, number
        self.lock = threading.RLock()
        self.header: Mapping[str, Any] = {}
        self.columns = ArmColumns(1.0, None)
        self.charts = Charts({})
        self.length = 0
        self._url = quick_url(storage).render_as_string(hide_password=False)
        self.strategy = StrategyCharts(self._url, name, {}, clock)
        self._file: tuple[int, int] | None = None
        self._journal: SqlJournal | None = None
        self._last_checksum: str | None = None
        self._clock, self._refreshed = clock, -_FRESH
        self._reading = threading.Lock()

    @property
    def events(self) -> int:
        """Number of events that were read."""
        return self.columns.events

    @property
    def is_complete(self) -> bool:
        """Whether all events were read."""
        return self.events >= self.length

    @property
    def max_steps(self) -> int | None:
        """The most steps of an arm, if the strategy has such a limit."""
        settings = self.header.get("settings")
        found = settings.get("max_steps") if isinstance(settings, dict) else None
        return found if isinstance(found, int) else None

    def refresh(self, seconds: float = 0.4) -> None:
        """Read new events, for about this long. What is left is read by the next call.

        Raises:
            Unreadable: The storage or the study cannot be read at the moment.
            StudyNotFound: The study no longer exists.
        """
        if not self._reading.acquire(blocking=not self.header):
            return  # another thread reads; what it has found so far is used, but the header must be known
        try:
            if not self.is_complete or self._clock() - self._refreshed >= _FRESH:
                self._read_or_explain(self._clock() + seconds)
                self._refreshed = self._clock()
        finally:
            self._reading.release()

    def stored(self, numbers: Collection[int]) -> dict[int, Event]:
        """The events with these numbers."""
        found: dict[int, Event] = {}
        wanted = list(numbers)
        for start in range(0, len(wanted), _MANY):
            part = _event.number.in_(wanted[start : start + _MANY])
            found |= {row[0]: _as_event(row) for row in self.select(sa.select(*CONTENT).where(part))}
        return found

    def select(self, query: sa.Select[Any]) -> list[Any]:
        """The rows of a query on the events of this study."""
        with self.lock, explained(), _explained_corruption():
            journal = self._opened()
            return list(journal.select(query.where(_event.study == self.number)))

    def recommendation(self) -> tuple[int, str] | None:
        """The newest recommendation in the storage: the number of events it is based on, and its text."""
        with self.lock, explained(), _explained_corruption():
            return self._opened().recommendation()

    def rest(self) -> None:
        """Keep no session on a server. The next use makes a new one, and continues where this one was."""
        with self.lock, suppress(Exception):  # a lost connection
            if self._journal is not None:
                self._journal.release()

    def close(self) -> None:
        """Close the connection. The next use makes a new one."""
        self.strategy.close()
        with self.lock:
            journal, self._journal = self._journal, None
            if journal is not None:
                with suppress(Exception):  # a lost connection
                    journal.close()

    def _read_or_explain(self, until: float) -> None:
        try:
            with explained(), _explained_corruption():
                self._read(until)
        except (Unreadable, StudyNotFound):
            self.close()
            raise

    def _read(self, until: float) -> None:
        with self.lock:
            journal = self._opened()
            self.length = len(journal)  # looks up the end of the journal
            if journal.study != self.number:
                raise StudyNotFound(f"there is no study {self.name!r} with this number")
            if not self._continues(journal):
                self._begin(stored_header(journal) or {})
            events = journal.events(self.events)
        while not self.is_complete:
            with self.lock:
                batch = list(islice(events, _BATCH))
                for event in batch:
                    self._add(event)
                self._last_checksum = self._checksum(journal)
            if not batch or self._clock() >= until:
                return

    def _add(self, event: Event) -> None:
        self.columns.add(event)
        if event.arm is not None and "config" in event.data:  # charts share the short values that the table has
            data: dict[str, Any] = event.data  # type: ignore[assignment]  # which was just parsed, for this event only
            data["config"] = self.columns.configs[self.columns.row_of[event.arm]]
        self.charts.add(event)

    def _opened(self) -> SqlJournal:
        identity = check_file(parse_url(self._url))
        if self._journal is not None and identity != self._file:  # the file was replaced
            self.close()
        if self._journal is None:
            self._journal = SqlJournal(self._url, self.name, write=False)
            self._file = file_identity(place_of(parse_url(self._url)))
        return self._journal

    def _continues(self, journal: SqlJournal) -> bool:
        """Whether the events that were read are still the beginning of the journal."""
        if not self.header or journal.header != self.header or self.length < self.events:
            return False
        return self._checksum(journal) == self._last_checksum

    def _checksum(self, journal: SqlJournal) -> str | None:
        """The checksum of the last event that was read."""
        mine = _event.study == self.number, _event.number == self.events - 1
        rows = journal.select(sa.select(_event.checksum).where(*mine))
        return str(rows[0][0]) if rows else None

    def _begin(self, header: Mapping[str, Any]) -> None:
        """Forget all events."""
        self.header = header
        self.columns = ArmColumns(sign_of(header["direction"]), self.max_steps)
        self.charts = Charts(header)
        self.strategy.close()
        self.strategy = StrategyCharts(self._url, self.name, header, self._clock)
        self._last_checksum = None


@contextmanager
def _explained_corruption() -> Iterator[None]:
    """Turn errors of values that no study writes into `Unreadable`."""
    try:
        yield
    except _MALFORMED as error:
        raise Unreadable(f"The study is corrupt ({safe_text(f'{type(error).__name__}: {error}')[:300]})") from error


def _as_event(row: Any) -> Event:
    _, kind, arm, start, stop, reward, seconds, data = row
    content = parsed(data)
    return Event(kind, arm, start, stop, reward, seconds, content if isinstance(content, dict) else {})
