"""Counts the events of a journal. The result is the same whether they are counted as they happen or read back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from ..checkpoints.names import is_name, is_unsaved, unsaved_name
from ..core import Arm, Pull, sign_of
from ..journal import Event

Part = TypeVar("Part", int, str)


@lru_cache(maxsize=4096)
def _shared(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """One tuple shared by all arms that stopped at the same steps or have the same metrics, to save memory."""
    return parts


@dataclass(slots=True)
class ArmRecord:
    """The counts of one arm.

    Attributes:
        arm: The arm.
        stops: The steps at which its successful pulls ended.
        reward: The reward of its last successful pull, as the function returned it.
        failed: Whether its last pull failed.
        checkpoint: The name of its newest checkpoint; None if it saves nothing.
        born_at: Number of steps that its parent had been trained when this arm was created.
        inherited: Whether its first pull used its parent's saved state.
        seconds: Time that its pulls took, including failed ones.
        checkpoint_bytes: Size of its newest checkpoint; None if that is not known.
        metric_names, metric_values: The metrics of its last successful pull.
        total: The sum of its rewards.
        best_reward: The best of its rewards.
        best_step: The step of the best reward; the last one if several are equal.
        best_checkpoint: The name of the checkpoint at that step; None if it saved nothing.
    """

    arm: Arm
    stops: tuple[int, ...] = ()
    reward: float | None = None
    failed: bool = False
    checkpoint: str | None = None
    born_at: int = 0
    inherited: bool = False
    seconds: float = 0.0
    checkpoint_bytes: int | None = None
    metric_names: tuple[str, ...] = ()
    metric_values: tuple[float, ...] = ()
    total: float = 0.0
    best_reward: float | None = None
    best_step: int = 0
    best_checkpoint: str | None = None

    @property
    def metrics(self) -> dict[str, float]:
        """The metrics of its last successful pull, by name."""
        return dict(zip(self.metric_names, self.metric_values, strict=True))

    @property
    def steps(self) -> int:
        """Number of steps that the arm was trained."""
        return self.stops[-1] if self.stops else 0

    @property
    def mean_reward(self) -> float | None:
        """The mean of its rewards."""
        return self.total / len(self.stops) if self.stops else None

    def best_state(self, by_mean: bool) -> tuple[str | None, int]:
        """The checkpoint with the arm's best state, and its step; the newest one if nothing was saved at the best step.

        Args:
            by_mean: The rewards are repeated measurements of one value, so that the newest state is the best one.
        """
        if by_mean or self.best_checkpoint is None:
            return self.checkpoint, self.steps
        return self.best_checkpoint, self.best_step


@dataclass(frozen=True, slots=True)
class InFlight:
    """A pull that was asked for and has not ended, the checkpoints it may load, and the best one of its arm so far."""

    pull: Pull
    previous: str | None
    parent: str | None
    best: str | None


class Counts:
    """The counts of a study, updated event by event.

    Args:
        direction: "maximize" or "minimize".

    Attributes:
        events: Number of events.
        steps: Steps spent by pulls that ended, including failed ones.
        seconds: Time spent by those pulls.
        cost: Cost of those pulls.
        retrained: Steps that were trained again because a checkpoint was lost.
        pulls: Number of successful pulls.
        reasons: How often pulls failed for each reason.
        arms: The record of each arm, by id.
        in_flight: The pulls in flight, by arm, in the order in which they were asked for.
        budget: The newest limits, if they were changed after the study was created: "budget" in steps, "seconds" and "cost".
            Otherwise None, and the header of the study has the limits.
    """

    def __init__(self, direction: str) -> None:
        self._sign = sign_of(direction)
        self.events = 0
        self.steps = 0
        self.seconds = 0.0
        self.cost = 0.0
        self.retrained = 0
        self.pulls = 0
        self.reasons: Counter[str] = Counter()
        self.arms: dict[int, ArmRecord] = {}
        self.in_flight: dict[int, InFlight] = {}
        self.budget: dict[str, Any] | None = None

    @property
    def failures(self) -> int:
        """Number of failed pulls."""
        return self.reasons.total()

    def __repr__(self) -> str:
        arms, running = len(self.arms), len(self.in_flight)
        totals = f"pulls={self.pulls}, failures={self.failures}, steps={self.steps}, seconds={self.seconds:.6g}"
        return f"Counts(arms={arms}, {totals}, in_flight={running})"

    def count(self, event: Event, arm: Arm | None = None) -> None:
        """Count one event. If `arm` is given, it is used as the arm of an asked pull instead of a new one."""
        self.events += 1
        if event.kind == "asked":
            self._asked(event, arm)
        elif event.kind in ("told", "failed"):
            self._ended(event)
        elif event.kind == "budget":
            self.budget = dict(event.data)

    def _asked(self, event: Event, arm: Arm | None) -> None:
        assert event.arm is not None and event.start is not None and event.stop is not None
        record = self.arms.get(event.arm)
        parent = None
        if record is None:
            arm = arm or Arm(event.arm, event.data["config"], tuple(event.data.get("parents", ())))
            record = self.arms[event.arm] = ArmRecord(arm)
        if event.start == 0 and record.arm.parents:
            source = self.arms[record.arm.parents[0]]
            record.born_at, parent = source.steps, source.checkpoint
        pull = Pull(record.arm, event.start, event.stop)
        self.in_flight[event.arm] = InFlight(pull, record.checkpoint, parent, record.best_checkpoint)

    def _ended(self, event: Event) -> None:
        assert event.arm is not None and event.start is not None and event.stop is not None
        del self.in_flight[event.arm]
        record, data = self.arms[event.arm], event.data
        self.steps += event.stop - event.start
        self.seconds += event.seconds or 0.0
        self.cost += data.get("cost", 0.0)
        self.retrained += data.get("retrained", 0)
        record.seconds += event.seconds or 0.0
        record.failed = event.kind == "failed"
        if record.failed:
            self.reasons[data.get("reason", "")] += 1
            return
        self.pulls += 1
        stops = (*record.stops, event.stop)
        record.stops = _shared(stops)
        record.reward = event.reward
        record.inherited = record.inherited or data.get("inherited", False)
        record.checkpoint = name = data.get("checkpoint")
        if "unsaved" in data or (name is not None and not is_name(name)):
            record.checkpoint = unsaved_name(event.arm, event.stop)  # no such file: the state is trained again if it is needed
        record.checkpoint_bytes = data.get("checkpoint_bytes")
        metrics = data.get("metrics", {})
        record.metric_names, record.metric_values = _shared(tuple(metrics)), tuple(metrics.values())
        self._compare(record, event.reward)

    def _compare(self, record: ArmRecord, reward: float | None) -> None:
        """Update the best reward of the arm."""
        if reward is None:  # no study writes such an event
            return
        record.total += reward
        if record.best_reward is None or self._sign * reward >= self._sign * record.best_reward:
            record.best_reward, record.best_step, record.best_checkpoint = reward, record.steps, record.checkpoint

    def needed(self) -> set[str]:
        """The checkpoints that may be loaded again: the newest and best one of each arm, and those that pulls in flight use."""
        names = {name for record in self.arms.values() for name in (record.checkpoint, record.best_checkpoint)}
        for flight in self.in_flight.values():
            names |= {flight.previous, flight.parent}
        return {name for name in names if name is not None}

    def clear(self) -> None:
        """Reset all counts."""
        self.load(Counts("maximize").state(), [])  # the direction is not part of it

    def state(self) -> dict[str, Any]:
        """The counts as JSON, without the configs of the arms, which the strategy has."""
        return {
            "totals": [self.events, self.steps, self.seconds, self.cost, self.retrained, self.pulls],
            "reasons": dict(self.reasons),
            "budget": self.budget,
            "arms": [[id, *_row(record)] for id, record in self.arms.items()],
            "in_flight": [[id, f.pull.start, f.pull.stop, f.previous, f.parent, f.best] for id, f in self.in_flight.items()],
        }

    def load(self, state: dict[str, Any], arms: list[Arm]) -> None:
        """Restore what `state` returned."""
        self.events, self.steps, self.seconds, self.cost, self.retrained, self.pulls = state["totals"]
        self.reasons = Counter(state["reasons"])
        self.budget = state["budget"]
        self.arms = {}
        for id, *row in state["arms"]:
            self.arms[id] = _record(arms[id], row)
        self.in_flight = {
            id: InFlight(Pull(arms[id], start, stop), *map(_check_name, names))
            for id, start, stop, *names in state["in_flight"]
        }


def _row(record: ArmRecord) -> list[Any]:
    """An arm's record as JSON, without the arm."""
    counts = [record.reward, record.failed, record.checkpoint, record.born_at, record.inherited]
    more = [record.seconds, record.checkpoint_bytes, list(record.metric_names), list(record.metric_values)]
    best = [record.total, record.best_reward, record.best_step, record.best_checkpoint]
    return [list(record.stops), *counts, *more, *best]


def _record(arm: Arm, row: list[Any]) -> ArmRecord:
    """The record that `_row` wrote. An older, shorter row raises a `ValueError`, so that the journal is replayed instead."""
    stops, reward, failed, checkpoint, born_at, inherited, seconds, size, names, values, *best = row
    total, best_reward, best_step, best_checkpoint = best
    return ArmRecord(
        arm,
        _shared(tuple(stops)),
        reward,
        failed,
        _check_name(checkpoint),
        born_at,
        inherited,
        seconds,
        size,
        _shared(tuple(names)),
        tuple(values),
        total,
        best_reward,
        best_step,
        _check_name(best_checkpoint),
    )


def _check_name(name: str | None) -> str | None:
    """Raise an error if the name is not one that a study gives to a checkpoint."""
    if name is not None and not is_name(name) and not is_unsaved(name):
        raise ValueError(f"{name!r:.100} is not the name of a checkpoint")
    return name
