"""Checks that a stored study is consistent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, cast

from ..checkpoints import is_name
from ..checkpoints.location import directories, exists, find_checkpoint, is_intact
from ..checkpoints.remote import Location
from ..errors import ManyarmsError
from ..journal import Event, Journal
from ..journal.header import stored_header
from .counts import Counts
from .header import restored_strategy
from .recommendation import Recommendation, recommend, stored_recommendation
from .replay import StudyState

Watch = Callable[[str, int, int], None]
"""Called with the name of a stage, how much of it is done, and its size."""


def audit(journal: Journal, replay: bool = True, watch: Watch = lambda stage, done, total: None) -> Iterator[str]:
    """Descriptions of the problems of a study; empty if it is sound.

    Args:
        journal: The journal of the study.
        replay: Whether to make all decisions again and compare them. This takes as long as the original decisions did.
        watch: Called about a thousand times, to show progress.
    """
    try:
        yield from _audit(_Beginning(journal, watch), stored_header(journal), replay, watch)
    except Exception as error:  # corrupt data can make any part unreadable
        yield f"the study cannot be read: {_said(error)}"


class _Beginning:
    """A journal as it is now. Events that are added during the check are ignored."""

    def __init__(self, journal: Journal, watch: Watch) -> None:
        self._journal = journal
        self.name, self.place = journal.name, getattr(journal, "place", None)
        self._snapshot = journal.snapshot()
        self._recommendation = journal.recommendation()
        self._length = len(journal)  # read after the snapshots, which cannot cover more
        self._watch = watch
        self.stage = "reading events"

    def __len__(self) -> int:
        return self._length

    def snapshot(self) -> tuple[int, str] | None:
        return self._snapshot

    def recommendation(self) -> tuple[int, str] | None:
        return self._recommendation

    def events(self, since: int = 0) -> Iterator[Event]:
        every = max(1, self._length // 1000)
        for number, event in enumerate(islice(self._journal.events(since), max(0, self._length - since)), since):
            if number % every == 0:
                self._watch(self.stage, number, self._length)
            yield event


def _audit(journal: _Beginning, header: Mapping[str, Any] | None, replay: bool, watch: Watch) -> Iterator[str]:
    if header is None:
        yield "the study has no header"
        return
    counts = Counts(header["direction"])
    wrong = list(audit_events(journal.events(), header, counts))
    if not wrong and counts.events < len(journal):
        wrong.append(f"{len(journal)} events are numbered, but {len(journal) - counts.events} of them are missing")
    yield from wrong
    if replay and not wrong:
        yield from _audit_replay(journal, header)
    yield from _audit_checkpoints(counts, directories(cast(Journal, journal), header), watch)


def audit_events(events: Iterable[Event], header: Mapping[str, Any], counts: Counts) -> Iterator[str]:
    """Problems with the events: each pull must be asked for once and end once, in order and within the budget.

    The events are counted into `counts`.
    """
    settings = header["settings"] or {}
    budget, max_steps = settings.get("budget"), settings.get("max_steps")
    following, number = iter(events), 0
    while True:
        try:
            event = next(following)
            if (wrong := _wrong_with(event, counts, max_steps)) is None:
                counts.count(event)
        except StopIteration:
            return
        except Exception as error:
            wrong = f"cannot be read: {_said(error)}"
        if wrong is not None:
            yield f"event {number}: {wrong}"
            return  # the events after it cannot be counted
        if event.kind == "budget":
            budget = event.data["budget"]
        steps = counts.steps + sum(flight.pull.steps for flight in counts.in_flight.values())
        if event.kind == "asked" and budget is not None and steps > budget:
            yield f"event {number}: {steps} steps asked for, over the budget of {budget}"
            budget = None  # reported once
        number += 1


def _wrong_with(event: Event, counts: Counts, max_steps: int | None) -> str | None:
    """Why this event cannot follow the events counted so far; None if it can."""
    if event.kind == "budget":
        budget = event.data.get("budget", "none")
        return None if budget is None or isinstance(budget, int) else f"the budget is changed to {budget!r}"
    if event.kind not in ("asked", "told", "failed"):
        return f"unknown kind {event.kind!r}"
    if event.arm is None or event.start is None or event.stop is None or not 0 <= event.start < event.stop:
        return f"{event.kind} does not name a pull: arm {event.arm} from {event.start} to {event.stop}"
    record, flight = counts.arms.get(event.arm), counts.in_flight.get(event.arm)
    if event.kind != "asked":
        if flight is None or (flight.pull.start, flight.pull.stop) != (event.start, event.stop):
            return f"arm {event.arm} from {event.start} to {event.stop} is {event.kind}, but was not in flight"
        if event.kind == "told" and (event.reward is None or not math.isfinite(event.reward)):
            return f"arm {event.arm} has the reward {event.reward}"
        if (name := event.data.get("checkpoint")) is not None and not is_name(name):
            return f"arm {event.arm} names {name!r:.100} as its checkpoint, which no study writes"
        return None
    if flight is not None:
        return f"arm {event.arm} is asked for while it is in flight"
    if record is None and "config" not in event.data:
        return f"arm {event.arm} is new, but has no config"
    if record is None and any(parent not in counts.arms for parent in event.data.get("parents", ())):
        return f"arm {event.arm} has parents that were never created: {event.data['parents']}"
    if event.start != (record.steps if record is not None else 0):
        return f"arm {event.arm} is asked for from {event.start}, but was trained to {record.steps if record else 0}"
    if max_steps is not None and event.stop > max_steps:
        return f"arm {event.arm} is asked for up to {event.stop}, over max_steps={max_steps}"
    return None


def _audit_replay(journal: _Beginning, header: Mapping[str, Any]) -> Iterator[str]:
    """Whether the rebuilt strategy makes the same decisions as in the journal, and the snapshots match a full replay."""
    snapshot, recommendation = journal.snapshot(), journal.recommendation()
    try:
        journal.stage = "replaying decisions"
        whole = _replayed(journal, header)
    except Exception as error:
        yield _said(error)
        return
    if whole is None:
        return
    best = recommend(whole.strategy, whole.counts) if whole.counts.pulls else None
    stored = stored_recommendation(recommendation[1]) if recommendation is not None else None
    if recommendation is not None and recommendation[0] == len(journal) and stored is not None and stored != best:
        yield f"{_said_of(stored)} is stored as the recommendation, but the strategy recommends {_said_of(best)}"
    if snapshot is None:
        return
    try:
        journal.stage = "replaying from the snapshot"
        short = _replayed(journal, header, snapshot[1])
    except Exception as error:
        yield f"the study cannot be resumed from the snapshot: {_said(error)}"
        return
    if short is not None and whole.state() != short.state():
        yield "the snapshot does not lead to the same state as the whole journal"


def _said_of(recommendation: Recommendation | None) -> str:
    if recommendation is None:
        return "no arm"
    return f"arm {recommendation.arm} at step {recommendation.step} with reward {recommendation.reward:.6g}"


def _replayed(journal: _Beginning, header: Mapping[str, Any], snapshot: str | None = None) -> StudyState | None:
    """The state after replaying the journal; None if the space or the strategy exists only in the user's script."""
    strategy = restored_strategy(header)
    if strategy is None:
        return None
    state = StudyState.of(strategy, header)
    if snapshot is not None:
        state.load(snapshot)
    state.replay(cast(Journal, journal), use_snapshot=False)
    return state


def _audit_checkpoints(counts: Counts, places: Sequence[Location], watch: Watch) -> Iterator[str]:
    """Whether the existing checkpoints are sound. A missing one is not a problem, because it can be trained again."""
    for number, (id, record) in enumerate(counts.arms.items()):
        watch("reading checkpoints", number, len(counts.arms))
        for name in dict.fromkeys((record.checkpoint, record.best_checkpoint)):
            place = find_checkpoint(places, name) if name is not None else None
            if place is None or not exists(place) or is_intact(place):
                continue
            if exists(place):  # otherwise a running study deleted it in the meantime
                yield f"the checkpoint of arm {id} is corrupt: {place}"


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, ManyarmsError) else f"{type(error).__name__}: {error}"
