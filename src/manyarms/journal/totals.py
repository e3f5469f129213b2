"""What a stored study adds up to, computed by its database: for a look at a long study without reading all its events."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ..core import sign_of
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
        best_reward: Its best reward, of equal ones the last; None if it has none.
        best_step: The step at which it got that one; 0 if it has none.
        last_event: The kind of its last event: "asked" while it is being trained, "told" or "failed".
        checkpoint: The name of what it saved last; None if it saved nothing.
        best_checkpoint: The name of what it saved at its best step; None if it saved nothing then.
    """

    arm: int
    parents: tuple[int, ...]
    config: Any
    steps: int
    reward: float | None
    best_reward: float | None
    best_step: int
    last_event: str
    checkpoint: str | None
    best_checkpoint: str | None


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


def best_arms(journal: SqlJournal, top: int | None = None, by_mean: bool = False) -> list[StoredArm]:
    """The arms of the study, the best first.

    Args:
        journal: The journal of the study.
        top: The number of arms; None means all.
        by_mean: Compare the means of the arms' rewards instead of their best rewards.
    """
    maximize = (journal.header or {})["direction"] == "maximize"
    reward = sa.case((_event.kind == "told", _event.reward))
    worth = sa.func.avg(reward) if by_mean else sa.func.max(reward) if maximize else sa.func.min(reward)
    ids = journal.select(
        sa.select(_event.arm)
        .where(_event.study == journal.study, _event.arm.is_not(None))
        .group_by(_event.arm)
        .order_by((worth.desc() if maximize else worth.asc()).nulls_last(), _event.arm)
        .limit(top)
    )
    return arms(journal, [row[0] for row in ids])


def arms(journal: SqlJournal, ids: Collection[int]) -> list[StoredArm]:
    """The arms with these ids, in this order."""
    mine = sa.and_(_event.study == journal.study, _event.arm.in_(ids) if len(ids) <= _MANY else _event.arm.is_not(None))
    columns = (_event[name] for name in ("arm", "kind", "stop", "reward", "data"))
    told: dict[int, list[Any]] = {arm: [] for arm in ids}
    first: dict[int, Mapping[str, Any]] = {}
    last: dict[int, str] = {}
    for row in journal.select(sa.select(*columns).where(mine).order_by(_event.number)):
        last[row.arm] = row.kind
        if row.kind == "told" and row.arm in told:
            told[row.arm].append(row)
        elif row.arm not in first:
            first[row.arm] = json.loads(row.data)
    sign = sign_of((journal.header or {})["direction"])
    return [_arm(arm, first[arm], last[arm], told[arm], sign) for arm in ids]


def _arm(arm: int, first: Mapping[str, Any], kind: str, told: list[Any], sign: float) -> StoredArm:
    parents, config = tuple(first.get("parents", ())), first["config"]
    if not told:
        return StoredArm(arm, parents, config, 0, None, None, 0, kind, None, None)
    best = max(reversed(told), key=lambda row: sign * row.reward)
    rewards = told[-1].stop, told[-1].reward, best.reward, best.stop
    return StoredArm(arm, parents, config, *rewards, kind, _checkpoint(told[-1]), _checkpoint(best))


def _checkpoint(told: Any) -> str | None:
    """The name of what a pull saved."""
    return json.loads(told.data).get("checkpoint") if told.data else None


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
