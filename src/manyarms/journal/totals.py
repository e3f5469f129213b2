"""What a stored study adds up to, computed by its database: for a look at a long study without reading all its events."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from .layout import events_table
from .sql import SqlJournal

_MANY = 500  # values in one query: databases limit them
_event = events_table.c
_DETAILS = '", "details": "'


@dataclass(frozen=True, slots=True)
class Totals:
    """The counts of a study.

    Attributes:
        arms: Number of arms.
        pulls: Number of pulls that gave a reward.
        failures: Number of pulls that failed.
        in_flight: Number of pulls that were asked for and have not ended.
        steps: Steps of training spent, failed pulls included.
        seconds: Time spent in pulls.
        retrained: Steps trained again because a checkpoint was lost.
        reason: The most frequent reason for a failure; None if no pull failed.
        budgets: The budget of the study's header first, then each one that replaced it.
    """

    arms: int
    pulls: int
    failures: int
    in_flight: int
    steps: int
    seconds: float
    retrained: int
    reason: str | None
    budgets: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class StoredArm:
    """Where an arm stands.

    Attributes:
        arm: The id of the arm.
        parents: The ids of the arms it was made from.
        config: Its config, as JSON.
        steps: Steps it was trained.
        reward: Its last reward; None if it has none.
        last_event: The kind of its last event: "asked" while it is being trained, "told" or "failed".
        checkpoint: The name of what it saved last; None if it saved nothing.
    """

    arm: int
    parents: tuple[int, ...]
    config: Any
    steps: int
    reward: float | None
    last_event: str
    checkpoint: str | None


def totals(journal: SqlJournal) -> Totals:
    """The counts of the study."""
    mine = _event.study == journal.study
    steps, seconds = sa.func.sum(_event.stop - _event.start), sa.func.sum(_event.seconds)
    by_kind = {
        kind: (count, int(steps or 0), seconds or 0.0)
        for kind, count, steps, seconds in journal.select(
            sa.select(_event.kind, sa.func.count(), steps, seconds).where(mine).group_by(_event.kind)
        )
    }
    asked, told, failed = (by_kind.get(kind, (0, 0, 0.0)) for kind in ("asked", "told", "failed"))
    settings = (journal.header or {}).get("settings") or {}
    changes = journal.select(sa.select(_event.data).where(mine, _event.kind == "budget").order_by(_event.number))
    return Totals(
        arms=arm_count(journal),
        pulls=told[0],
        failures=failed[0],
        in_flight=asked[0] - told[0] - failed[0],
        steps=told[1] + failed[1],
        seconds=told[2] + failed[2],
        retrained=_retrained(journal),
        reason=_most_frequent_reason(journal) if failed[0] else None,
        budgets=(settings.get("budget"), *(json.loads(data)["budget"] for (data,) in changes)),
    )


def arm_count(journal: SqlJournal) -> int:
    """The number of arms of the study."""
    query = sa.select(sa.func.count(sa.distinct(_event.arm))).where(_event.study == journal.study)
    return int(journal.select(query)[0][0])


def best_arms(journal: SqlJournal, top: int | None = None) -> list[StoredArm]:
    """The arms of the study by their last reward, the best first; `top` limits their number."""
    maximize = (journal.header or {})["direction"] == "maximize"
    mine = _event.study == journal.study
    rewarded, last = events_table.alias("rewarded"), _last(mine)
    order = rewarded.c.reward.desc() if maximize else rewarded.c.reward.asc()
    ids = journal.select(
        sa.select(last.c.arm)
        .join_from(last, (told := _last(mine, _event.kind == "told")), told.c.arm == last.c.arm, isouter=True)
        .join(rewarded, sa.and_(rewarded.c.study == journal.study, rewarded.c.number == told.c.number), isouter=True)
        .order_by(order.nulls_last(), last.c.arm)
        .limit(top)
    )
    return arms(journal, [row[0] for row in ids])


def arms(journal: SqlJournal, ids: Collection[int]) -> list[StoredArm]:
    """The arms with these ids, in this order."""
    mine = sa.and_(_event.study == journal.study, _event.arm.in_(ids) if len(ids) <= _MANY else _event.arm.is_not(None))
    asks = sa.select(_event.arm, _event.data).where(mine, _event.kind == "asked", _event.data.is_not(None))
    first: dict[int, Mapping[str, Any]] = {}
    for arm, data in journal.select(asks.order_by(_event.number)):
        if arm not in first:
            first[arm] = json.loads(data)
    kinds = {row.arm: row.kind for row in journal.select(_rows(journal.study, _last(mine)))}
    told = {row.arm: row for row in journal.select(_rows(journal.study, _last(mine, _event.kind == "told")))}
    return [_arm(arm, first[arm], kinds[arm], told.get(arm)) for arm in ids]


def _arm(arm: int, first: Mapping[str, Any], kind: str, told: Any) -> StoredArm:
    saved = json.loads(told.data).get("checkpoint") if told is not None and told.data else None
    steps, reward = (0, None) if told is None else (told.stop, told.reward)
    return StoredArm(arm, tuple(first.get("parents", ())), first["config"], steps, reward, kind, saved)


def _last(*conditions: Any) -> sa.Subquery:
    """The number of the last event of each arm."""
    number = sa.func.max(_event.number).label("number")
    return sa.select(_event.arm, number).where(*conditions, _event.arm.is_not(None)).group_by(_event.arm).subquery()


def _rows(study: int | None, last: sa.Subquery) -> sa.Select[Any]:
    """The events with these numbers."""
    return sa.select(*(_event[name] for name in ("arm", "kind", "stop", "reward", "data"))).join_from(
        last, events_table, sa.and_(_event.study == study, _event.number == last.c.number)
    )


def _retrained(journal: SqlJournal) -> int:
    query = sa.select(_event.data).where(_event.study == journal.study, _event.data.contains('"retrained": '))
    return sum(int(json.loads(data).get("retrained", 0)) for (data,) in journal.select(query))


def _most_frequent_reason(journal: SqlJournal) -> str:
    """Grouped by the database, decoded here: not every text that JSON can write is one that every database can read."""
    find = sa.func.strpos if journal.dialect == "postgresql" else sa.func.instr
    end = find(_event.data, _DETAILS)  # a traceback differs more often than the reason before it
    data = sa.case((end > 0, sa.func.substr(_event.data, 1, end)), else_=_event.data)
    query = sa.select(data, sa.func.count(), sa.func.min(_event.number)).group_by(data)
    counts: Counter[str] = Counter()
    rows = journal.select(query.where(_event.study == journal.study, _event.kind == "failed"))
    for text, count, _ in sorted(rows, key=lambda row: row[2]):
        whole = text if text is None or text.endswith("}") else f"{text}}}"
        counts[json.loads(whole or "{}").get("reason", "")] += count
    return counts.most_common(1)[0][0]
