"""Which arm AdaptiveMutantUCB recommends."""

import numpy as np
import pytest

from manyarms import AdaptiveMutantUCB, NoResult
from manyarms.testing import play

from .searches import SPACE, WIDE, draw, finish, loss, whole


def turning(pull):
    """Rises to step 4 and falls from there on."""
    return loss(pull) - abs(pull.stop - 4)


def test_the_arm_with_the_best_reward_is_recommended_wherever_it_got_it():
    search = AdaptiveMutantUCB(WIDE, budget=600, max_steps=10, seed=0)
    best, checked = {}, 0
    for pull, reward in play(search, turning, workers=4):
        best[pull.arm.id] = max(reward, best.get(pull.arm.id, reward))
        if search.ledger.spent > 60:  # before that, a complete arm is preferred
            assert search.best().id == max(best, key=best.get)
        checked += search.best().id not in whole(search)
    assert checked > 300


def test_an_arm_whose_curve_has_turned_is_not_trained_on_but_mutated():
    search = AdaptiveMutantUCB(WIDE, budget=600, max_steps=10, seed=0)
    finish(search, turning)
    steps = np.bincount(search.ledger.steps, minlength=11)
    assert steps[7:].sum() <= 3 and steps[4:7].sum() > 50  # before the spread of the scores is known a few are
    turned = set(np.flatnonzero(search._scores.counts.drops.all >= 2).tolist())
    assert sum(not turned.isdisjoint(arm.parents) for arm in search.ledger.arms) > 20


def test_a_noisy_curve_that_rises_has_not_turned():
    search = AdaptiveMutantUCB(WIDE, budget=1_000, max_steps=10, seed=0)
    finish(
        search, lambda pull: loss(pull) + 0.3 * pull.stop + 0.01 * np.random.default_rng(pull.arm.id * 100 + pull.stop).normal()
    )
    assert len(whole(search)) > 30 and not (search._scores.counts.drops.all >= 2).any()


def test_on_level_rewards_the_mean_is_recommended_and_not_the_luckiest_last_draw():
    search = AdaptiveMutantUCB(SPACE, budget=1_500, max_steps=5, seed=0)
    rewards = finish(search, draw)
    done = whole(search)
    assert search.best().id == max(done, key=lambda arm: np.mean(rewards[arm]))
    assert search.best().id != max(done, key=lambda arm: rewards[arm][-1])


def test_an_arm_that_failed_is_neither_trained_nor_recommended_while_there_is_another():
    search = AdaptiveMutantUCB(SPACE, budget=300, max_steps=5, seed=0)
    failed = set()
    for pull, reward in play(search, lambda pull: None if pull.arm.id % 3 == 0 and pull.start >= 3 else loss(pull), workers=3):
        assert pull.arm.id not in failed
        failed |= {pull.arm.id} if reward is None else set()
        assert search.best().id not in failed
    assert len(failed) > 3


def test_an_arm_that_failed_later_is_recommended_where_there_is_no_other():
    search = AdaptiveMutantUCB(SPACE, budget=30, max_steps=5, seed=0)
    finish(search, lambda pull: 0.5 if (pull.arm.id, pull.start) == (2, 0) else None)
    assert search.best().id == 2 and 2 in search.ledger.failed


def test_where_all_fails_there_is_nothing_to_recommend():
    search = AdaptiveMutantUCB(SPACE, budget=100, max_steps=5, seed=0)
    with pytest.raises(NoResult, match="no pull has succeeded yet"):
        search.best()
    finish(search, lambda pull: None)
    assert search.ledger.spent == 100 and len(search.ledger.failed) == 100
    with pytest.raises(NoResult, match="no pull has succeeded yet"):
        search.best()
