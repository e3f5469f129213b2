"""Problems whose models are trained in this process, when a reward is requested."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ... import checks

Config = Mapping[str, Any]
T = TypeVar("T")

_MOST_CURVES = 10_000  # kept in memory


class Fit(Protocol):
    """A model in training."""

    def step(self) -> float:
        """Train for one more step and return the reward. Raises FloatingPointError if the training diverges."""


class FittedProblem:
    """A model that is trained when its rewards are requested.

    Rewards depend only on the config and the step, because the seed of a model is derived from its config. Recently used models
    are kept and continue from where they are. Others start again, which takes longer and gives the same rewards. `best` and
    `typical` are measured with `survey`. A config may be better than `best`; then its regret is negative.

    Args:
        name: Name in tables and plots.
        space: Space of the configs.
        max_steps: Steps of a full training.
        start: Returns the untrained model of a config. Its second argument is a seed.
        best: Value of the best known config.
        typical: Value of the median random config.
        kept: Number of models to keep in memory.
    """

    def __init__(
        self,
        name: str,
        space: Any,
        max_steps: int,
        start: Callable[[Config, int], Fit],
        best: float,
        typical: float,
        kept: int = 64,
    ) -> None:
        self.name, self.space, self.best, self.typical = name, space, best, typical
        self.max_steps, self.kept = checks.whole("max_steps", max_steps, 1), checks.whole("kept", kept, 0)
        self._start = start
        self._forget()

    def _forget(self) -> None:
        self._fits: dict[str, tuple[Fit, int]] = {}  # models and their steps; the most recently used one is last
        self._curves: dict[str, list[float | None]] = {}

    def reward(self, config: Config, step: int, seed: int) -> float | None:
        """The reward of the model after this many steps; None if it diverged. There is no noise."""
        key = json.dumps(config, sort_keys=True)
        curve = self._curves.get(key, [])
        if len(curve) < step:
            curve = self._trained(key, config, step, curve)
        _keep(self._curves, key, curve, _MOST_CURVES)
        return curve[step - 1]

    def value(self, config: Config) -> float:
        """The reward after a full training; 0 if it diverged."""
        reward = self.reward(config, self.max_steps, seed=0)
        return 0.0 if reward is None else reward

    def values(self, configs: Sequence[Config]) -> NDArray[np.float64]:
        """The value of each config."""
        return np.array([self.value(config) for config in configs])

    def _trained(self, key: str, config: Config, step: int, curve: list[float | None]) -> list[float | None]:
        """The curve up to this step."""
        known = key in self._fits
        fit, made = self._fits.pop(key) if known else (self._start(config, zlib.crc32(key.encode())), 0)
        try:
            while made < step:
                reward = fit.step()
                made += 1
                curve = curve if made <= len(curve) else [*curve, reward]
        except FloatingPointError:
            return curve + [None] * (self.max_steps - len(curve))
        _keep(self._fits, key, (fit, made), self.kept)
        return curve

    def __getstate__(self) -> dict[str, Any]:
        """The state without the models, which another process trains itself."""
        return {**vars(self), "_fits": {}, "_curves": {}}


def _keep(cache: dict[str, T], key: str, value: T, most: int) -> None:
    """Store a value as the most recently used one, and drop the least recently used one if there are too many."""
    cache.pop(key, None)
    cache[key] = value
    if len(cache) > most:
        del cache[next(iter(cache))]
