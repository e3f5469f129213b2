"""The pickers decide as their formulas say, also with picks in flight, failures and arms left out."""

import json
import math
from collections import Counter

import numpy as np
import pytest

import manyarms as ma
from manyarms.strategies.pickers import Picker
from manyarms.strategies.pickers.softmax import weights
from manyarms.strategies.pickers.ucb1 import upper_bounds

MAKERS = {
    "extreme ucb": lambda **given: ma.ExtremeUCB(**given),
    "er-ucb": lambda **given: ma.ERUCB(**given),
    "er-ucb, a fixed beta": lambda **given: ma.ERUCB(beta=0.5, **given),
    "ucb1": lambda **given: ma.UCB1(**given),
    "epsilon-greedy": lambda **given: ma.EpsilonGreedy(0.1, **given),
    "softmax": lambda **given: ma.Softmax(0.1, **given),
    "uniform": lambda **given: ma.Uniform(**given),
}
each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def played(picker, reward, trials, seed=0):
    """The arms that were picked, each told before the next."""
    rng, arms = np.random.default_rng(seed), []
    for _ in range(trials):
        arms.append(picker.pick(rng))
        picker.update(arms[-1], reward(arms[-1], rng))
    return arms


# -- what all share


@each
def test_each_arm_is_tried_once_first_also_with_none_told(make):
    picker, rng = make(n=4), np.random.default_rng(0)
    assert [picker.pick(rng) for _ in range(4)] == [0, 1, 2, 3]
    assert [picker.pick(rng) for _ in range(8)] == [0, 1, 2, 3] * 2  # nothing is known: spread
    assert played(make(n=4), lambda arm, rng: 0.5, 4) == [0, 1, 2, 3]


@each
def test_an_arm_without_a_reward_is_left_alone_while_another_has_one(make):
    picker, rng = make(n=3), np.random.default_rng(0)
    for _ in range(3):
        picker.pick(rng)
    picker.update(1, 0.2)
    assert [picker.pick(rng) for _ in range(10)] == [1] * 10


@each
def test_only_the_arms_that_may_be_picked_are(make):
    picker, rng = make(n=5), np.random.default_rng(0)
    for _ in range(50):
        arm = picker.choose(rng, [1, 3])
        picker.open(arm)
        picker.update(arm, 0.5 + 0.1 * arm)
    assert picker.trials[[0, 2, 4]].sum() == 0
    assert picker.trials[[1, 3]].sum() == 50


@each
def test_choosing_without_opening_changes_nothing(make):
    picker = make(n=3)
    played(picker, lambda arm, rng: rng.random(), 20)
    before = json.dumps(picker.state(), default=np.ndarray.tolist)
    picker.choose(np.random.default_rng(0), [0, 1, 2])
    assert json.dumps(picker.state(), default=np.ndarray.tolist) == before


@each
@pytest.mark.parametrize("shift", [0.0, -1.0])
def test_an_arm_that_always_fails_loses_whatever_the_sign_of_the_rewards(make, shift):
    picker = make(n=3)
    arms = played(picker, lambda arm, rng: None if arm == 1 else shift + 0.4 + 0.2 * arm + 0.05 * rng.random(), 300)
    shares = Counter(arms)
    assert shares[1] < (130 if isinstance(picker, ma.Uniform) else max(shares[0], shares[2]))


@each
def test_a_failure_is_never_better_than_the_worst_reward_though_it_came_first(make):
    picker = make(n=2)
    picker.update(0, None)
    picker.update(1, 0.75)
    assert picker.means(np.array([0, 1])).tolist() == [0.75, 0.75]
    picker.update(1, math.nan)
    picker.update(1, 0.25)
    assert picker.means(np.array([0, 1])).tolist() == [0.25, (0.75 + 0.25 + 0.25) / 3]
    picker.update(1, -1e9)  # another scale: the median is 1/2
    assert picker.means(np.array([0, 1])) == pytest.approx([0.0, (0.75 + 0.5) / 4], abs=1e-6)


@each
def test_before_any_reward_failures_are_zero(make):
    picker, rng = make(n=2), np.random.default_rng(0)
    picker.update(0, None)
    picker.update(1, math.inf)
    assert picker.means(np.array([0, 1])).tolist() == [0.0, 0.0]
    assert picker.pick(rng) in (0, 1)


@each
def test_a_state_written_as_text_goes_on_as_the_original(make):
    one, two = make(n=4), make(n=4)
    played(one, lambda arm, rng: rng.random() if rng.random() < 0.9 else None, 50)
    one.open(2)  # in flight
    two.load(_arrays(json.loads(json.dumps(one.state(), default=np.ndarray.tolist))))
    rest = [played(picker, lambda arm, rng: rng.random(), 50, seed=1) for picker in (one, two)]
    assert rest[0] == rest[1]


def _arrays(state):
    """A state that was read from text."""
    return {key: _arrays(part) if isinstance(part, dict) else np.array(part) for key, part in state.items()}


@each
def test_old_rewards_are_worth_what_they_would_be_if_they_came_now(make):
    rng = np.random.default_rng(0)
    rewards = [-1e9, -1e3, *rng.normal(-2.5, 0.2, 61), -2.0]
    one, two = make(n=3), make(n=3)
    for number, reward in enumerate(rewards):
        one.update(number % 3, reward)
    for number in reversed(range(len(rewards))):
        two.update(number % 3, rewards[number])
    assert one.means(np.arange(3)) == pytest.approx(two.means(np.arange(3)))
    assert one.choose(np.random.default_rng(0), [0, 1, 2]) == two.choose(np.random.default_rng(0), [0, 1, 2])


@each
def test_the_scale_of_losses_makes_no_difference(make):
    small, large = (
        played(make(n=4), lambda arm, rng, scale=scale: -scale * (2 + rng.random() / (1 + arm)), 200)
        for scale in (2**-10, 2**20)
    )
    assert small == large


@each
def test_starting_anew_forgets_all(make):
    picker = make(n=4)
    played(picker, lambda arm, rng: 0.5, 30)
    picker.start(2)
    assert picker.n == 2 and picker.trials.tolist() == [0, 0]
    assert played(picker, lambda arm, rng: 0.5, 2) == [0, 1]


@each
def test_without_a_number_of_arms_it_says_what_is_missing(make):
    with pytest.raises(ValueError, match=r"n must be given, the number of arms: .*\(n=7\)"):
        make().pick(np.random.default_rng(0))


@each
def test_an_arm_there_is_not_is_refused(make):
    for arm in (-1, 3):
        with pytest.raises(ValueError, match=f"arm must be between 0 and 2, got {arm}"):
            make(n=3).update(arm, 0.5)


def test_an_arm_told_without_having_been_picked_counts_as_tried():
    picker = ma.UCB1(n=2)
    picker.update(0, 0.5)
    assert picker.trials.tolist() == [1, 0]
    assert picker.pick(np.random.default_rng(0)) == 1


# -- the rules of each


def test_ucb1_is_the_mean_and_the_root_of_two_logs_over_the_trials():
    bounds = upper_bounds(np.array([0.5, 0.9]), np.array([4.0, 1.0]), 5)
    assert bounds == pytest.approx([0.5 + math.sqrt(2 * math.log(5) / 4), 0.9 + math.sqrt(2 * math.log(5))])


def test_ucb1_takes_picks_in_flight_for_trials_so_that_they_spread():
    picker, rng = ma.UCB1(n=3), np.random.default_rng(0)
    for arm in range(3):
        picker.update(arm, 0.5)
    assert sorted(picker.pick(rng) for _ in range(30)) == [0] * 10 + [1] * 10 + [2] * 10


def test_epsilon_greedy_takes_the_best_mean_but_for_a_share():
    picker = ma.EpsilonGreedy(0.3, n=3)
    shares = Counter(played(picker, lambda arm, rng: (0.1, 0.9, 0.5)[arm], 3000))
    assert 0.77 < shares[1] / 3000 < 0.83
    assert 0.08 < shares[0] / 3000 < 0.12


def test_epsilon_of_nothing_is_greedy_and_of_one_is_blind():
    assert set(played(ma.EpsilonGreedy(0, n=3), lambda arm, rng: (0.1, 0.9, 0.5)[arm], 50)[3:]) == {1}
    assert min(Counter(played(ma.EpsilonGreedy(1, n=3), lambda arm, rng: 0.5, 900)).values()) > 240


def test_softmax_weighs_by_the_exponential_of_the_means():
    assert weights(np.array([0.5, 0.6]), 0.1) == pytest.approx([1 / (1 + math.e), math.e / (1 + math.e)])
    assert weights(np.array([-1e9, 1e9]), 0.1).tolist() == [0.0, 1.0]
    shares = Counter(played(ma.Softmax(0.1, n=2), lambda arm, rng: (0.5, 0.6)[arm], 3000))
    assert 0.70 < shares[1] / 3000 < 0.76


def test_uniform_picks_all_alike():
    shares = Counter(played(ma.Uniform(n=4), lambda arm, rng: float(arm), 4000))
    assert all(900 < count < 1100 for count in shares.values())


def test_a_picker_of_ones_own_needs_one_method():
    class Last(Picker):
        def _decide(self, arms, rng):
            return len(arms) - 1

    assert played(Last(3), lambda arm, rng: 0.5, 5) == [0, 1, 2, 2, 2]


WRONG = {
    "no arms": (lambda: ma.UCB1(n=0), ValueError, "n must be at least 1, got 0"),
    "half an arm": (lambda: ma.Uniform(n=1.5), TypeError, "n must be a whole number, got 1.5"),
    "epsilon above one": (lambda: ma.EpsilonGreedy(1.5), ValueError, "epsilon must be between 0 and 1, got 1.5"),
    "epsilon in words": (lambda: ma.EpsilonGreedy("some"), TypeError, "epsilon must be a number, got 'some'"),
    "no temperature": (lambda: ma.Softmax(0), ValueError, "temperature must be above 0, got 0"),
    "infinite temperature": (lambda: ma.Softmax(math.inf), ValueError, "temperature must be finite, got inf"),
    "no theta": (lambda: ma.ERUCB(theta=0), ValueError, "theta must be above 0, got 0"),
    "theta above one": (lambda: ma.ERUCB(theta=2), ValueError, "theta must be between 0 and 1, got 2"),
    "negative gamma": (lambda: ma.ERUCB(gamma=-1), ValueError, "gamma must be at least 0, got -1"),
    "beta in words": (lambda: ma.ERUCB(beta="best"), ValueError, "beta must be one of 'auto', got 'best'"),
    "beta nan": (lambda: ma.ERUCB(beta=math.nan), ValueError, "beta must be finite, got nan"),
}


@pytest.mark.parametrize(("make", "error", "message"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
