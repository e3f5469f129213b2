"""Checks a stored study against everything a journal promises."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, cast

from .checkpoints import SEAL, is_sound
from .errors import ManyarmsError
from .header import restored_strategy
from .journal import Event, Journal
from .knowledge import Knowledge
from .tally import Tally


def audit(journal: Journal) -> Iterator[str]:
    """What is wrong with a study, in words; nothing if all is well."""
    try:
        yield from _audit(_Beginning(journal), journal.header)
    except Exception as error:  # damage can make any part unreadable, and that is a finding too
        yield f"the study cannot be read: {_said(error)}"


class _Beginning:
    """A journal as it is now: what its writer adds while the audit goes on is left out."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._snapshot = journal.snapshot()
        self._length = len(journal)  # read after the snapshot, which cannot cover more

    def __len__(self) -> int:
        return self._length

    def snapshot(self) -> tuple[int, str] | None:
        return self._snapshot

    def events(self, since: int = 0) -> Iterator[Event]:
        return islice(self._journal.events(since), max(0, self._length - since))


def _audit(journal: _Beginning, header: Mapping[str, Any] | None) -> Iterator[str]:
    if header is None:
        yield "the study has no header"
        return
    tally = Tally()
    wrong = list(audit_events(journal.events(), header, tally))
    if not wrong and tally.events < len(journal):
        wrong.append(f"{len(journal)} events are numbered, but {len(journal) - tally.events} of them are missing")
    yield from wrong
    if not wrong:
        yield from _audit_replay(cast(Journal, journal), header)
    yield from _audit_checkpoints(tally, Path(header["checkpoints"]) if header.get("checkpoints") else None)


def audit_events(events: Iterable[Event], header: Mapping[str, Any], tally: Tally) -> Iterator[str]:
    """Whether pulls were asked for once, told once, in order and within the budget. Counts the events into `tally`."""
    settings = header["settings"] or {}
    budget, max_steps = settings.get("budget"), settings.get("max_steps")
    following, number = iter(events), 0
    while True:
        try:
            event = next(following)
            if (wrong := _wrong_with(event, tally, max_steps)) is None:
                tally.count(event)
        except StopIteration:
            return
        except Exception as error:
            wrong = f"cannot be read: {_said(error)}"
        if wrong is not None:
            yield f"event {number}: {wrong}"
            return  # what follows cannot be counted
        if event.kind == "budget":
            budget = event.data["budget"]
        steps = tally.steps + sum(flight.pull.steps for flight in tally.in_flight.values())
        if event.kind == "asked" and budget is not None and steps > budget:
            yield f"event {number}: {steps} steps asked for, over the budget of {budget}"
            budget = None  # said once
        number += 1


def _wrong_with(event: Event, tally: Tally, max_steps: int | None) -> str | None:
    """Why this event cannot follow those counted so far."""
    if event.kind == "budget":
        budget = event.data.get("budget", "none")
        return None if budget is None or isinstance(budget, int) else f"the budget is changed to {budget!r}"
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
    snapshot = journal.snapshot()
    try:
        whole = _replayed(journal, header)
    except Exception as error:
        yield _said(error)
        return
    if whole is None or snapshot is None:
        return
    try:
        short = _replayed(journal, header, snapshot[1])
    except Exception as error:
        yield f"the snapshot cannot be gone on from: {_said(error)}"
        return
    if short is not None and whole.state() != short.state():
        yield "the snapshot does not lead to the state that the whole journal does"


def _replayed(journal: Journal, header: Mapping[str, Any], snapshot: str | None = None) -> Knowledge | None:
    """What the journal's writer knew; None if the space or strategy is the user's own, which only the user's script has."""
    strategy = restored_strategy(header)
    if strategy is None:
        return None
    knowledge = Knowledge(strategy, header["direction"], header["bounds"])
    if snapshot is not None:
        knowledge.load(snapshot)
    knowledge.replay(journal, use_snapshot=False)
    return knowledge


def _audit_checkpoints(tally: Tally, directory: Path | None) -> Iterator[str]:
    """Whether the checkpoints that are there are whole. One that is not there is no fault: it is trained again."""
    for id, record in tally.arms.items():
        path = directory / record.checkpoint if directory is not None and record.checkpoint is not None else None
        if path is None or not (path / SEAL).exists() or is_sound(path):
            continue
        if (path / SEAL).exists():  # else it was dropped by a running study while it was looked at
            yield f"the checkpoint of arm {id} is damaged: {path}"


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, ManyarmsError) else f"{type(error).__name__}: {error}"
