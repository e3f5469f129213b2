"""Checks a stored study against everything a journal promises."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .checkpoints import SEAL, is_sound
from .errors import StudyMismatch
from .header import restored_strategy
from .journal import Event, Journal
from .knowledge import Knowledge
from .tally import Tally


def audit(journal: Journal) -> Iterator[str]:
    """What is wrong with a study, in words; nothing if all is well."""
    header = journal.header
    if header is None:
        yield "the study has no header"
        return
    tally = Tally()
    wrong = list(audit_events(journal.events(), header, tally))
    yield from wrong
    if not wrong:
        yield from _audit_replay(journal, header)
    yield from _audit_checkpoints(tally, Path(header["checkpoints"]) if header.get("checkpoints") else None)


def audit_events(events: Iterable[Event], header: Mapping[str, Any], tally: Tally) -> Iterator[str]:
    """Whether pulls were asked for once, told once, in order and within the budget. Counts the events into `tally`."""
    settings = header["settings"] or {}
    budget, max_steps = settings.get("budget"), settings.get("max_steps")
    for number, event in enumerate(events):
        wrong = _wrong_with(event, tally, max_steps)
        if wrong is not None:
            yield f"event {number}: {wrong}"
            return  # what follows cannot be counted
        tally.count(event)
        if event.kind == "budget":
            budget = event.data["budget"]
        steps = tally.steps + sum(flight.pull.steps for flight in tally.in_flight.values())
        if event.kind == "asked" and budget is not None and steps > budget:
            yield f"event {number}: {steps} steps asked for, over the budget of {budget}"


def _wrong_with(event: Event, tally: Tally, max_steps: int | None) -> str | None:
    """Why this event cannot follow those counted so far."""
    if event.kind == "budget":
        return None
    if event.kind not in ("asked", "told", "failed"):
        return f"unknown kind {event.kind!r}"
    if event.arm is None or event.start is None or event.stop is None or not 0 <= event.start < event.stop:
        return f"{event.kind} names no pull: arm {event.arm} from {event.start} to {event.stop}"
    record, flight = tally.arms.get(event.arm), tally.in_flight.get(event.arm)
    if event.kind != "asked":
        if flight is None or (flight.pull.start, flight.pull.stop) != (event.start, event.stop):
            return f"arm {event.arm} from {event.start} to {event.stop} is {event.kind}, but was not in flight"
        if event.kind == "told" and (event.reward is None or not math.isfinite(event.reward)):
            return f"arm {event.arm} is told the reward {event.reward}"
        return None
    if flight is not None:
        return f"arm {event.arm} is asked for while it is in flight"
    if record is None and "config" not in event.data:
        return f"arm {event.arm} is new, but has no config"
    if record is None and any(parent not in tally.arms for parent in event.data.get("parents", ())):
        return f"arm {event.arm} has parents that were never made: {event.data['parents']}"
    if event.start != (record.steps if record is not None else 0):
        return f"arm {event.arm} is asked for from {event.start}, but was trained to {record.steps if record else 0}"
    if max_steps is not None and event.stop > max_steps:
        return f"arm {event.arm} is asked for up to {event.stop}, over max_steps={max_steps}"
    return None


def _audit_replay(journal: Journal, header: Mapping[str, Any]) -> Iterator[str]:
    """Whether the strategy, made again, decides what the journal says, and the snapshot holds what replay gives."""
    strategy, twin = restored_strategy(header), restored_strategy(header)
    if strategy is None:
        return  # a space or strategy of the user's own: it can only be replayed by the user's script
    whole = Knowledge(strategy, header["direction"], header["bounds"])
    short = Knowledge(twin, header["direction"], header["bounds"])
    try:
        whole.replay(journal, use_snapshot=False)
    except StudyMismatch as error:
        yield str(error)
        return
    try:
        short.replay(journal)
    except (StudyMismatch, KeyError, ValueError) as error:
        yield f"the snapshot cannot be gone on from: {error}"
        return
    if whole.state() != short.state():
        yield "the snapshot does not lead to the state that the whole journal does"


def _audit_checkpoints(tally: Tally, directory: Path | None) -> Iterator[str]:
    """Whether the checkpoints that are there are whole. One that is not there is no fault: it is trained again."""
    for id, record in tally.arms.items():
        path = directory / record.checkpoint if directory is not None and record.checkpoint is not None else None
        if path is not None and (path / SEAL).exists() and not is_sound(path):
            yield f"the checkpoint of arm {id} is damaged: {path}"
