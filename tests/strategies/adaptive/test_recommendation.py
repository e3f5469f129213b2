"""Which arm AdaptiveMutantUCB recommends."""

import numpy as np
import pytest

from manyarms import AdaptiveMutantUCB, NoResult
from manyarms.testing import play

from .searches import SPACE, WIDE, draw, finish, loss, whole


def test_only_arms_trained_to_the_end_are_recommended_and_by_their_last_reward():
    search = AdaptiveMutantUCB(WIDE, budget=600, max_steps=6, seed=0)
    last, checked = {}, 0
    for pull, reward in play(search, lambda pull: 5 - pull.stop + loss(pull), workers=4):  # falling: the young look best
        last[pull.arm.id] = reward
        done = whole(search)
        if done:
            assert search.best().id == max(done, key=last.get)
            checked += max(last, key=last.get) not in done
        else:
            assert search.best().id == max(last, key=search.promise)
    assert checked > 300 and len(whole(search)) > 5


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
    assert search.best().id == 2 and 2 in search.book.failed


def test_where_all_fails_there_is_nothing_to_recommend():
    search = AdaptiveMutantUCB(SPACE, budget=100, max_steps=5, seed=0)
    with pytest.raises(NoResult, match="no pull has succeeded yet"):
        search.best()
    finish(search, lambda pull: None)
    assert search.book.spent == 96 and len(search.book.failed) == 96
    with pytest.raises(NoResult, match="no pull has succeeded yet"):
        search.best()
