"""The arms and pulls of a study in columns, updated event by event, so that a chart of a long study is drawn in a moment."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import sign_of
from ..journal import Event
from ..spaces.flattening import flattened

Floats = NDArray[np.float64]


class History:
    """Everything that charts show of a study.

    Args:
        header: The header of the study.

    Attributes:
        events: Number of events that were added.
        arms: Number of arms.
        configs: The config of each arm, as JSON.
        parents: The ids of the arms that each arm was made from.
        reasons: Number of failed pulls for each reason.
        workers: The names of the workers that ran pulls.
        in_flight: The pulls that have not ended, as (start, stop), by arm.

    >>> history = History({"direction": "maximize"})
    >>> history.add(Event("asked", 0, 0, 1, data={"config": {"x": 0.5}}))
    >>> history.add(Event("told", 0, 0, 1, 0.25, 2.0))
    >>> history.column("reward").tolist(), history.best_rewards().tolist()
    ([0.25], [0.25])
    """

    def __init__(self, header: Mapping[str, Any]) -> None:
        self.header = header
        self.sign = sign_of(header.get("direction", "maximize"))
        self.events = 0
        self.configs: list[Any] = []
        self.parents: list[tuple[int, ...]] = []
        self.reasons: Counter[str] = Counter()
        self.workers: list[str] = []
        self.in_flight: dict[int, tuple[int, int]] = {}
        self._positions: dict[int, int] = {}  # by id of an arm: its position in the lists above
        self._ids: list[int] = []
        self._columns = {name: array("d") for name in ("arm", "start", "stop", "reward", "seconds", "ended", "worker")}
        self._numbers: dict[str, int] = {}  # of workers

    @property
    def arms(self) -> int:
        return len(self._ids)

    @property
    def pulls(self) -> int:
        """Number of pulls that have ended."""
        return len(self._columns["arm"])

    def add(self, event: Event) -> None:
        """Add the next event."""
        self.events += 1
        if event.arm is None:
            return
        if event.kind == "asked":
            self._open(event)
        elif event.kind in ("told", "failed"):
            self._end(event)

    def column(self, name: str) -> Floats:
        """A value of each pull that has ended, in the order in which they ended; NaN where it is unknown.

        Args:
            name: "arm" (position of the arm), "start", "stop", "reward", "seconds", "ended" or "worker" (position of the name).
        """
        return np.array(self._columns[name])

    def id_of(self, position: int) -> int:
        """The id of the arm at this position."""
        return self._ids[position]

    def position_of(self, id: int) -> int | None:
        """The position of the arm with this id; None if there is no such arm."""
        return self._positions.get(id)

    def best_rewards(self) -> Floats:
        """The best reward of each arm; NaN if it has none."""
        best = np.full(self.arms, -math.inf)
        reward = self.column("reward")
        told = ~np.isnan(reward)
        np.maximum.at(best, self.column("arm")[told].astype(int), self.sign * reward[told])
        return np.where(np.isneginf(best), np.nan, self.sign * best)

    def steps_of_arms(self) -> Floats:
        """The number of steps that each arm was trained for."""
        steps = np.zeros(self.arms)
        told = ~np.isnan(self.column("reward"))
        np.maximum.at(steps, self.column("arm")[told].astype(int), self.column("stop")[told])
        return steps

    def ranking(self) -> NDArray[np.int64]:
        """The positions of the arms that have a reward, best first."""
        best = self.best_rewards()
        order: NDArray[np.int64] = np.argsort(-self.sign * best, kind="stable")  # NaN is last
        return order[: int(np.sum(~np.isnan(best)))]

    def parameters(self, positions: Iterable[int] | None = None) -> dict[str, list[Any]]:
        """The value of each parameter for each arm; None where an arm does not have it. Nested ones are named by path.

        Args:
            positions: The positions of the arms; all arms by default.
        """
        chosen = range(self.arms) if positions is None else [int(place) for place in positions]
        flat = {place: _flat(self.configs[place]) for place in chosen}
        names = dict.fromkeys(name for place in sorted(flat) for name in flat[place])
        return {name: [flat[place].get(name) for place in chosen] for name in names}

    def _open(self, event: Event) -> None:
        assert event.arm is not None
        if event.arm not in self._positions:
            self._positions[event.arm] = len(self._ids)
            self._ids.append(event.arm)
            self.configs.append(event.data.get("config"))
            self.parents.append(tuple(event.data.get("parents", ())))
        self.in_flight[event.arm] = event.start or 0, event.stop or 0

    def _end(self, event: Event) -> None:
        assert event.arm is not None
        if event.arm not in self._positions:
            return  # no study writes this
        self.in_flight.pop(event.arm, None)
        if event.kind == "failed":
            self.reasons[str(event.data.get("reason", ""))] += 1
        values = (
            self._positions[event.arm],
            event.start,
            event.stop,
            event.reward if event.kind == "told" else None,
            event.seconds,
            event.data.get("ended"),
            self._number(event.data.get("worker")),
        )
        for column, value in zip(self._columns.values(), values, strict=True):  # most values need no more than this check
            column.append(value if type(value) is float and value - value == 0 else _number(value))

    def _number(self, worker: Any) -> int | None:
        """The position of a worker's name."""
        if not isinstance(worker, str):
            return None
        if worker not in self._numbers:
            self._numbers[worker] = len(self.workers)
            self.workers.append(worker)
        return self._numbers[worker]


def _flat(config: Any) -> dict[str, Any]:
    return flattened(config) if isinstance(config, dict) else {"config": config}


def _number(value: Any) -> float:
    """A finite number, or NaN for anything else, which an untrusted file may contain."""
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else math.nan
