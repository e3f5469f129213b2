"""A journal in memory, for studies that are not stored."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from .protocol import Event


class MemoryJournal:
    """A journal that keeps events in a list. Returned events are copies."""

    def __init__(self, name: str = "study") -> None:
        self.name = name
        self._header: str | None = None
        self._events: list[Event] = []
        self._snapshot: tuple[int, str] | None = None
        self._recommendation: tuple[int, str] | None = None

    @property
    def header(self) -> Mapping[str, Any] | None:
        return None if self._header is None else json.loads(self._header)

    def create(self, header: Mapping[str, Any]) -> None:
        self._header = json.dumps(header)

    def append(self, events: Iterable[Event]) -> None:
        self._events += [replace(event, data=copy.deepcopy(event.data)) for event in events]

    def events(self, since: int = 0) -> Iterator[Event]:
        for event in self._events[since:]:
            yield replace(event, data=copy.deepcopy(event.data))

    def __len__(self) -> int:
        return len(self._events)

    def snapshot(self) -> tuple[int, str] | None:
        return self._snapshot

    def save_snapshot(self, covered: int, text: str) -> None:
        self._snapshot = covered, text

    def recommendation(self) -> tuple[int, str] | None:
        return self._recommendation

    def save_recommendation(self, covered: int, text: str) -> None:
        self._recommendation = covered, text

    def close(self) -> None:
        pass
