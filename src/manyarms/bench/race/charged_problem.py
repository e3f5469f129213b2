"""A test problem that charges for training: every step of every configuration costs the same for all methods."""

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

_LARGEST_REGRET = 300.0  # percent; so that a single diverged configuration does not outweigh all others
_REGRET_WITHOUT_RESULT = 100.0  # percent, before any training has succeeded: that of the median random configuration
_MOST_REPEATS = 500  # trainings in a row that train nothing new, after which the search is stopped


class SearchEnded(ManyarmsError):
    """The search must stop: its budget is spent, or it tries nothing new."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """The state of a search after a number of full trainings.

    Attributes:
        trainings: Number of full trainings.
        regret: Regret of the recommended configuration in percent: 0 is the best configuration, 100 the median random one.
        pulls: Number of trainings, full or not, so far.
        arms: Number of configurations so far.
        deciding: CPU seconds spent between trainings so far.
    """

    trainings: float
    regret: float
    pulls: int
    arms: int
    deciding: float


@dataclass(slots=True)
class _TrainedConfig:
    """A configuration and the steps it has been trained for."""

    number: int
    steps: int = 0


class ChargedProblem:
    """Trains configurations for a search, charges each step once, and measures the recommendation at given budgets.

    Training a configuration again continues where it stopped: only additional steps are charged. A training that would exceed
    a mark does not count for that mark.

    Args:
        problem: Problem that is searched.
        marks: Numbers of full trainings after which to measure the recommendation, in ascending order. The last one is the
            budget.
        seed: Random seed of the search and of the noise.
        patience: CPU seconds of deciding after which the search is stopped. Later marks are not measured.
        clock: Returns the CPU seconds used so far.

    Attributes:
        recommend: Returns the configuration that would be recommended now. By default the one with the best reward among the
            configurations with the most steps.
        budget: Budget in steps.
        spent: Steps charged so far.
        measurements: One for each mark that has been passed.
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
        self.budget, self.spent = int(marks[-1] * problem.max_steps), 0
        self.measurements: list[Measurement] = []
        self.recommend: Callable[[], Any] = self._best_of_longest
        self._marks, self._patience = list(marks), patience
        self._trained: dict[str, _TrainedConfig] = {}
        self._rows: dict[str, int] = {}
        self._best: tuple[int, float, Any] | None = None
        self._pulls = self._repeats = 0
        self._deciding = 0.0
        self._clock, self._since = clock, clock()

    def train(self, config: Any, steps: int | None = None) -> float | None:
        """Train a configuration and return its reward; None if the training diverged.

        Args:
            config: Configuration to train.
            steps: Total steps of this configuration. By default a full training.

        Raises:
            SearchEnded: The search must stop.
        """
        self._deciding += self._clock() - self._since
        try:
            return self._train(config, self.problem.max_steps if steps is None else steps)
        finally:
            self._since = self._clock()

    def _train(self, config: Any, steps: int) -> float | None:
        if self._deciding > self._patience:
            raise SearchEnded(f"deciding took more than {self._patience:g} seconds")
        config = self._table_row(config) if isinstance(self.problem.space, TableSpace) else config
        key = json.dumps(config, sort_keys=True)
        trained = self._trained.get(key, _TrainedConfig(len(self._trained)))  # a new one counts once it is paid for
        cost = max(0, steps - trained.steps)
        self._charge(cost)
        self._trained[key] = trained
        trained.steps = max(trained.steps, steps)
        reward = self.problem.reward(config, steps, noise_seed(self.seed, trained.number, steps))
        if reward is not None and (self._best is None or (steps, reward) > self._best[:2]):
            self._best = (steps, reward, config)
        return reward

    def _charge(self, cost: int) -> None:
        """Pay for steps, or end the search."""
        self._repeats = 0 if cost else self._repeats + 1
        self._measure(self.spent + cost)
        if self.spent + cost > self.budget or self._repeats > _MOST_REPEATS:
            self.finish()
            raise SearchEnded("the budget is spent" if cost else "the search tries nothing new")
        self.spent += cost
        self._pulls += 1

    def _table_row(self, config: Any) -> Any:
        """The row of a table for a configuration of the surrounding space.

        A configuration always gets the same row, and a new one gets an unused row. Otherwise a method that tries points close
        together would get the same row every time and learn nothing.
        """
        space = self.problem.space
        key = json.dumps(config, sort_keys=True)
        if key not in self._rows:
            self._rows[key] = space.snap(config, self._rows.values())
        return space.configs[self._rows[key]]

    def finish(self) -> None:
        """Measure at all remaining marks, because the search trains nothing more."""
        self._measure(math.inf)

    def _measure(self, spent: float) -> None:
        """Measure at the marks that this many steps would exceed."""
        while (done := len(self.measurements)) < len(self._marks) and spent > self._marks[done] * self.problem.max_steps:
            found = Measurement(self._marks[done], self._regret(), self._pulls, len(self._trained), self._deciding)
            self.measurements.append(found)

    def _regret(self) -> float:
        try:
            return min(regret(self.problem, self.recommend()), _LARGEST_REGRET)
        except NoResult:
            return _REGRET_WITHOUT_RESULT

    def _best_of_longest(self) -> Any:
        if self._best is None:
            raise NoResult("no training has succeeded yet")
        return self._best[2]
