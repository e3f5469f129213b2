"""Repeated measurements are told from learning curves, whichever arms were trained on."""

import numpy as np
import pytest

from manyarms import AdaptiveMutantUCB, Float, Space
from manyarms.strategies.surrogate.repeats import Repeats

SPACE = Space(x=Float(0, 1))


def told(curves, rungs=10):
    repeats = Repeats(rungs)
    for rewards in curves:
        for rung in range(1, len(rewards)):
            repeats.learn(rung, rewards[rung], rewards[rung - 1], float(np.mean(rewards[:rung])))
    return repeats


def searched(reward, max_steps, budget=600, seed=0):
    """What a search that trains the promising arms on, and so sees the lucky ones fall back, takes rewards for."""
    search = AdaptiveMutantUCB(SPACE, budget=budget, max_steps=max_steps, seed=seed)
    while (pull := search.ask()) is not None:
        noise = np.random.default_rng([seed, pull.arm.id, pull.stop]).normal()
        search.tell(pull, reward(pull.config["x"], pull.stop, noise))
    return search


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.1, 0.3, 1.0])
def test_draws_about_one_value_are_seen_in_a_search_that_prefers_the_lucky(noise, seed):
    assert searched(lambda x, step, draw: x + noise * draw, 10, seed=seed).uses_mean(0)


@pytest.mark.parametrize("noise", [0.0, 0.003, 0.03])
def test_a_curve_that_turns_is_a_curve(noise):
    def loss(x, step):
        return 0.1 + 0.05 * abs(x - 0.3) + (0.5 * (4 - step) / 4 if step < 4 else 0.8 * (step - 4) / 16)

    assert not searched(lambda x, step, draw: noise * draw - loss(x, step), 20, 400).uses_mean(0)


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.05])
def test_a_curve_that_rises_is_a_curve(noise):
    assert not searched(lambda x, step, draw: x * (1 - 0.7**step) + noise * draw, 10, 400).uses_mean(0)


def test_curves_that_all_arms_share_are_curves_though_the_rest_is_noise():
    rng = np.random.default_rng(0)
    shared = np.array([0.0, 1.0, 0.5, 0.2, 0.1])
    assert not told([(shared + rng.normal() + 0.05 * rng.normal(size=5)).tolist() for _ in range(20)]).decide()


def test_curves_that_go_their_own_ways_are_curves():
    rng = np.random.default_rng(0)
    assert not told([np.cumsum(rng.normal(size=6)).tolist() for _ in range(20)]).decide()


def test_from_few_rewards_nothing_is_concluded():
    assert not told([[0.1, 0.9, 0.3], [0.5, 0.2, 0.4]]).decide()


def test_equal_rewards_are_no_draws():
    assert not told([[0.5] * 5] * 10).decide()
