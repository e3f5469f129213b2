"""What all problems have in common."""

from __future__ import annotations

import numpy as np
import pytest

from manyarms import Arm, Pull
from manyarms.bench.problems import CurveWorld, Hartmann, Reservoir, TableProblem, evaluate, regret
from manyarms.testing import SPACE_CHECKS

from .samples import KINDS, samples, table

PROBLEMS = {
    "bernoulli": lambda: Reservoir(1, 3),
    "gaussian": lambda: Reservoir(2, 1, low=-3, high=5, noise=0.4),
    **{kind: lambda kind=kind: CurveWorld(kind, dimensions=3, seed=4) for kind in KINDS},
    "hartmann": lambda: Hartmann(3, noise=0.3, seed=2),
    "table": table,
}


@pytest.fixture(params=PROBLEMS.values(), ids=PROBLEMS)
def problem(request):
    return request.param()


@pytest.mark.parametrize("check", SPACE_CHECKS, ids=lambda check: check.__name__)
def test_its_space_keeps_the_contract_of_spaces(problem, check):
    check(problem.space)


def test_no_config_has_a_larger_value_than_the_best_and_the_median_one_is_typical(problem):
    values = np.array([problem.value(config) for config in samples(problem, 4000)])
    assert values.max() <= problem.best
    assert problem.typical < problem.best
    spread = values.max() - values.min()
    middle = values.mean() if isinstance(problem, Reservoir) else np.median(values)
    assert abs(middle - problem.typical) < 0.03 * spread


def test_the_same_seed_gives_the_same_reward_and_another_one_another(problem):
    config = samples(problem, 1)[0]
    rewards = [problem.reward(config, 1, seed) for seed in range(40)]
    assert rewards == [problem.reward(config, 1, seed) for seed in range(40)]
    assert (len(set(rewards)) == 1) == isinstance(problem, TableProblem)


def test_the_reward_of_a_pull_depends_on_seed_arm_and_step_alone(problem):
    config = samples(problem, 1)[0]
    one, again, another = (Pull(Arm(number, config, ()), 0, 1) for number in (3, 3, 4))
    assert evaluate(problem, one, seed=0) == evaluate(problem, again, seed=0)
    draws = [[evaluate(problem, pull, seed) for seed in range(40)] for pull in (one, another, Pull(one.arm, 1, 2))]
    assert isinstance(problem, TableProblem) or draws[0] != draws[1] != draws[2] != draws[0]


def test_the_order_of_a_configs_parameters_makes_no_difference(problem):
    for config in samples(problem, 20):
        turned = dict(reversed(config.items()))
        assert problem.value(turned) == problem.value(config)
        assert problem.reward(turned, 1, seed=0) == problem.reward(config, 1, seed=0)


def test_regret_counts_in_percent_from_the_best_to_the_median_config(problem):
    configs = sorted(samples(problem, 500), key=problem.value)
    regrets = [regret(problem, config) for config in configs]
    assert regrets == sorted(regrets, reverse=True)
    assert min(regrets) >= 0
    for config, value in zip(configs, regrets, strict=True):
        assert problem.value(config) == pytest.approx(problem.best - value / 100 * (problem.best - problem.typical))
