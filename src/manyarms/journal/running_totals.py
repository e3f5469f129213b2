"""The counts of a stored study while it is written: each time, only the new events are counted, by the database."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from ..core import sign_of
from .layout import events_table
from .sql import SqlJournal
from .totals import data_of, data_without_details

_BATCH = 5_000  # events in one query, which takes a few milliseconds; in SQLite, a writer waits for queries to end
_MANY = 500  # values in one query, which databases limit
_event = events_table.c
_ENDED = _event.kind.in_(("told", "failed"))
_LENGTH = _event.stop - _event.start
_NEW_ARM = '{"config": '  # how the data of the first pull of an arm begins

Select = Callable[[sa.Select[Any]], Sequence[Any]]
"""Returns the rows of a query."""


class BestPull(NamedTuple):
    """The pull with the best reward: its arm, last step and reward, and the steps that the study had spent with it."""

    arm: int
    stop: int
    reward: float
    after: int


class RunningTotals:
    """The counts of one study. Its events are not trusted: what no study writes is not counted.

    Args:
        direction: "maximize" or "minimize" the rewards.

    Attributes:
        events: Number of events that were counted.
        arms: Number of arms.
        pulls: Number of pulls that gave a reward.
        reasons: Number of failed pulls for each reason.
        steps: Steps of training spent, failed pulls included.
        seconds: Time spent in pulls.
        cost: What pulls reported as their cost.
        longest_pull: Time of the longest pull, in seconds.
        last_pull: Number of steps of the newest pull.
        in_flight: The steps from which and to which each arm is trained now, by arm, in the order asked.
        best: The pull with the best reward, the first one of several; None if there is none.
        changed_limits: The newest limits in steps, seconds and cost, if they replaced those in the header.
        ended: When the last pull ended, in seconds since 1970; None if that is unknown.
    """

    def __init__(self, direction: str = "maximize") -> None:
        self._begin(None, direction)

    def _begin(self, study: int | None, direction: str) -> None:
        self._study, self._sign = study, sign_of(direction)
        self._checksum = ""
        self.events = self.arms = self.pulls = self.steps = self.last_pull = 0
        self.seconds = self.cost = self.longest_pull = 0.0
        self.reasons: Counter[str] = Counter()
        self.in_flight: dict[int, tuple[int, int]] = {}
        self.best: BestPull | None = None
        self.changed_limits: Mapping[str, Any] | None = None
        self.ended: float | None = None

    @property
    def failures(self) -> int:
        """Number of failed pulls."""
        return self.reasons.total()

    def update(self, journal: SqlJournal) -> None:
        """Count the events that were appended since the last time; all of them if the study was replaced by another one."""
        if not self._continues(journal):
            self._begin(journal.study, (journal.header or {})["direction"])
        length = len(journal)
        if journal.study is not None and self.events < length:
            while self.events < length:
                self.count(journal.select, journal.study, journal.dialect, length)
            self._checksum = journal.select(self._last(journal.study))[0].checksum

    def _continues(self, journal: SqlJournal) -> bool:
        """Whether the journal begins with the events that were counted."""
        if journal.study is None or journal.study != self._study:
            return False
        return [row.checksum for row in journal.select(self._last(journal.study))] == [self._checksum]

    def _last(self, study: int) -> sa.Select[Any]:
        return sa.select(_event.checksum).where(_event.study == study, _event.number == self.events - 1)

    def count(self, select: Select, study: int, dialect: str, stop: int) -> None:
        """Count the next events, at most `_BATCH`.

        Args:
            select: Returns the rows of a query.
            study: Number of the study in the tables.
            dialect: The kind of database: "sqlite" or "postgresql".
            stop: Number of events of the study.
        """
        stop = min(stop, self.events + _BATCH)
        new = sa.and_(_event.study == study, _event.number >= self.events, _event.number < stop)
        best = (sa.func.max if self._sign > 0 else sa.func.min)(_event.reward)
        columns = {
            **{kind: sa.func.count().filter(_event.kind == kind) for kind in ("told", "failed", "budget")},
            "arms": sa.func.count().filter(_event.kind == "asked", _event.data.startswith(_NEW_ARM)),
            "steps": sa.func.sum(_LENGTH).filter(_ENDED),
            "seconds": sa.func.sum(_event.seconds).filter(_ENDED),
            "longest": sa.func.max(_event.seconds).filter(_ENDED),
            "last_pull": sa.func.max(_LENGTH).filter(_event.kind == "asked", _event.number >= stop - 2),
            "best": best.filter(_event.kind == "told"),
            "costs": sa.func.count().filter(_event.data.contains('"cost": ')),
        }
        found = select(sa.select(*(value.label(name) for name, value in columns.items())).where(new))[0]
        self._compare(select, new, _number(found.best))
        self.arms += found.arms
        self.pulls += found.told
        self.steps += int(found.steps or 0)
        self.seconds += _number(found.seconds) or 0.0
        self.longest_pull = max(self.longest_pull, _number(found.longest) or 0.0)
        self.last_pull = int(found.last_pull or self.last_pull)
        if found.failed:
            self._count_reasons(select, new, dialect)
        if found.budget:
            self.changed_limits = _data(select, new, "budget")[-1]
        if found.costs:
            self.cost += sum(_number(data.get("cost")) or 0.0 for data in _data(select, new, "told", "failed"))
        if found.told or found.failed:
            last = sa.select(_event.data).where(new, _ENDED).order_by(_event.number.desc()).limit(1)
            self.ended = _number(_parsed(select(last)[0].data).get("ended"))
        self._follow(select, new)
        self.events = stop

    def _compare(self, select: Select, new: sa.ColumnElement[bool], reward: float | None) -> None:
        """Remember the best of the new rewards if it is better than all before."""
        if reward is None or (self.best is not None and self._sign * reward <= self._sign * self.best.reward):
            return
        query = sa.select(_event.number, _event.arm, _event.stop).where(new, _event.kind == "told", _event.reward == reward)
        if not (rows := select(query.order_by(_event.number).limit(1))):
            return
        first = rows[0]
        spent = select(sa.select(sa.func.sum(_LENGTH)).where(new, _ENDED, _event.number <= first.number))[0][0]
        self.best = BestPull(first.arm, first.stop, reward, self.steps + int(spent or 0))

    def _count_reasons(self, select: Select, new: sa.ColumnElement[bool], dialect: str) -> None:
        data = data_without_details(dialect)
        query = sa.select(data, sa.func.count(), sa.func.min(_event.number)).where(new, _event.kind == "failed").group_by(data)
        for text, count, _ in sorted(select(query), key=lambda row: row[2]):
            self.reasons[str(_parsed(text, data_of).get("reason", ""))] += count

    def _follow(self, select: Select, new: sa.ColumnElement[bool]) -> None:
        """Update which arms are in flight: those whose newest event asks for a pull."""
        known = list(self.in_flight)
        for start in range(0, len(known), _MANY):
            some = _event.arm.in_(known[start : start + _MANY])
            for (arm,) in select(sa.select(_event.arm).where(new, _ENDED, some).distinct()):
                self.in_flight.pop(arm, None)
        newest = sa.select(sa.func.max(_event.number)).where(new).group_by(_event.arm)
        columns = _event.arm, _event.start, _event.stop
        asked = sa.select(*columns).where(new, _event.kind == "asked", _event.number.in_(newest)).order_by(_event.number)
        for arm, start, stop in select(asked):
            self.in_flight[arm] = start, stop


def _data(select: Select, new: sa.ColumnElement[bool], *kinds: str) -> list[dict[str, Any]]:
    """The data of the new events of some kinds."""
    query = sa.select(_event.data).where(new, _event.kind.in_(kinds), _event.data.is_not(None)).order_by(_event.number)
    return [_parsed(text) for (text,) in select(query)] or [{}]


def _parsed(text: str | None, parse: Callable[[str | None], Any] = lambda text: json.loads(text or "{}")) -> dict[str, Any]:
    """The data in text; an empty dict if it is not valid."""
    try:
        found = parse(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _number(value: Any) -> float | None:
    """A finite number from a column that an untrusted database may have filled with anything; None for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and -math.inf < value < math.inf else None
