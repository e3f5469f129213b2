"""AdaptiveMutantUCB judges arms by what they should become, whatever the scale of rewards, and at little cost."""

import math
from collections import Counter, defaultdict
from itertools import islice

import numpy as np
import pytest

from manyarms import AdaptiveMutantUCB
from manyarms.strategies.surrogate import rules
from manyarms.strategies.surrogate.arm_scores import ArmScores
from manyarms.testing import play

from .searches import SPACE, climb, distance, draw, finish, loss, pulls_of, value


def test_the_score_is_the_running_average_corrected_by_the_gains_to_come():
    search = AdaptiveMutantUCB(SPACE, budget=400, max_steps=5, seed=0)
    increments = [0.0] * 6
    counts, rewards = Counter(), defaultdict(list)
    for pull, reward in play(search, climb):
        if pull.start:
            counts[pull.start] += 1
            step = reward - rewards[pull.arm.id][-1] - increments[pull.start]
            increments[pull.start] += max(0.02, 1 / counts[pull.start]) * step
        rewards[pull.arm.id].append(reward)
    to_come = [sum(increments[rung:5]) for rung in range(1, 6)]
    weights = {
        1: [1],
        2: [0.5, 0.5],
        3: [0.3, 0.3, 0.4],
        4: [0.18, 0.18, 0.24, 0.4],
        5: [0.108, 0.108, 0.144, 0.24, 0.4],
    }
    assert min(counts[rung] for rung in range(1, 5)) > 10 and to_come[0] > 0.15
    for arm, own in rewards.items():
        score = sum(w * (reward + gain) for w, reward, gain in zip(weights[len(own)], own, to_come, strict=False))
        assert search.priority(arm) == pytest.approx(score)


def test_where_rewards_are_draws_about_one_value_the_score_is_their_mean():
    search = AdaptiveMutantUCB(SPACE, budget=1_000, max_steps=10, seed=0)
    rewards = finish(search, draw)
    assert [search.priority(arm) for arm in rewards] == pytest.approx([np.mean(own) for own in rewards.values()])
    assert any(len(own) > 3 for own in rewards.values())


@pytest.mark.parametrize("seed", range(4))
def test_a_young_arm_is_not_held_to_what_old_ones_have_become(seed):
    search = AdaptiveMutantUCB(SPACE, budget=500, max_steps=10, seed=seed)
    finish(search, climb)
    young = [arm for arm, steps in enumerate(search.ledger.steps) if steps == 1]
    assert len(young) > 30
    for arm in young:
        assert search.priority(arm) == pytest.approx(value(arm) - 0.5 * 0.8**10, abs=0.03)  # their rewards are 0.35 lower


def test_an_arm_without_a_reward_or_with_a_failure_promises_nothing():
    search = AdaptiveMutantUCB(SPACE, budget=100, max_steps=5, initial=2, seed=0)
    first, second = search.ask(), search.ask()
    assert search.priority(0) == search.priority(1) == -math.inf
    search.tell(first, 0.5)
    search.tell(second, None)
    assert search.priority(0) == 0.5 and search.priority(1) == -math.inf


# The scale of rewards.


@pytest.mark.parametrize("reward", [loss, climb, draw])
@pytest.mark.parametrize("scale", [2.0**-40, 0.5, 2.0**30])
def test_a_scale_that_rounds_nothing_changes_no_decision(reward, scale):
    one, two = (AdaptiveMutantUCB(SPACE, budget=500, max_steps=6, seed=0) for _ in range(2))
    assert pulls_of(one, reward, workers=3) == pulls_of(two, lambda pull: scale * reward(pull), workers=3)
    assert one.best() == two.best()


@pytest.mark.parametrize("reward", [loss, draw])
@pytest.mark.parametrize(("scale", "shift"), [(3.7, 0.0), (1.0, -100.0), (1e-3, 0.7), (1e6, -3e5)])
def test_no_unit_of_rewards_changes_what_is_found(reward, scale, shift):
    one, two = (AdaptiveMutantUCB(SPACE, budget=300, max_steps=6, seed=0) for _ in range(2))
    plain, scaled = pulls_of(one, reward), pulls_of(two, lambda pull: scale * reward(pull) + shift)
    same = next((i for i, pair in enumerate(zip(plain, scaled, strict=False)) if pair[0] != pair[1]), len(plain))
    assert same > 100  # then the rounding of one sum may decide a tie
    assert abs(distance(one.best().config) - distance(two.best().config)) < 0.05


# Cost.


def test_with_one_sound_arm_the_scores_are_not_measured_again_and_again(monkeypatch):
    search = AdaptiveMutantUCB(SPACE, budget=1_000, max_steps=10, surrogate=False, seed=0)
    scans, trained = [], ArmScores.trained
    monkeypatch.setattr(rules, "may_finish_an_arm", lambda spent, workers, max_steps: False)  # which scans, too
    monkeypatch.setattr(ArmScores, "trained", lambda self: scans.append(1) or trained(self))
    finish(search, lambda pull: 0.5 if pull.arm.id == 0 else None)
    assert len(search.ledger.failed) > 900 and len(scans) <= 10


def test_the_scores_are_measured_as_often_as_the_rewards_grow_by_a_tenth(monkeypatch):
    search = AdaptiveMutantUCB(SPACE, surrogate=False, seed=0)
    scans, trained = [], ArmScores.trained
    monkeypatch.setattr(rules, "may_finish_an_arm", lambda spent, workers, max_steps: False)  # which scans, too
    monkeypatch.setattr(ArmScores, "trained", lambda self: scans.append(1) or trained(self))
    for _ in islice(play(search, loss), 5_000):
        pass
    assert 0.8 * math.log(5_000 / 24, 1.1) < len(scans) <= math.log(5_000 / 24, 1.1) + 2
