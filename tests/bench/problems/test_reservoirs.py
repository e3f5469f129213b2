"""Reservoirs: arms whose means follow a law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from manyarms.bench.problems import Reservoir

from .samples import samples


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 3), (3, 1), (0.5, 0.5)])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.2, 0.6), (-3, 5)])
def test_the_means_of_a_reservoir_follow_its_law(a, b, low, high):
    problem = Reservoir(a, b, low, high, noise=0.1)
    means = [problem.value(config) for config in samples(problem, 2000)]
    law = stats.beta(a, b, loc=low, scale=high - low)
    assert stats.kstest(means, law.cdf).pvalue > 0.001
    assert problem.best == high
    assert problem.typical == pytest.approx(law.mean())


@pytest.mark.parametrize("step", [1, 9])
def test_bernoulli_rewards_are_0_or_1_with_the_arms_mean_whatever_the_step(step):
    problem = Reservoir()
    for mean in (0.0, 0.3, 1.0):
        rewards = [problem.reward({"mean": mean}, step, seed) for seed in range(4000)]
        assert set(rewards) <= {0.0, 1.0}
        assert abs(np.mean(rewards) - mean) <= 4 * np.sqrt(mean * (1 - mean) / 4000)


@pytest.mark.parametrize("noise", [0, 0.5])
def test_gaussian_rewards_have_the_arms_mean_and_the_noise_asked_for(noise):
    problem = Reservoir(low=-10, high=10, noise=noise)
    rewards = [problem.reward({"mean": 3.0}, 1, seed) for seed in range(4000)]
    assert np.mean(rewards) == pytest.approx(3.0, abs=4 * noise / np.sqrt(4000))
    assert np.std(rewards) == pytest.approx(noise, rel=0.05)


def test_mutants_of_a_reservoir_are_near_and_within_its_law():
    problem, rng = Reservoir(1, 3, 0.2, 0.6), np.random.default_rng(0)
    for config in samples(problem, 200):
        mutant = problem.space.mutate(config, rng)
        assert 0.2 <= mutant["mean"] <= 0.6
        assert abs(mutant["mean"] - config["mean"]) < 5 * 0.1 * 0.4


def test_reservoirs_are_named_after_their_law():
    assert Reservoir(1, 3).name == "Beta(1, 3)"
    assert Reservoir(0.5, 1, 0.2, 0.6).name == "Beta(0.5, 1) on [0.2, 0.6]"
