"""ExtremeUCB goes by the best reward of each arm."""

import math

import numpy as np
import pytest

from manyarms import ExtremeUCB

MEANS, SPREADS = (0.84, 0.84, 0.85, 0.85, 0.88, 0.88, 0.89), (0.07, 0.01, 0.04, 0.02, 0.01, 0.02, 0.01)


def told(rewards, **given):
    """A picker that was told these rewards, by arm."""
    picker = ExtremeUCB(n=len(rewards), **given)
    for arm, of_arm in enumerate(rewards):
        for reward in of_arm:
            picker.open(arm)
            picker.update(arm, reward)
    return picker


def pick(picker):
    return picker.choose(np.random.default_rng(0), range(picker.n))


def test_of_equally_tried_arms_the_one_with_the_best_reward_is_picked():
    assert pick(told([(0.8, 0.8, 0.8), (0.1, 0.1, 0.9), (0.7, 0.8, 0.7)])) == 1


@pytest.mark.parametrize(("lead", "picked"), [(0.20, 0), (0.10, 1)])
def test_an_arm_tried_less_is_picked_unless_the_best_leads_by_what_is_in_doubt(lead, picked):
    few, many = (math.sqrt(2 * math.log(10) / trials) for trials in (1, 9))
    doubt = few + math.sqrt(few / 0.01) - many - math.sqrt(many / 0.01)
    assert 0.10 < doubt / 50 < 0.20
    assert pick(told([(0.5 + lead,) * 9, (0.5,)])) == picked


def test_an_arm_that_only_failed_is_as_good_as_the_worst():
    picker = told([(0.4, 0.4), (None, None), (0.3, 0.3)])
    assert pick(picker) == 0
    picker.update(1, 0.9)
    assert pick(picker) == 1


def test_most_trials_go_to_the_arm_with_the_best_rewards_not_the_best_mean():
    shares = []
    for seed in range(3):
        picker, rng = ExtremeUCB(n=7), np.random.default_rng(seed)
        for _ in range(1000):
            arm = picker.pick(rng)
            picker.update(arm, rng.normal(MEANS[arm], SPREADS[arm]))
        shares.append(picker.trials[0] / 1000)
    assert min(shares) > 0.5 and np.mean(shares) > 0.7


def test_what_was_learned_survives_as_state():
    picker, other = told([(0.8,), (0.1, 0.9), (None,)]), ExtremeUCB(n=3)
    other.load(picker.state())
    assert pick(other) == pick(picker) and other.trials.tolist() == picker.trials.tolist()
