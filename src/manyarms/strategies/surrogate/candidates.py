"""Where newcomers are chosen: many candidates, and a forecast of what each is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spaces.batches import Known, breeder
from ..kit.ledger import Ledger
from .gaussian_process import Forecast

Array = NDArray[Any]
Option = tuple[Any, tuple[int, ...]]
"""A config that could be a new arm's, and its parents."""

_CANDIDATES = 64
_RANDOM = 0.5  # of the candidates for a fresh arm
_CROSSED = 0.25  # of the others, where the space crosses
_REMEMBERED = 1024  # arms, when it comes to failures
_SIZES = np.array([0.03, 0.1, 0.2, 0.4])  # of mutations


@dataclass(frozen=True, slots=True)
class Candidates:
    """The points of configs that could be new arms, and how to make the i-th of them."""

    points: Array
    option: Callable[[int], Option]


class Nursery:
    """The points of all arms, what is foretold from them, and candidates near good ones.

    Args:
        space: one that encodes.
    """

    def __init__(self, space: Any) -> None:
        self.forecast = Forecast(space.dimension)
        self._encode, self._breeder, self._crosses = space.encode, breeder(space), hasattr(space, "crossover")

    def add(self, config: Any) -> None:
        """The next arm, in the order of arms."""
        self.forecast.add(self._encode(config))

    def candidates(self, ledger: Ledger, parent: int, fresh: bool, arms: Array, scores: Array) -> Candidates:
        """Mutants of the parent at several sizes, and its crossings with good arms; for a fresh arm, half of them random."""
        rng = ledger.rng
        n_random = int(_RANDOM * _CANDIDATES) if fresh else 0
        n_crossed = rng.binomial(_CANDIDATES - n_random, _CROSSED) if self._crosses else 0
        mates = [mate for mate in _good(arms, scores, n_crossed, rng) if mate != parent]
        sizes = _SIZES[rng.integers(len(_SIZES), size=_CANDIDATES - n_random - len(mates))]
        known = self._known(ledger, parent)
        broods = [
            self._breeder.sample(n_random, rng),
            self._breeder.mutate(known, sizes, rng),
            self._breeder.cross(known, [self._known(ledger, mate) for mate in mates], rng),
        ]

        def option(i: int) -> Option:
            (_, sampled), (mutants, mutated), (_, crossed) = broods
            if i < n_random:
                return sampled(i), ()
            i -= n_random
            if i < len(mutants):
                return mutated(i), (parent,)
            i -= len(mutants)
            return crossed(i), (parent, mates[i])

        return Candidates(np.concatenate([points for points, _ in broods]), option)

    def doomed(self, points: Array, failed: set[int]) -> Array:
        """Whether the arm nearest to each point failed, of the newest arms: the forecast looks at few, and forgets them."""
        first = max(0, self.forecast.count - _REMEMBERED)
        arms = self.forecast.points[first : self.forecast.count]
        nearest = (np.einsum("ij,ij->i", arms, arms) - 2.0 * points @ arms.T).argmin(axis=1)
        return np.isin(nearest + first, list(failed))

    def _known(self, ledger: Ledger, arm: int) -> Known:
        return ledger.arms[arm].config, self.forecast.points[arm]


def _good(arms: Array, scores: Array, count: int, rng: np.random.Generator) -> list[int]:
    """So many arms, each the best of four."""
    drawn = rng.integers(len(arms), size=(count, 4))
    best: list[int] = arms[drawn[np.arange(count), scores[drawn].argmax(axis=1)]].tolist()
    return best
