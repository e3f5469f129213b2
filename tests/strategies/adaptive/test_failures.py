"""Failed pulls, diverged runs and odd rewards spoil neither AdaptiveMutantUCB's search nor its recommendation."""

import math
import sys
from itertools import islice

import numpy as np
import pytest

from manyarms import AdaptiveMutantUCB
from manyarms.testing import play

from .searches import SPACE, WIDE, distance, finish, loss, pulls_of, whole


def test_new_arms_avoid_a_region_where_all_arms_fail():
    search = AdaptiveMutantUCB(SPACE, max_steps=5, seed=0)
    reward = lambda pull: None if pull.config["x"] > 0.5 else loss(pull) - pull.config["x"]  # noqa: E731
    pulls = [pull for pull, _ in islice(play(search, reward), 400)]
    failed = [pull.config["x"] > 0.5 for pull in pulls if not pull.start]
    assert np.mean(failed[:24]) > 0.3 and np.mean(failed[24:]) < 0.06


@pytest.mark.parametrize("diverged", [-1e3, -1e9, -1e12, -1e300])
@pytest.mark.parametrize("workers", [1, 8])
def test_a_diverged_first_arm_is_as_bad_as_it_was_and_no_other_looks_better_for_it(diverged, workers):
    reward = lambda pull: diverged if pull.arm.id == 0 else loss(pull)  # noqa: E731
    search = AdaptiveMutantUCB(WIDE, budget=600, max_steps=10, seed=0)
    finish(search, reward, workers)
    scores = np.array([search.priority(arm) for arm in range(len(search.ledger.arms))])
    values = -np.array([1.1 * (0.2 + distance(arm.config)) for arm in search.ledger.arms])
    assert scores[0] == scores[:24].min() and search.ledger.steps[0] == 1
    assert np.abs(scores - values)[1:].max() < 2 and np.corrcoef(scores[1:], values[1:])[0, 1] > 0.8
    assert search._scores.spread < 1
    assert distance(search.best().config) < 0.05


@pytest.mark.parametrize("diverged", [-1e3, -1e9, -1e12, -1e300])
def test_how_far_a_run_diverged_does_not_matter(diverged):
    def reward(pull):
        return diverged if pull.arm.id in (0, 5, 17) or (pull.arm.id % 4 == 3 and pull.stop > 3) else loss(pull)

    def failing(pull):
        return -1e6 if reward(pull) == diverged else loss(pull)

    one, two = (AdaptiveMutantUCB(WIDE, budget=400, max_steps=10, seed=1) for _ in range(2))
    assert pulls_of(one, reward) == pulls_of(two, failing)


@pytest.mark.parametrize("workers", [1, 8])
@pytest.mark.parametrize("share", [0.25, 0.5])
def test_runs_that_diverge_on_the_way_spoil_neither_the_search_nor_the_recommendation(share, workers):
    def reward(pull):
        unlucky = np.random.default_rng(pull.arm.id).random() < share
        return -1e9 if pull.arm.id == 0 or (unlucky and pull.stop > 3) else loss(pull)

    distances = []
    for seed in range(6):
        search = AdaptiveMutantUCB(WIDE, budget=1_000, max_steps=10, seed=seed)
        rewards = finish(search, reward, workers)
        done = [arm for arm in whole(search) if rewards[arm][-1] > -1e9]
        assert max(rewards[search.best().id]) == max(max(told) for told in rewards.values())
        assert len(done) > 15 and search._scores.spread < 1
        distances.append(distance(search.best().config))
    assert np.mean(distances) < 0.08  # of random arms, three in a thousand


def test_a_great_reward_on_the_way_is_recommended_for_it():
    search = AdaptiveMutantUCB(SPACE, budget=400, max_steps=5, seed=0)
    finish(search, lambda pull: 1e9 if (pull.arm.id, pull.stop) == (3, 1) else loss(pull))
    assert search.best().id == 3


@pytest.mark.parametrize("huge", [1e200, -1e200])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_rewards_whose_squares_are_no_numbers_are_rewards(huge, step):
    search = AdaptiveMutantUCB(SPACE, budget=300, max_steps=5, seed=0)
    finish(search, lambda pull: huge if pull.arm.id == 3 and pull.stop == step else loss(pull), workers=3)
    assert search.ledger.spent > 295 and (search.best().id == 3) == (huge > 0 and step <= search.ledger.steps[3])


@pytest.mark.filterwarnings("error")
def test_the_largest_float_as_the_reward_of_a_bad_arm_leaves_the_scores_finite():
    worst = sys.float_info.max
    search = AdaptiveMutantUCB(SPACE, budget=300, max_steps=5, seed=0)
    finish(search, lambda pull: -worst if pull.config["x"] > 0.2 else loss(pull))
    assert all(math.isfinite(search.priority(arm)) for arm in range(len(search.ledger.arms)))
    assert search.best().config["x"] <= 0.2


def test_where_all_rewards_are_equal_the_search_goes_on():
    search = AdaptiveMutantUCB(SPACE, budget=300, max_steps=5, seed=0)
    finish(search, lambda pull: 0.1)
    assert search.ledger.spent > 295 and whole(search) and search.best().id in whole(search)
