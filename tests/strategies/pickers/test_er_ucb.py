"""ER-UCB: its formula, its beta, and the paper's synthetic problem."""

import math

import numpy as np
import pytest

import manyarms as ma
from manyarms.strategies.pickers.er_ucb import indices

ARMS = np.array([(0.84, 0.07), (0.84, 0.01), (0.85, 0.04), (0.85, 0.02), (0.88, 0.01), (0.88, 0.02), (0.89, 0.01)])


def shares(make, arms=ARMS, shift=0.0, scale=1.0, seeds=4):
    """The mean share of 1000 trials that each arm gets."""
    total = np.zeros(len(arms))
    for seed in range(seeds):
        rng, picker = np.random.default_rng(seed), make(len(arms))
        for _ in range(1000):
            arm = picker.pick(rng)
            picker.update(arm, scale * rng.normal(*arms[arm]) + shift)
        total += picker.trials / 1000
    return total / seeds


def test_the_index_is_the_papers():
    e = math.sqrt(2 * math.log(9) / 4)
    expected = 20 * (0.1 + math.sqrt(0.03 / 0.01)) + e + math.sqrt(e / 0.01)
    assert indices(np.array([0.1]), np.array([0.03]), np.array([4.0]), 9, 0.01, 20) == pytest.approx([expected])


def by_hand(rewards, beta, theta, gamma):
    """The arm that equation 17 chooses, from lists of rewards."""
    t = sum(map(len, rewards))

    def index(x):
        y, z = sum(x) / len(x) - beta, sum((v - beta) ** 2 for v in x) / len(x)
        e = math.sqrt(2 * math.log(t) / len(x))
        return gamma * (y + math.sqrt(z / theta)) + e + math.sqrt(e / theta)

    return max(range(len(rewards)), key=lambda arm: index(rewards[arm]))


@pytest.mark.parametrize("beta", [0.0, 0.3, 0.85, 1.2])
def test_with_a_given_beta_each_pick_is_the_formulas(beta):
    rng, picker, rewards = np.random.default_rng(0), ma.ERUCB(theta=0.1, gamma=5, beta=beta, n=4), [[], [], [], []]
    for trial in range(200):
        arm = picker.pick(rng)
        assert arm == (trial if trial < 4 else by_hand(rewards, beta, 0.1, 5))
        rewards[arm].append(rng.random() * (arm + 1) / 4)
        picker.update(arm, rewards[arm][-1])


def test_a_given_beta_is_on_the_scale_of_the_rewards():
    share = shares(lambda n: ma.ERUCB(beta=85.0, n=n), scale=100.0)
    assert share[-1] > 0.8  # the best mean, as for the automatic beta on this scale
    assert share[1] < 0.1  # mapped rewards are far below 85, so that arms with bad rewards looked best


def test_picks_in_flight_are_trials():
    picker, rng = ma.ERUCB(n=3), np.random.default_rng(0)
    for arm in range(3):
        picker.update(arm, 0.5)
    assert sorted(picker.pick(rng) for _ in range(30)) == [0] * 10 + [1] * 10 + [2] * 10


@pytest.mark.parametrize(("beta", "low", "high"), [(0.80, 0.0, 0.15), (0.85, 0.80, 0.97), (0.88, 0.86, 0.99), (1.0, 0.5, 0.9)])
def test_on_the_papers_problem_beta_decides_the_share_of_the_best_arm(beta, low, high):
    assert low < shares(lambda n: ma.ERUCB(beta=beta, n=n))[0] < high  # 200 seeds: 0.05, 0.89, 0.94, 0.72


@pytest.mark.parametrize("shift", [0.0, -0.3])
def test_the_automatic_beta_finds_the_best_arm_wherever_the_rewards_lie(shift):
    assert shares(lambda n: ma.ERUCB(n=n), shift=shift)[0] > 0.8


def test_its_rivals_seek_the_best_mean_and_miss_the_best_rewards():
    assert shares(lambda n: ma.UCB1(n=n), seeds=2)[0] < 0.2
    assert shares(lambda n: ma.EpsilonGreedy(n=n), seeds=2)[0] < 0.2
    assert shares(lambda n: ma.Softmax(n=n), seeds=2)[0] < 0.2


def test_a_hopeless_arm_is_chosen_with_a_high_beta_and_not_with_the_automatic_one():
    arms = np.array([*ARMS, (0.3, 0.05)])
    assert shares(lambda n: ma.ERUCB(beta=0.85, n=n), arms, seeds=2)[-1] > 0.8  # it is far from beta, hence its Z is large
    assert shares(lambda n: ma.ERUCB(n=n), arms, seeds=2)[-1] < 0.05


@pytest.mark.parametrize("beta", ["auto", 0.85])
def test_failures_do_not_look_like_spread(beta):
    picker, rng = ma.ERUCB(beta=beta, n=2), np.random.default_rng(0)
    for _ in range(400):
        arm = picker.pick(rng)
        failed = arm == 0 and rng.random() < 0.5
        picker.update(arm, None if failed else rng.normal(0.85, 0.02))
    assert picker.trials[0] < 150
