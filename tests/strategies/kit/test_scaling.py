"""Rewards of any scale come out in [0, 1], in order, all on one scale, and never as NaN."""

import copy
import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from manyarms.strategies.kit.scaling import Bounded, ScaledRewards

REWARDS = st.floats(allow_nan=False, allow_infinity=False) | st.floats(-2, 2) | st.sampled_from([0.0, 1.0, 5e-324, -1e308])
HISTORIES = st.lists(REWARDS, max_size=40)

WRONG = {
    "turned round": ((1, 0), ValueError, "bounds must be two numbers, the first below the second, got (1, 0)"),
    "equal": ((1, 1), ValueError, "the first below the second, got (1, 1)"),
    "nan": ((0, math.nan), ValueError, "bounds must be finite, got nan"),
    "infinite": ((-math.inf, 0), ValueError, "bounds must be finite, got -inf"),
    "too far apart": ((-1e308, 1e308), ValueError, "the distance between bounds must be finite, got inf"),
    "text": (("0", 1), TypeError, "bounds must be a number, got '0'"),
}


def told(history):
    """The rewards of as many arms, and the numbers of those that changed the values of all."""
    rewards = ScaledRewards()
    return rewards, [arm + 1 for arm, reward in enumerate(history) if rewards.tell(arm, reward)]


@given(HISTORIES)
@example([0.0, 5e-324, 5e-324, -1.0, 1e308])
@example([-1e308, 1e308, -1e308, 1e308])
def test_values_are_in_the_unit_interval_or_hardly_outside_whatever_the_rewards(history):
    values = told(history)[0].values
    assert ((values >= -0.5) & (values <= 1.5)).all()
    assert ((values >= 0) & (values <= 1)).all() or values.tolist() == history


@given(HISTORIES)
def test_values_are_in_the_order_of_the_rewards_whenever_they_were_told(history):
    values = told(history)[0].values[np.argsort(history, kind="stable")]
    assert (np.diff(values) >= 0).all()


@given(HISTORIES, REWARDS)
def test_the_value_of_one_is_its_value_among_all(history, reward):
    rewards, _ = told(history)
    assert [rewards.value(reward) for reward in history] == rewards.values.tolist()
    changed = rewards.tell(7, reward)
    assert changed or rewards.values[:-1].tolist() == [rewards.value(reward) for reward in history]
    assert rewards.arms.all.tolist() == [*range(len(history)), 7]


@given(st.lists(st.floats(0, 1), max_size=40))
def test_rewards_within_the_unit_interval_are_left_alone(history):
    rewards, changes = told(history)
    assert rewards.values.tolist() == history and not changes


@given(st.lists(st.floats(0, 1), min_size=10, max_size=10), st.lists(st.floats(-0.5, 1.5), max_size=30))
def test_so_are_those_that_noise_carries_a_little_beyond(within, noisy):
    assert told(within + noisy)[0].values.tolist() == within + noisy


@pytest.mark.parametrize("history", [[-0.003, -0.001, -0.002, -0.0015], [1.2, 1.1, 1.4, 1.3]])
def test_small_losses_and_others_that_lie_next_to_the_unit_interval_are_not_taken_for_noise(history):
    values = told(history)[0].values
    assert values.min() < 0.3 and values.max() == pytest.approx(0.75)


def test_noise_that_comes_first_is_found_out_later():
    rewards, changes = told([-0.1, -0.05, 0.2, 0.9, 0.4, 0.7])
    assert rewards.values.tolist() == [-0.1, -0.05, 0.2, 0.9, 0.4, 0.7] and changes == [1, 2, 4]


def test_one_outlier_does_not_flatten_the_rest():
    rng = np.random.default_rng(0)
    history = rng.normal(-50, 1, 64)
    history[10] = -1e12
    values = told(history)[0].values
    assert values[10] == pytest.approx(0, abs=1e-6)
    assert np.std(np.delete(values, 10)) > 0.1


@pytest.mark.parametrize("first", [[], [-1e9], [-1e9, 1e3, -7.0]])
def test_of_the_median_and_the_best_the_values_are_a_half_and_three_quarters_whatever_came_first(first):
    history = np.array([*first, *np.random.default_rng(0).normal(-50, 1, 64 - len(first))])
    rewards, _ = told(history)
    assert rewards.value(np.median(history)) == 0.5 and rewards.values[history.argmax()] == pytest.approx(0.75)


def test_the_curve_is_fitted_again_when_the_rewards_have_doubled():
    assert told([float(reward) for reward in range(2, 102)])[1] == [1, 2, 4, 8, 16, 32, 64]


@given(HISTORIES, HISTORIES)
def test_rewards_loaded_from_a_state_go_on_as_the_original(before, after):
    rewards, _ = told(before)
    restored = ScaledRewards()
    restored.load(copy.deepcopy(rewards.state()))
    assert restored.values.tolist() == rewards.values.tolist()
    for arm, reward in enumerate(after):
        assert restored.tell(arm, reward) == rewards.tell(arm, reward)
        assert restored.values.tolist() == rewards.values.tolist()


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), REWARDS, REWARDS)
def test_declared_bounds_become_0_and_1_and_what_lies_outside_is_cut_off(low, high, one, two):
    low, high = min(low, high), max(low, high)
    assume(low < high)
    scaler = Bounded(low, high)
    assert (scaler.scale(low), scaler.scale(high)) == (0, 1)
    assert 0 <= scaler.scale(min(one, two)) <= scaler.scale(max(one, two)) <= 1


@pytest.mark.parametrize(("bounds", "error", "message"), WRONG.values(), ids=WRONG)
def test_wrong_bounds_are_named_with_the_rule_and_the_value(bounds, error, message):
    with pytest.raises(error) as raised:
        Bounded(*bounds)
    assert message in str(raised.value)
