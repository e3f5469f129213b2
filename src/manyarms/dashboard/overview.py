"""The list of studies with their progress, counted by the database, so that it is there before any event is read."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import sqlalchemy as sa

from ..journal.layout import events_table
from ..study.summary import limits_of, remaining
from . import json_values
from .progress import Speed, State, patience, state_of
from .reader import CHUNK, StorageReader, StudyHead, number_or_zero

_event = events_table.c
_ENDED = _event.kind.in_(("told", "failed"))
_NEW_ARM = '{"config": '  # how the data of the first pull of an arm begins
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
        self.counted = self.asked = self.arms = self.pulls = self.failures = self.steps = self.last_pull = 0
        self.seconds = self.cost = self.longest_pull = 0.0
        self.best_reward: float | None = None
        self.budget: dict[str, Any] | None = None
        self._clock, self._speed = clock, Speed()
        self._began = self._changed = clock()
        self._seen_change = False
        self._ended: float | None = None  # when the last pull ended, in seconds since 1970

    @property
    def in_flight(self) -> int:
        """Number of pulls that were asked for and have not ended."""
        return max(0, self.asked - self.pulls - self.failures)

    @property
    def maximizes(self) -> bool:
        """Whether larger rewards are better."""
        return self.header.get("direction") != "minimize"

    def update(self, head: StudyHead, reader: StorageReader, until: float) -> bool:
        """Count new events, until a time of the clock. Returns whether all were counted."""
        if head.events != self.head.events:
            self._changed, self._seen_change = self._clock(), True
        self.head = head
        while self.counted < head.events:
            self._count(reader, min(self.counted + CHUNK, head.events))
            if self._clock() >= until and self.counted < head.events:
                return False
        self._speed.observe(self._clock(), self.steps)
        return True

    def state(self, reader: StorageReader) -> State:
        """Whether the study is running, waiting, interrupted or finished."""
        quiet, is_known = self._clock() - self._changed, self._seen_change
        if not self._seen_change and self._ended is not None:
            quiet, is_known = max(0.0, time.time() - self._ended), True
        elif not self._seen_change:
            quiet = max(quiet, reader.quiet_seconds())
        limit = patience(self.in_flight, self.longest_pull)
        return state_of(self.head.events, self.in_flight, self._remaining(), self._whole, quiet, limit, is_known)

    def as_json(self, reader: StorageReader) -> dict[str, Any]:
        """The study as a row of the list."""
        state = self.state(reader)
        return {
            "number": self.head.number,
            "name": json_values.name(self.head.name),
            "created": json_values.number(self.head.created),
            "state": state,
            "events": self.head.events,
            "counted": self.counted,
            "arms": self.arms,
            "pulls": self.pulls,
            "failures": self.failures,
            "in_flight": self.in_flight,
            "steps": self.steps,
            "seconds": json_values.number(self.seconds),
            "cost": json_values.number(self.cost),
            "best_reward": json_values.number(self.best_reward),
            "limits": self._limits(),
            "speed": self._speed.steps_per_second if state == "running" else None,
            **{name: json_values.cell(self.header.get(name)) for name in _SETTINGS},
        }

    @property
    def _whole(self) -> int:
        """Steps of a complete training, or of the last pull if that is unknown."""
        settings = self.header.get("settings")
        found = settings.get("max_steps") if isinstance(settings, dict) else None
        return found if isinstance(found, int) else self.last_pull

    def _limits(self) -> dict[str, Any]:
        """The limits that are set: steps, seconds and cost."""
        with suppress(Exception):  # an untrusted header may say anything
            limits = limits_of(self.header, self.budget)
            if limits is not None:
                return {name: json_values.number(value) for name, value in {"steps": limits.steps, **limits.as_json()}.items()}
        return {}

    def _remaining(self) -> dict[str, float]:
        with suppress(Exception):
            return remaining(limits_of(self.header, self.budget), self)
        return {}

    def _count(self, reader: StorageReader, stop: int) -> None:
        """Count the events up to number `stop`."""
        mine = sa.and_(_event.study == self.head.number, _event.number >= self.counted, _event.number < stop)
        best = (sa.func.max if self.maximizes else sa.func.min)(_event.reward)
        columns = {
            **{kind: sa.func.count().filter(_event.kind == kind) for kind in ("asked", "told", "failed", "budget")},
            "arms": sa.func.count().filter(_event.kind == "asked", _event.data.startswith(_NEW_ARM)),
            "steps": sa.func.sum(_event.stop - _event.start).filter(_ENDED),
            "seconds": sa.func.sum(_event.seconds).filter(_ENDED),
            "longest": sa.func.max(_event.seconds).filter(_ENDED),
            "last_pull": sa.func.max(_event.stop - _event.start).filter(_event.kind == "asked", _event.number >= stop - 2),
            "best": best.filter(_event.kind == "told"),
            "costs": sa.func.count().filter(_event.data.contains('"cost": ')),
        }
        found = reader.rows(sa.select(*(value.label(name) for name, value in columns.items())).where(mine))[0]
        self.asked += found.asked
        self.pulls += found.told
        self.failures += found.failed
        self.arms += found.arms
        self.steps += int(found.steps or 0)
        self.seconds += number_or_zero(found.seconds)
        self.longest_pull = max(self.longest_pull, number_or_zero(found.longest))
        self.last_pull = int(found.last_pull or self.last_pull)
        rewards = [value for value in (self.best_reward, json_values.number(found.best)) if value is not None]
        self.best_reward = (max if self.maximizes else min)(rewards) if rewards else None
        if found.budget:
            self.budget = _newest(reader, mine, "budget")[-1]
        if found.costs:
            self.cost += sum(json_values.number(data.get("cost")) or 0.0 for data in _newest(reader, mine, "told", "failed"))
        if found.told or found.failed:
            last = sa.select(_event.data).where(mine, _ENDED).order_by(_event.number.desc()).limit(1)
            data = parsed(reader.rows(last)[0].data)
            self._ended = json_values.number(data.get("ended")) if isinstance(data, dict) else None
        self.counted = stop


def _newest(reader: StorageReader, mine: sa.ColumnElement[bool], *kinds: str) -> list[dict[str, Any]]:
    """The data of the events of some kinds."""
    query = sa.select(_event.data).where(mine, _event.kind.in_(kinds), _event.data.is_not(None)).order_by(_event.number)
    found = [parsed(text) for (text,) in reader.rows(query)]
    return [data for data in found if isinstance(data, dict)] or [{}]


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
    return same and head is not None and head.events >= known.counted
