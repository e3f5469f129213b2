"""Hartmann's functions: the published ones at full fidelity, and fidelities that rank well or badly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from manyarms import AdaptiveMutantUCB
from manyarms.bench.problems import Hartmann, evaluate, regret

OPTIMA = {3: [0.114614, 0.555649, 0.852547], 6: [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]}
KNOWN = {3: 3.86278, 6: 3.32237}


def samples(problem, n=400):
    rng = np.random.default_rng(50)
    return [problem.space.sample(rng) for _ in range(n)]


def ranks(problem, step, configs):
    """How well the rewards after some steps rank the configs."""
    early = [problem.reward(config, step, seed) for seed, config in enumerate(configs)]
    return stats.spearmanr(early, [problem.value(config) for config in configs])[0]


@pytest.mark.parametrize("dimensions", [3, 6])
def test_the_known_optimum_has_the_known_value_and_is_the_best(dimensions):
    problem = Hartmann(dimensions)
    optimum = problem.space.decode(OPTIMA[dimensions])
    assert problem.best == pytest.approx(KNOWN[dimensions], abs=1e-5)
    assert problem.value(optimum) == pytest.approx(problem.best, abs=1e-5)
    assert problem.reward(optimum, problem.max_steps, seed=3) == problem.value(optimum)  # the last step has no noise
    assert 0 <= regret(problem, optimum) < 0.001


@pytest.mark.parametrize("dimensions", [3, 6])
@pytest.mark.parametrize("seed", [0, 7])
def test_no_climb_from_anywhere_ends_above_the_best_and_one_ends_at_it(dimensions, seed):
    problem, rng = Hartmann(dimensions, seed=seed), np.random.default_rng(0)
    bounds = [(0, 1)] * dimensions
    climbs = [
        optimize.minimize(lambda x: -problem.value(problem.space.decode(x)), rng.random(dimensions), bounds=bounds)
        for _ in range(20)
    ]
    tops = [-climb.fun for climb in climbs]
    assert max(tops) <= problem.best
    assert max(tops) == pytest.approx(problem.best, abs=1e-6)


@pytest.mark.parametrize("dimensions", [3, 6])
def test_good_fidelities_rank_configs_well_bad_ones_worse_and_terrible_ones_not_at_all(dimensions):
    configs = samples(Hartmann(dimensions))
    first = {bias: ranks(Hartmann(dimensions, bias, noise=0), 1, configs) for bias in ("good", "bad", "terrible")}
    assert first["good"] > 0.95 > 0.7 > first["bad"] > 0.4 > 0.2 > first["terrible"]
    assert all(ranks(Hartmann(dimensions, bias), 10, configs) == pytest.approx(1) for bias in first)


def test_the_bias_is_taken_from_every_hill_in_proportion_to_the_training_that_is_missing():
    problem = Hartmann(3, bias=0.8, max_steps=4, noise=0)
    config = samples(problem, 1)[0]
    rewards = [problem.reward(config, step, seed=0) for step in (1, 2, 3, 4)]
    assert np.diff(rewards) == pytest.approx(np.diff(rewards)[0])
    assert rewards[-1] == problem.value(config) > rewards[0]
    assert Hartmann(3, bias=0, noise=0).reward(config, 1, seed=0) == problem.value(config)


def test_noise_shrinks_until_the_last_step():
    quiet, loud = Hartmann(3, noise=0), Hartmann(3, noise=0.5)
    config = samples(quiet, 1)[0]
    for step, expected in [(1, 0.45), (5, 0.25), (10, 0.0)]:
        errors = [loud.reward(config, step, seed) - quiet.reward(config, step, seed) for seed in range(1000)]
        assert np.std(errors) == pytest.approx(expected, rel=0.1)


def test_the_seed_turns_the_landscape_and_keeps_its_heights():
    plain, one, same, other = (Hartmann(6, seed=seed) for seed in (0, 1, 1, 2))
    configs = samples(plain, 20)
    values = [[problem.value(config) for config in configs] for problem in (plain, one, same, other)]
    assert values[1] == values[2]
    assert values[0] != values[1] != values[3] != values[0]
    assert plain.best == one.best and plain.typical == pytest.approx(one.typical, abs=0.02)


def test_problems_are_named_after_dimensions_and_bias():
    assert Hartmann(3, "bad").name == "Hartmann 3, bad"
    assert Hartmann(6, 0.25).name == "Hartmann 6, bias 0.25"


def test_a_search_climbs_it():
    problem = Hartmann(3, seed=1)
    search = AdaptiveMutantUCB(problem.space, budget=400, max_steps=10, seed=0)
    while (pull := search.ask()) is not None:
        search.tell(pull, evaluate(problem, pull, seed=0))
    assert regret(problem, search.best().config) < 15


MISTAKES = {
    "dimensions must be 3 or 6, got 4": {"dimensions": 4},
    "bias must be one of 'good', 'bad', 'terrible', got 'odd'": {"bias": "odd"},
    "bias must be finite, got nan": {"bias": float("nan")},
    "noise must be at least 0, got -1": {"noise": -1},
    "max_steps must be at least 1, got 0": {"max_steps": 0},
    "seed must be at least 0, got -3": {"seed": -3},
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_wrong_argument_is_refused_with_its_name_the_rule_and_the_value(words):
    with pytest.raises(ValueError) as error:
        Hartmann(**MISTAKES[words])
    assert words in str(error.value)
