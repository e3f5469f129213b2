"""The list of studies with their progress, counted by the database, so that it is there before any event is read."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ..journal.running_totals import RunningTotals
from ..study.summary import limits_of, remaining
from . import json_values
from .progress import Speed, State, patience, state_of
from .reader import StorageReader, StudyHead

_SETTINGS = ("strategy", "seed", "direction", "manyarms")


class Overview:
    """One study in the list. Each update counts only the events that are new.

    Args:
        head: The study.
        header: Its header.
        clock: Returns the time in seconds.
    """

    def __init__(self, head: StudyHead, header: Mapping[str, Any], clock: Callable[[], float] = time.monotonic) -> None:
        self.head, self.header = head, header
        self.totals = RunningTotals("minimize" if header.get("direction") == "minimize" else "maximize")
        self._clock, self._speed = clock, Speed()
        self._began = self._changed = clock()
        self._seen_change = False

    def update(self, head: StudyHead, reader: StorageReader, until: float) -> bool:
        """Count new events, until a time of the clock. Returns whether all were counted."""
        if head.events != self.head.events:
            self._changed, self._seen_change = self._clock(), True
        self.head = head
        while self.totals.events < head.events:
            self.totals.count(reader.rows, head.number, reader.dialect, head.events)
            if self._clock() >= until and self.totals.events < head.events:
                return False
        self._speed.observe(self._clock(), self.totals.steps)
        return True

    def state(self, reader: StorageReader) -> State:
        """Whether the study is running, waiting, interrupted or finished."""
        quiet, is_known = self._clock() - self._changed, self._seen_change
        if not self._seen_change and self.totals.ended is not None:
            quiet, is_known = max(0.0, time.time() - self.totals.ended), True
        elif not self._seen_change:
            quiet = max(quiet, reader.quiet_seconds())
        in_flight = len(self.totals.in_flight)
        limit = patience(in_flight, self.totals.longest_pull)
        return state_of(self.head.events, in_flight, self._remaining(), self._whole, quiet, limit, is_known)

    def as_json(self, reader: StorageReader) -> dict[str, Any]:
        """The study as a row of the list."""
        state, totals = self.state(reader), self.totals
        return {
            "number": self.head.number,
            "name": json_values.name(self.head.name),
            "created": json_values.number(self.head.created),
            "state": state,
            "events": self.head.events,
            "counted": totals.events,
            "arms": totals.arms,
            "pulls": totals.pulls,
            "failures": totals.failures,
            "in_flight": len(totals.in_flight),
            "steps": totals.steps,
            "seconds": json_values.number(totals.seconds),
            "cost": json_values.number(totals.cost),
            "best_reward": None if totals.best is None else totals.best.reward,
            "limits": self._limits(),
            "speed": self._speed.steps_per_second if state == "running" else None,
            **{name: json_values.cell(self.header.get(name)) for name in _SETTINGS},
        }

    @property
    def _whole(self) -> int:
        """Steps of a complete training, or of the last pull if that is unknown."""
        settings = self.header.get("settings")
        found = settings.get("max_steps") if isinstance(settings, dict) else None
        return found if isinstance(found, int) else self.totals.last_pull

    def _limits(self) -> dict[str, Any]:
        """The limits that are set: steps, seconds and cost."""
        with suppress(Exception):  # an untrusted header may say anything
            limits = limits_of(self.header, self.totals.changed_limits)
            if limits is not None:
                return {name: json_values.number(value) for name, value in {"steps": limits.steps, **limits.as_json()}.items()}
        return {}

    def _remaining(self) -> dict[str, float]:
        with suppress(Exception):
            return remaining(limits_of(self.header, self.totals.changed_limits), self.totals)
        return {}


def parsed(text: str | None) -> Any:
    """The value of JSON text; an empty dict if it is not valid."""
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}


class Overviews:
    """The list of all studies of a storage. Can be used by several threads.

    Args:
        reader: Connection to the storage.
        clock: Returns the time in seconds.
    """

    def __init__(self, reader: StorageReader, clock: Callable[[], float] = time.monotonic) -> None:
        self._reader, self._clock = reader, clock
        self._lock = threading.Lock()
        self._known: dict[int, Overview] = {}
        self.is_complete = False

    def refresh(self, seconds: float = 0.5, only: int | None = None) -> None:
        """Count what is new, for about this long. What is left is counted by the next call.

        Args:
            seconds: Time limit.
            only: Number of the only study to update; None means all studies.
        """
        with self._lock:
            heads = {head.number: head for head in self._reader.studies()}
            self._known = {number: known for number, known in self._known.items() if _continues(known, heads.get(number))}
            until, complete = self._clock() + seconds, True
            for number, head in heads.items():
                if number not in self._known:
                    header = parsed(self._reader.header_text(number))
                    self._known[number] = Overview(head, header if isinstance(header, dict) else {}, self._clock)
                if only in (None, number):
                    complete &= self._known[number].update(head, self._reader, until)
            self.is_complete = complete

    def all(self) -> list[Overview]:
        """All studies, newest first."""
        with self._lock:
            return list(reversed(self._known.values()))

    def get(self, number: int) -> Overview | None:
        """One study; None if it does not exist."""
        with self._lock:
            return self._known.get(number)


def _continues(known: Overview, head: StudyHead | None) -> bool:
    """Whether this is still the same study, which may have grown."""
    same = head is not None and (head.name, head.created) == (known.head.name, known.head.created)
    return same and head is not None and head.events >= known.totals.events
