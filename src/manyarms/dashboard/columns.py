"""The arms of a study as columns, which take little memory. Long values of configs stay in the storage."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..journal import Event
from ..spaces.flattening import flattened
from . import json_values

STATUSES = ("running", "failed", "done", "paused")
"""The statuses of arms, in the order of their codes."""

_MOST_NAMES = 300  # columns for config values, and for metrics
_MOST_VALUES = 60  # values of one config that are kept
_MOST_WORDS = 10_000
_MOST_REASONS = 1_000  # groups of failures
_OTHER = "(other reasons)"
_KINDS = {"asked": 0, "told": 1, "failed": 2, "budget": 3}


@dataclass(slots=True)
class Reason:
    """Failures with the same reason: how many, and the numbers of the first and last event."""

    count: int
    first: int
    last: int


class ArmColumns:
    """The arms of a study, one row for each arm in the order in which they were created, updated event by event.

    Args:
        sign: 1 if larger rewards are better, otherwise -1.
        max_steps: The most steps of an arm; None if there is no limit.

    Attributes:
        row_of: The row of each arm, by id.
        parents: The parents of each arm.
        configs: The first values of each config, by the names of their columns. Long text is cut off.
        config_names, metric_names: Names of the values in configs, and of metrics, as they are shown.
        reasons: The failures, by reason.
        events: Number of events.
    """

    def __init__(self, sign: float, max_steps: int | None) -> None:
        self._sign, self._max_steps = sign, max_steps
        self.row_of: dict[int, int] = {}
        self.parents: list[tuple[int, ...]] = []
        self.configs: list[dict[str, Any]] = []
        self.config_names: dict[str, None] = {}
        self.reasons: dict[str, Reason] = {}
        self._whole = {name: array("q") for name in ("arm", "asked", "told", "steps", "pulls", "failures", "best_step")}
        self._real = {name: array("d") for name in ("reward", "best_reward", "seconds", "checkpoint_bytes")}
        self._running, self._failed = array("b"), array("b")
        self._metrics: dict[str, array[float]] = {}
        self._names: dict[str, str] = {}  # of values of configs, as they are stored and as they are shown
        self._words: dict[str, str] = {}
        self._event_arms, self._event_kinds = array("q"), array("b")

    def __len__(self) -> int:
        return len(self.parents)

    @property
    def events(self) -> int:
        """Number of events."""
        return len(self._event_arms)

    @property
    def metric_names(self) -> list[str]:
        """The names of metrics."""
        return list(self._metrics)

    def add(self, event: Event) -> None:
        """Add the next event. Events that no study writes are ignored."""
        number, arm = self.events, -1 if event.arm is None else event.arm
        self._event_arms.append(arm)
        self._event_kinds.append(_KINDS.get(event.kind, -1))
        if event.arm is None or event.kind not in ("asked", "told", "failed"):
            return
        row = self.row_of.get(event.arm)
        if row is None:
            row = self._new(event.arm, event.data, number)
        if event.kind == "asked":
            self._running[row] = 1
        else:
            self._end(row, event, number)

    def numbers(self, name: str) -> NDArray[Any]:
        """A column of numbers: one of the fixed columns, or `metric:` and the name of a metric. NaN means none."""
        if name.startswith("metric:"):
            return self._metric(name.removeprefix("metric:"))
        if name in self._real:
            return np.array(self._real[name])
        column = np.array(self._whole[name])
        if name == "best_step":
            return np.where(np.isnan(np.array(self._real["best_reward"])), np.nan, column)
        return column

    def value(self, name: str, row: int) -> float | int | None:
        """One value of a fixed column or a metric; None if there is none."""
        if name.startswith("metric:"):
            values = self._metrics.get(name.removeprefix("metric:"), array("d"))
            return json_values.number(values[row]) if row < len(values) else None
        if name == "best_step" and math.isnan(self._real["best_reward"][row]):
            return None
        return json_values.number(self._real[name][row] if name in self._real else self._whole[name][row])

    def statuses(self) -> NDArray[np.int8]:
        """The status of each arm, as a position in `STATUSES`."""
        done = np.array(self._whole["steps"]) >= (np.inf if self._max_steps is None else self._max_steps)
        codes = np.select([np.array(self._running) == 1, np.array(self._failed) == 1, done], [0, 1, 2], 3)
        return codes.astype(np.int8)

    def status(self, row: int) -> str:
        """The status of one arm."""
        if self._running[row]:
            return "running"
        if self._failed[row]:
            return "failed"
        return "done" if self._max_steps is not None and self._whole["steps"][row] >= self._max_steps else "paused"

    def events_of(self, arm: int) -> list[int]:
        """The numbers of the events of an arm."""
        return [int(number) for number in np.flatnonzero(np.array(self._event_arms) == arm)]

    def children_of(self, arm: int) -> list[int]:
        """The ids of the arms that were made from an arm."""
        return [self._whole["arm"][row] for row, parents in enumerate(self.parents) if arm in parents]

    def _new(self, arm: int, data: Mapping[str, Any], number: int) -> int:
        row = self.row_of[arm] = len(self.parents)
        parents = data.get("parents", ())
        self.parents.append(tuple(id for id in parents if isinstance(id, int)) if isinstance(parents, list) else ())
        for column in self._whole.values():
            column.append(0)
        for values in self._real.values():
            values.append(math.nan)
        self._running.append(0)
        self._failed.append(0)
        self._whole["arm"][row], self._whole["asked"][row], self._whole["told"][row] = arm, number, -1
        self._real["seconds"][row] = 0.0
        self.configs.append(self._shortened(data.get("config")))
        if len(self.config_names) < _MOST_NAMES and not self.configs[-1].keys() <= self.config_names.keys():
            self.config_names |= dict.fromkeys(self.configs[-1])
        return row

    def _shortened(self, config: Any) -> dict[str, Any]:
        """The first values of a config. Names and text that many configs contain are kept once."""
        shown, names = {}, self._names
        for name, value in islice(_flat(config).items(), _MOST_VALUES):
            if type(value) is not float or value - value != 0:  # not finite; most values need no more than this check
                value = self._shared(json_values.cell(value))
            shown[names.get(name) or self._named(name)] = value
        return shown

    def _named(self, name: str) -> str:
        shown = json_values.name(name)
        if len(self._names) < _MOST_WORDS:
            self._names[name] = shown
        return shown

    def _shared(self, value: Any) -> Any:
        if not isinstance(value, str) or len(self._words) >= _MOST_WORDS:
            return value
        return self._words.setdefault(value, value)

    def _end(self, row: int, event: Event, number: int) -> None:
        self._running[row] = 0
        self._real["seconds"][row] += json_values.number(event.seconds) or 0.0
        self._failed[row] = event.kind == "failed"
        if self._failed[row]:
            self._whole["failures"][row] += 1
            self._fail(str(event.data.get("reason", "")), number)
            return
        self._whole["pulls"][row] += 1
        self._whole["told"][row] = number
        self._whole["steps"][row] = event.stop or 0
        size = json_values.number(event.data.get("checkpoint_bytes"))
        self._real["checkpoint_bytes"][row] = math.nan if size is None else size
        if "metrics" in event.data:
            self._measure(row, event.data["metrics"])
        self._compare(row, json_values.number(event.reward))

    def _compare(self, row: int, reward: float | None) -> None:
        self._real["reward"][row] = math.nan if reward is None else reward
        if reward is None:
            return
        best = self._real["best_reward"]
        if math.isnan(best[row]) or self._sign * reward >= self._sign * best[row]:
            best[row], self._whole["best_step"][row] = reward, self._whole["steps"][row]

    def _measure(self, row: int, metrics: Any) -> None:
        for name, value in metrics.items() if isinstance(metrics, dict) else ():
            shown = self._names.get(name) or self._named(name)
            if shown not in self._metrics and len(self._metrics) >= _MOST_NAMES:
                continue
            values = self._metrics.setdefault(shown, array("d"))
            values.extend([math.nan] * (row + 1 - len(values)))
            found = json_values.number(value)
            values[row] = math.nan if found is None else found

    def _metric(self, name: str) -> NDArray[Any]:
        values = np.full(len(self), np.nan)
        known = np.array(self._metrics.get(name, array("d")))
        values[: len(known)] = known
        return values

    def _fail(self, reason: str, number: int) -> None:
        shown = json_values.reason(reason)
        if shown not in self.reasons and len(self.reasons) >= _MOST_REASONS:
            shown = _OTHER
        found = self.reasons.setdefault(shown, Reason(0, number, number))
        found.count += 1
        found.last = number


def named_values(config: Any) -> dict[str, Any]:
    """The values of a config by the names of their columns. A config that is not a dict has one column, named "config"."""
    return {json_values.name(name): value for name, value in _flat(config).items()}


def _flat(config: Any) -> dict[str, Any]:
    if not isinstance(config, dict):
        return {} if config is None else {"config": config}
    return flattened(config) if dict in map(type, config.values()) else config
