"""Counts and arms of a stored study, computed by its database, so that commands need not read all events of a long study."""

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

_MANY = 500  # values in one query, which databases limit
_event = events_table.c
_DETAILS = '", "details": "'
_RETRAINED = '"retrained": '


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
        changed_limits: The newest limits in steps, seconds and cost, if they replaced those in the header.
    """

    arms: int
    pulls: int
    failures: int
    in_flight: int
    steps: int
    seconds: float
    retrained: int
    reason: str | None
    changed_limits: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class StoredArm:
    """Where an arm stands.

    Attributes:
        arm: The id of the arm.
        parents: The ids of the arms it was made from.
        config: Its config, as JSON.
        steps: Steps it was trained.
        reward: Its last reward; None if it has none.
        best_reward: Its best reward; None if it has none.
        best_step: The last step at which it got its best reward; 0 if it has none.
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
    """The counts of a study, made in one pass over its events."""
    ended = _event.kind.in_(("told", "failed"))
    counts = {kind: sa.func.count().filter(_event.kind == kind) for kind in ("asked", "told", "failed", "budget")}
    sums = {
        "arms": sa.func.count(sa.distinct(_event.arm)),
        "steps": sa.func.sum(_event.stop - _event.start).filter(ended),
        "seconds": sa.func.sum(_event.seconds).filter(ended),
        "retrained": sa.func.count().filter(_event.data.contains(_RETRAINED)),
    }
    columns = (value.label(name) for name, value in (counts | sums).items())
    found = journal.select(sa.select(*columns).where(_event.study == journal.study))[0]
    return Totals(
        arms=found.arms,
        pulls=found.told,
        failures=found.failed,
        in_flight=found.asked - found.told - found.failed,
        steps=int(found.steps or 0),
        seconds=found.seconds or 0.0,
        retrained=_retrained(journal) if found.retrained else 0,
        reason=_most_frequent_reason(journal) if found.failed else None,
        changed_limits=_changed_limits(journal) if found.budget else None,
    )


def steps_before(journal: SqlJournal, arm: int, stop: int) -> int | None:
    """Steps that the study had spent when this arm reached this step, which are included; None if it never did."""
    mine = _event.study == journal.study
    reached = sa.and_(mine, _event.kind == "told", _event.arm == arm, _event.stop == stop)
    number = sa.select(sa.func.min(_event.number)).where(reached).scalar_subquery()
    ended = sa.and_(mine, _event.kind.in_(("told", "failed")), _event.number <= number)
    steps = journal.select(sa.select(sa.func.sum(_event.stop - _event.start)).where(ended))[0][0]
    return None if steps is None else int(steps)


def arm_count(journal: SqlJournal) -> int:
    """The number of arms of a study."""
    query = sa.select(sa.func.count(sa.distinct(_event.arm))).where(_event.study == journal.study)
    return int(journal.select(query)[0][0])


def best_arms(journal: SqlJournal, top: int | None = None, by_mean: bool = False) -> list[StoredArm]:
    """The arms of a study, best first.

    Args:
        journal: Journal of the study.
        top: Number of arms; None means all.
        by_mean: Whether to compare arms by the mean of their rewards instead of their best reward.
    """
    maximize = (journal.header or {})["direction"] == "maximize"
    mine = _event.study == journal.study
    worth = sa.func.avg(_event.reward) if by_mean else (sa.func.max if maximize else sa.func.min)(_event.reward)
    trained = (
        sa.select(_event.arm)
        .where(mine, _event.kind == "told")
        .group_by(_event.arm)
        .order_by((worth.desc() if maximize else worth.asc()).nulls_last(), _event.arm)
        .limit(top)
    )
    ids = dict.fromkeys(arm for (arm,) in journal.select(trained))
    if top is None or len(ids) < top:  # arms without a reward follow
        every = sa.select(_event.arm).where(mine, _event.arm.is_not(None)).distinct().order_by(_event.arm)
        ids |= dict.fromkeys(arm for (arm,) in journal.select(every))
    return arms(journal, list(ids)[:top])


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
    """The name of the checkpoint that a pull saved."""
    return json.loads(told.data).get("checkpoint") if told.data else None


def _changed_limits(journal: SqlJournal) -> dict[str, Any]:
    """The newest limits that replaced those in the header."""
    mine = sa.and_(_event.study == journal.study, _event.kind == "budget")
    newest = journal.select(sa.select(_event.data).where(mine).order_by(_event.number.desc()).limit(1))
    return json.loads(newest[0].data)  # type: ignore[no-any-return]


def _retrained(journal: SqlJournal) -> int:
    query = sa.select(_event.data).where(_event.study == journal.study, _event.data.contains(_RETRAINED))
    return sum(int(json.loads(data).get("retrained", 0)) for (data,) in journal.select(query))


def _most_frequent_reason(journal: SqlJournal) -> str:
    """The most frequent reason of failures. Reasons are grouped by the database and decoded here, because not every
    database can read every JSON text.
    """
    data = data_without_details(journal.dialect)
    query = sa.select(data, sa.func.count(), sa.func.min(_event.number)).group_by(data)
    counts: Counter[str] = Counter()
    rows = journal.select(query.where(_event.study == journal.study, _event.kind == "failed"))
    for text, count, _ in sorted(rows, key=lambda row: row[2]):
        counts[data_of(text).get("reason", "")] += count
    return counts.most_common(1)[0][0]


def data_without_details(dialect: str) -> sa.ColumnElement[Any]:
    """The data of an event without the traceback, which is long and differs more often than the reason before it."""
    find = sa.func.strpos if dialect == "postgresql" else sa.func.instr
    end = find(_event.data, _DETAILS)
    return sa.case((end > 0, sa.func.substr(_event.data, 1, end)), else_=_event.data)


def data_of(text: str | None) -> dict[str, Any]:
    """The data in the text that `data_without_details` selects."""
    whole = text if text is None or text.endswith("}") else f"{text}}}"
    return json.loads(whole or "{}")  # type: ignore[no-any-return]
