"""Problems whose models are really trained, in this process: a training goes on where it was paused, or begins again."""

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

_CURVES = 10_000  # that are remembered


class Fit(Protocol):
    """A model in training."""

    def step(self) -> float:
        """Train it for one step more; gives the reward. Raises FloatingPointError where it diverges."""


class FittedProblem:
    """A model that is trained as rewards are asked for, the same in whatever slices and in whatever process.

    Rewards depend on the config and the step alone: the model's seed is made from the config. Models in training are kept, the
    ones used last, and go on from where they are; others begin again, which takes longer and gives the same rewards. `best` and
    `typical` were measured, with `survey`: a config may turn out a little better than the best, and has a regret below 0.

    Args:
        name: for tables and plots.
        space: makes the configs.
        max_steps: of a full training.
        start: the model of a config, untrained; its second argument is a seed.
        best, typical: the values of the best config known and of a middling one.
        kept: how many models are kept in training.
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
        self._fits: dict[str, tuple[Fit, int]] = {}  # models, and how many steps each has made; the last used comes last
        self._curves: dict[str, list[float | None]] = {}

    def reward(self, config: Config, step: int, seed: int) -> float | None:
        """The reward of the model after so many steps; None where it diverged. There is no noise."""
        key = json.dumps(config, sort_keys=True)
        curve = self._curves.get(key, [])
        if len(curve) < step:
            curve = self._trained(key, config, step, curve)
        _keep(self._curves, key, curve, _CURVES)
        return curve[step - 1]

    def value(self, config: Config) -> float:
        """The reward after a full training; 0 where it diverged."""
        reward = self.reward(config, self.max_steps, seed=0)
        return 0.0 if reward is None else reward

    def values(self, configs: Sequence[Config]) -> NDArray[np.float64]:
        """The value of each."""
        return np.array([self.value(config) for config in configs])

    def _trained(self, key: str, config: Config, step: int, curve: list[float | None]) -> list[float | None]:
        """The curve as far as this step."""
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
        """Without the models: another process makes its own."""
        return {**vars(self), "_fits": {}, "_curves": {}}


def _keep(cache: dict[str, T], key: str, value: T, most: int) -> None:
    """As the one used last; the one not used for longest is dropped where there are too many."""
    cache.pop(key, None)
    cache[key] = value
    if len(cache) > most:
        del cache[next(iter(cache))]
