"""The track of a race: a problem whose training has a price, the same for everybody."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import ManyarmsError, NoResult
from ..problems import Problem, TableSpace, regret
from ..problems.protocol import noise_seed

_WORST = 300.0  # percent: no run counts for more, lest one diverged config outweighs all others
_NOTHING_KNOWN = 100.0  # percent: a recommendation before anything has succeeded is as good as a middling config
_IN_VAIN = 500  # trainings in a row that train nothing: the search is going in circles


class Finished(ManyarmsError):
    """The budget is spent, or nothing new is tried any more: the search ends here."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Where a search stood after so many full trainings."""

    trainings: float
    regret: float
    """Of the recommended config, in percent: 0 is the best there is, 100 a middling random one."""
    pulls: int
    arms: int
    deciding: float
    """CPU seconds spent between pulls, since the start."""


@dataclass(slots=True)
class _Lane:
    """A config on its way."""

    number: int
    steps: int = 0


class Track:
    """Trains configs for a search, charges it for every step once, and reads its recommendation along the way.

    A config that is trained again goes on where it stopped: only the steps beyond are charged, whoever asks. A pull that would
    end beyond a mark does not count for that mark.

    Args:
        problem: what is searched.
        marks: when to read, in full trainings, in ascending order; the last is the budget.
        seed: of the search, and of the noise.
        patience: CPU seconds of deciding after which the search is stopped; the marks beyond are not read.
        clock: Gives the CPU seconds used so far.

    Attributes:
        recommend: gives the config that would be recommended now. By default the best reward among the configs trained longest.
    """

    def __init__(
        self,
        problem: Problem,
        marks: Sequence[float],
        seed: int,
        patience: float = math.inf,
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self.problem, self.seed = problem, seed
        self.budget = int(marks[-1] * problem.max_steps)
        """In steps."""
        self.readings: list[Reading] = []
        self.recommend: Callable[[], Any] = self._longest
        self._marks, self._patience = list(marks), patience
        self._lanes: dict[str, _Lane] = {}
        self._rows: dict[str, int] = {}
        self._best: tuple[int, float, Any] | None = None
        self.spent = 0
        """In steps, so far."""
        self._pulls = self._in_vain = 0
        self._deciding = 0.0
        self._clock, self._since = clock, clock()

    def train(self, config: Any, steps: int | None = None) -> float | None:
        """The reward of a config after so many steps in all, by default a full training; None where it diverged.

        Raises:
            Finished: the search must end.
        """
        self._deciding += self._clock() - self._since
        try:
            return self._train(config, self.problem.max_steps if steps is None else steps)
        finally:
            self._since = self._clock()

    def _train(self, config: Any, steps: int) -> float | None:
        if self._deciding > self._patience:
            raise Finished(f"deciding took more than {self._patience:g} seconds")
        config = self._row(config) if isinstance(self.problem.space, TableSpace) else config
        key = json.dumps(config, sort_keys=True)
        lane = self._lanes.get(key, _Lane(len(self._lanes)))  # a newcomer counts once it is paid for
        cost = max(0, steps - lane.steps)
        self._in_vain = 0 if cost else self._in_vain + 1
        self._read(self.spent + cost)
        if self.spent + cost > self.budget or self._in_vain > _IN_VAIN:
            self.finish()
            raise Finished("the budget is spent" if cost else "nothing new is tried any more")
        self.spent += cost
        self._pulls += 1
        self._lanes[key] = lane
        lane.steps = max(lane.steps, steps)
        reward = self.problem.reward(config, steps, noise_seed(self.seed, lane.number, steps))
        if reward is not None and (self._best is None or (steps, reward) > self._best[:2]):
            self._best = (steps, reward, config)
        return reward

    def _row(self, config: Any) -> Any:
        """The row of a table for a config of the space around it: always the same, and for a new config a new row.

        Else a peer that asks for points close together would be given the same row again and again, and learn nothing.
        """
        space = self.problem.space
        key = json.dumps(config, sort_keys=True)
        if key not in self._rows:
            self._rows[key] = space.snap(config, self._rows.values())
        return space.configs[self._rows[key]]

    def finish(self) -> None:
        """Read the marks that are left: whatever they allow, the search asks for nothing more."""
        self._read(math.inf)

    def _read(self, spent: float) -> None:
        """Read the marks that this much would pass."""
        while len(self.readings) < len(self._marks) and spent > self._marks[len(self.readings)] * self.problem.max_steps:
            mark = self._marks[len(self.readings)]
            self.readings.append(Reading(mark, self._regret(), self._pulls, len(self._lanes), self._deciding))

    def _regret(self) -> float:
        try:
            return min(regret(self.problem, self.recommend()), _WORST)
        except NoResult:
            return _NOTHING_KNOWN

    def _longest(self) -> Any:
        if self._best is None:
            raise NoResult("no training has succeeded yet")
        return self._best[2]
