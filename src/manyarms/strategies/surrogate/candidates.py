"""Candidates for a new arm, and a Gaussian process that predicts how good each of them is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spaces.batches import Known, batch_maker
from ..kit.beliefs import Predictions
from ..kit.ledger import Ledger
from . import rules
from .arm_scores import ArmScores
from .gaussian_process import GaussianProcess, ScoredArms, best_and_newest

Array = NDArray[Any]
Option = tuple[Any, tuple[int, ...]]
"""The config of a possible new arm, and its parents."""

_CANDIDATES = 64  # candidates for each new arm
_RANDOM_SHARE = 0.5  # share of random configs among the candidates for a new arm without a parent
_CROSSED_SHARE = 0.25  # share of crossings among the other candidates, where the space has crossover
_TOURNAMENT = 4  # arms drawn to choose a mate, which is the best of them
_MUTATION_SIZES = np.array([0.03, 0.1, 0.2, 0.4])  # one is drawn for each mutant
_REMEMBERED_ARMS = 1024  # number of newest arms to search for the nearest one, to see whether it failed


@dataclass(frozen=True, slots=True)
class Candidates:
    """The points of configs that could be new arms, and a function that makes the i-th of them."""

    points: Array
    option: Callable[[int], Option]


class CandidateGenerator:
    """Keeps the points of all arms, and makes candidates for new arms near good ones.

    Args:
        space: Search space. It must have `encode`.

    Attributes:
        process: The Gaussian process over the points of the arms.
    """

    def __init__(self, space: Any) -> None:
        self.process = GaussianProcess(space.dimension)
        self._encode, self._batches, self._crosses = space.encode, batch_maker(space), hasattr(space, "crossover")

    def add(self, config: Any) -> None:
        """Add the config of the next arm."""
        self.process.add(self._encode(config))

    def most_promising(
        self, ledger: Ledger, all_arms: ArmScores, parent: int | None, known: ScoredArms, deviations: float
    ) -> Iterator[Option]:
        """Candidates for a new arm, in the order in which to try them.

        Args:
            ledger: The arms of the search, and the random generator.
            all_arms: The counts and times of all arms.
            parent: Number of the arm to mutate. With None, the best arm is mutated, and half of the candidates are random
                configs.
            known: The arms to predict from, without failed ones, which are added.
            deviations: Standard deviations that are added to each prediction.
        """
        near = int(known.arms[known.scores.argmax()]) if parent is None else parent
        candidates = self.candidates(ledger, near, parent is None, known.arms, known.scores)
        arms, scores = rules.add_failed_arms(known.arms, known.scores, ledger.failed, all_arms.lowest())
        slices = np.maximum(all_arms.counts.slices.all[arms], 1)
        known = replace(known, arms=arms, scores=scores)
        bounds = self.process.upper_confidence_bounds(candidates.points, known, slices, deviations)
        if all_arms.seconds:
            bounds = bounds - all_arms.seconds.predicted_penalties(candidates.points, self.process.points)
        near_failed = self.near_failed(candidates.points, ledger.failed) if ledger.failed else None
        return map(candidates.option, rules.candidate_order(bounds, near_failed))

    def predictions(self, known: ArmScores) -> Predictions | None:
        """What is predicted for each of the arms that predictions are based on, from the other ones; None before that."""
        arms = known.trained()
        if len(arms) < 2 or not known.spread:
            return None
        scores = known.predict(arms)
        chosen = best_and_newest(scores)
        arms, scores, counts = arms[chosen], scores[chosen], known.counts
        slices = counts.slices.all[arms]
        found = self.process.predict_each_from_the_others(ScoredArms(arms, scores, known.median, known.spread), slices)
        complete = np.array([known.is_complete(arm) for arm in arms])
        return Predictions(arms, *found, counts.bests.all[arms], complete)

    def candidates(self, ledger: Ledger, parent: int, with_random: bool, arms: Array, scores: Array) -> Candidates:
        """Mutants of the parent with several sizes, and crossings of it with good arms.

        Args:
            ledger: The arms of the search, and the random generator.
            parent: Number of the arm to mutate and cross.
            with_random: Make half of the candidates random configs.
            arms, scores: Numbers of the arms that may be mates, and their scores.
        """
        rng = ledger.rng
        n_random = int(_RANDOM_SHARE * _CANDIDATES) if with_random else 0
        n_crossed = rng.binomial(_CANDIDATES - n_random, _CROSSED_SHARE) if self._crosses else 0
        mates = [mate for mate in _good_arms(arms, scores, n_crossed, rng) if mate != parent]
        sizes = _MUTATION_SIZES[rng.integers(len(_MUTATION_SIZES), size=_CANDIDATES - n_random - len(mates))]
        known = self._known(ledger, parent)
        batches = [
            self._batches.sample(n_random, rng),
            self._batches.mutate(known, sizes, rng),
            self._batches.cross(known, [self._known(ledger, mate) for mate in mates], rng),
        ]

        def option(i: int) -> Option:
            (_, sampled), (mutants, mutated), (_, crossed) = batches
            if i < n_random:
                return sampled(i), ()
            i -= n_random
            if i < len(mutants):
                return mutated(i), (parent,)
            i -= len(mutants)
            return crossed(i), (parent, mates[i])

        return Candidates(np.concatenate([points for points, _ in batches]), option)

    def near_failed(self, points: Array, failed: set[int]) -> Array:
        """Whether the arm nearest to each point failed. Only the newest arms are compared.

        The Gaussian process cannot tell, because it uses few arms and drops those that failed long ago.
        """
        first = max(0, self.process.count - _REMEMBERED_ARMS)
        arms = self.process.points[first : self.process.count]
        nearest = (np.einsum("ij,ij->i", arms, arms) - 2.0 * points @ arms.T).argmin(axis=1)
        return np.isin(nearest + first, list(failed))

    def _known(self, ledger: Ledger, arm: int) -> Known:
        return ledger.arms[arm].config, self.process.points[arm]


def _good_arms(arms: Array, scores: Array, count: int, rng: np.random.Generator) -> list[int]:
    """The requested number of arms, each the winner of a tournament. An arm may win several."""
    drawn = rng.integers(len(arms), size=(count, _TOURNAMENT))
    best: list[int] = arms[drawn[np.arange(count), scores[drawn].argmax(axis=1)]].tolist()
    return best
