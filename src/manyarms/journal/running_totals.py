"""The counts of a stored study while it is written: each time, only the new events are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from ..core import sign_of
from .layout import events_table
from .sql import SqlJournal
from .totals import data_of, data_without_details

_BATCH = 20_000  # events in one query
_event = events_table.c


class BestPull(NamedTuple):
    """The pull with the best reward: its arm, last step and reward, and the steps that the study had spent with it."""

    arm: int
    stop: int
    reward: float
    after: int


class RunningTotals:
    """The counts of one study.

    Attributes:
        pulls: Number of pulls that gave a reward.
        reasons: Number of failed pulls for each reason.
        steps: Steps of training spent, failed pulls included.
        seconds: Time spent in pulls.
        in_flight: The steps from which and to which each arm is trained now, by arm, in the order asked.
        best: The pull with the best reward, the first one of several; None if there is none.
        changed_limits: The newest limits in steps, seconds and cost, if they replaced those in the header.
    """

    def __init__(self) -> None:
        self._begin(None, "maximize")

    def _begin(self, study: int | None, direction: str) -> None:
        self._study, self._sign = study, sign_of(direction)
        self._events, self._checksum = 0, ""
        self._arms: set[int] = set()
        self.pulls = self.steps = 0
        self.seconds = 0.0
        self.reasons: Counter[str] = Counter()
        self.in_flight: dict[int, tuple[int, int]] = {}
        self.best: BestPull | None = None
        self.changed_limits: Mapping[str, Any] | None = None

    @property
    def arms(self) -> int:
        """Number of arms."""
        return len(self._arms)

    @property
    def failures(self) -> int:
        """Number of failed pulls."""
        return self.reasons.total()

    def update(self, journal: SqlJournal) -> None:
        """Count the events that were appended since the last time; all of them if the study was replaced by another one."""
        if not self._continues(journal):
            self._begin(journal.study, (journal.header or {})["direction"])
        while rows := self._new_rows(journal):
            for row in rows:
                self._count(*row[2:])  # faster than by name, and there may be many
            self._events, self._checksum = rows[-1].number + 1, rows[-1].checksum

    def _continues(self, journal: SqlJournal) -> bool:
        """Whether the journal begins with the events that were counted."""
        last = sa.select(_event.checksum).where(_event.study == journal.study, _event.number == self._events - 1)
        return journal.study == self._study and [row.checksum for row in journal.select(last)] == [self._checksum]

    def _new_rows(self, journal: SqlJournal) -> Sequence[Any]:
        columns = (_event[name] for name in ("number", "checksum", "kind", "arm", "start", "stop", "reward", "seconds"))
        data = sa.case((_event.kind.in_(("failed", "budget")), data_without_details(journal)))
        new = sa.and_(_event.study == journal.study, _event.number >= self._events)
        return journal.select(sa.select(*columns, data.label("data")).where(new).order_by(_event.number).limit(_BATCH))

    def _count(
        self, kind: str, arm: int, start: int, stop: int, reward: float | None, seconds: float | None, data: str | None
    ) -> None:
        if kind == "asked":
            self._arms.add(arm)
            self.in_flight[arm] = start, stop
        elif kind == "budget":
            self.changed_limits = data_of(data)
        elif kind in ("told", "failed"):
            self.in_flight.pop(arm, None)
            self.steps += stop - start
            self.seconds += seconds or 0.0
            if kind == "failed":
                self.reasons[data_of(data).get("reason", "")] += 1
                return
            self.pulls += 1
            if reward is not None and (self.best is None or self._sign * reward > self._sign * self.best.reward):
                self.best = BestPull(arm, stop, reward, self.steps)
