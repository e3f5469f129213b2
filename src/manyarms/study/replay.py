"""The state of a study (its strategy and its counts), and how it is rebuilt by replaying the journal."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, cast

import numpy as np

from ..core import Pull, sign_of
from ..errors import StorageError, StudyMismatch
from ..journal import Event, Journal
from ..journal.events import asked_event
from ..spaces import to_json
from ..strategies import Strategy, extended, fresh_copy
from ..strategies.kit.scaling import Bounded
from .counts import Counts


class StudyState:
    """The strategy and the counts of a study, updated by the events of its journal.

    Args:
        strategy: A new strategy with the arguments that the study began with.
        direction: "maximize" or "minimize" the rewards in the journal.
        bounds: The lowest and highest possible reward, if they are known.
        timed: Whether the budget that the study began with is a time. The strategy then learns how long pulls take.
    """

    def __init__(self, strategy: Strategy, direction: str, bounds: tuple[float, float] | None, timed: bool = False) -> None:
        self._timed = timed
        self.begin(strategy)
        self._sign = sign_of(direction)
        self._bounded = None if bounds is None else _bounded(*bounds, self._sign)
        self.counts = Counts(direction)

    @classmethod
    def of(cls, strategy: Strategy, header: Mapping[str, Any]) -> StudyState:
        """The state of a study without events, from its header."""
        return cls(strategy, header["direction"], header["bounds"], "seconds" in (header.get("limits") or {}))

    def begin(self, strategy: Strategy) -> None:
        """Use this strategy, which must be new."""
        self.strategy = strategy
        self.extended = extended(strategy)

    def ask(self, context: int | None = None) -> tuple[Pull, Event] | None:
        """The strategy's next pull, with its event for the journal; None if there is none."""
        pull = self.strategy.ask() if context is None else cast(Any, self.strategy).ask(context=context)
        if pull is None:
            return None
        is_new = pull.arm.id not in self.counts.arms
        space = self.extended.ledger.space if self.extended is not None else None
        event = asked_event(pull, to_json(space, pull.config) if is_new else None, is_new)
        if context is not None:
            event = replace(event, data={**event.data, "context": int(context)})
        self.counts.count(event, pull.arm)
        return pull, event

    def learn(self, event: Event) -> None:
        """Count the end of a pull, and tell the strategy its reward."""
        assert event.arm is not None
        if event.reward is not None and not math.isfinite(event.reward):
            raise StorageError(f"event {self.counts.events} of the journal is corrupt: the reward is {event.reward}")
        pull = self.counts.in_flight[event.arm].pull
        self.counts.count(event)
        if self._timed and hasattr(self.strategy, "learn_seconds"):
            self.strategy.learn_seconds(pull, event.seconds or 0.0)
        self.strategy.tell(pull, None if event.reward is None else self._turned(event.reward))

    def _turned(self, reward: float) -> float:
        """The reward for the strategy: larger is better and, with bounds, between 0 and 1."""
        reward *= self._sign
        return reward if self._bounded is None else self._bounded.scale(reward)

    def change_budget(self, event: Event) -> None:
        """Change the budget."""
        self.counts.count(event)
        if self.extended is not None:
            self.extended.ledger.budget = event.data["budget"]

    def replay(self, journal: Journal, use_snapshot: bool = True, until: int | None = None) -> None:
        """Rebuild the state from the newest snapshot, if there is one, and the events after it.

        Args:
            journal: The journal of the study.
            use_snapshot: Whether to start from the snapshot.
            until: Number of events to replay; None means all.
        """
        snapshot = journal.snapshot() if use_snapshot and self.extended is not None else None
        if snapshot is not None and (until is None or snapshot[0] <= until):
            self._load_or_begin_again(snapshot[1])
        since = self.counts.events
        for event in islice(journal.events(since), None if until is None else until - since):
            if event.kind == "asked":
                self._ask_again(event, self.counts.events)
            elif event.kind == "budget":
                self.change_budget(event)
            else:
                self.learn(event)

    def _load_or_begin_again(self, text: str) -> None:
        """Load a snapshot. If it cannot be read, the entire journal is replayed instead."""
        assert self.extended is not None
        try:
            self.load(text)
        except (LookupError, TypeError, ValueError, AttributeError):
            self.begin(fresh_copy(self.extended))
            self.counts.clear()

    def _ask_again(self, event: Event, number: int) -> None:
        answer = self.ask(event.data.get("context"))
        if answer is None or answer[1].decision != event.decision:
            now = "nothing" if answer is None else describe(answer[1])
            raise StudyMismatch(
                f"event {number} of the journal asks for {describe(event)}, but the strategy now asks for {now}: "
                "the study was created with a different space, strategy or version of the library"
            )

    def state(self) -> str:
        """The complete state as JSON text, with arrays in base64."""
        assert self.extended is not None
        return json.dumps({"counts": self.counts.state(), "strategy": self.extended.state()}, default=_write_array)

    def load(self, text: str) -> None:
        """Restore what `state` returned."""
        state = json.loads(text, object_hook=_read_array)
        assert self.extended is not None
        self.extended.load(state["strategy"])
        self.counts.load(state["counts"], self.extended.ledger.arms)


def describe(event: Event) -> str:
    """A description of an asked pull."""
    config = f" with {event.data['config']!r:.200}" if "config" in event.data else ""
    return f"arm {event.arm} from {event.start} to {event.stop}{config}"


def _bounded(low: float, high: float, sign: float) -> Bounded:
    return Bounded(low, high) if sign > 0 else Bounded(-high, -low)


def _write_array(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"__array__": value.dtype.str, "data": base64.b64encode(value.tobytes()).decode()}
    raise TypeError(f"a strategy's state must consist of JSON values and arrays, got {type(value).__name__}")


def _read_array(value: dict[str, Any]) -> Any:
    if "__array__" in value:
        return np.frombuffer(base64.b64decode(value["data"]), dtype=value["__array__"])
    return value
