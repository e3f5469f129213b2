"""Measures what many workers cost in regret: the same total number of steps, on more and more simulated workers."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

import manyarms as ma
from manyarms.bench.problems import Problem, regret
from manyarms.bench.problems.protocol import noise_seed
from manyarms.bench.race.families import FAMILIES
from manyarms.errors import NoResult

LARGEST = 300.0  # percent; as in races, so that one bad recommendation does not outweigh all others


@dataclass(frozen=True, slots=True)
class Loss:
    """Regret in percent (0 is the best configuration, 100 the median random one), averaged over problems.

    Attributes:
        regret: Mean regret.
        lost: Mean regret minus that of one worker with the same seeds.
        error: Standard error of `lost`, over seeds.
    """

    regret: float
    lost: float
    error: float


def chosen_problems(names: Iterable[str], each: int) -> dict[str, list[Problem]]:
    """The first problems of these families that are for reporting; those without data are left out."""
    found = {}
    for name in names:
        family = FAMILIES[name]
        if family.trouble() is None:
            found[name] = [family.problems()[number] for number in family.numbers("reported")[:each]]
    return found


def final_regret(problem: Problem, workers: int, trainings: int, seed: int) -> float:
    """The regret of the recommendation of the default strategy, after a budget of full trainings."""
    rng = random.Random(seed)
    runner = ma.SimulatedRunner(workers, seconds=lambda pull: pull.steps * rng.lognormvariate(0.0, 0.5))
    budget = trainings * problem.max_steps
    strategy = ma.AdaptiveMutantUCB(problem.space, budget=budget, max_steps=problem.max_steps, seed=seed)

    def train(pull: ma.RunningPull) -> float:
        reward = problem.reward(pull.config, pull.stop, noise_seed(seed, pull.arm.id, pull.stop))
        return math.nan if reward is None else reward  # recorded as a failure

    with ma.Study(strategy) as study:
        study.optimize(train, runner=runner, progress=False)
        try:
            return min(regret(problem, study.best_config), LARGEST)
        except NoResult:
            return 100.0


def all_regrets(problems: Sequence[Problem], workers: Sequence[int], trainings: int, seeds: int) -> np.ndarray:
    """The regret of each seed, on each problem, with each number of workers."""
    return np.array(
        [[[final_regret(problem, n, trainings, seed) for n in workers] for problem in problems] for seed in range(seeds)]
    )


def losses(regrets: np.ndarray) -> list[Loss]:
    """The mean regret over problems for each number of workers. The first number is what the others are compared with."""
    by_seed = regrets.mean(axis=1)
    lost, seeds = by_seed - by_seed[:, :1], len(by_seed)
    errors = lost.std(axis=0, ddof=1) / math.sqrt(seeds) if seeds > 1 else np.full(lost.shape[1], math.nan)
    return [Loss(*map(float, found)) for found in zip(by_seed.mean(axis=0), lost.mean(axis=0), errors, strict=True)]
