"""Rewards of any scale come out in [0, 1], in order, and never as NaN."""

import copy
import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from manyarms.strategies.scaling import Adaptive, Bounded, Unscaled

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


def adaptive(history):
    scaler = Adaptive()
    return scaler, [scaler.scale(reward) for reward in history]


@given(HISTORIES)
@example([0.0, 5e-324, 5e-324, -1.0, 1e308])
@example([-1e308, 1e308, -1e308, 1e308])
def test_what_comes_out_is_in_the_unit_interval_whatever_goes_in(history):
    assert all(0 <= scaled <= 1 for scaled in adaptive(history)[1])


@given(HISTORIES, REWARDS, REWARDS)
def test_the_better_reward_is_never_scaled_lower_on_the_same_curve(history, one, two):
    scaler, _ = adaptive(history)
    fitted = scaler.state()["fitted"]
    low, high = copy.deepcopy(scaler), copy.deepcopy(scaler)
    scaled = low.scale(min(one, two)), high.scale(max(one, two))
    assume(low.state()["fitted"] == high.state()["fitted"] == fitted)
    assert scaled[0] <= scaled[1]


@given(st.lists(st.floats(0, 1), max_size=40))
def test_rewards_within_the_unit_interval_are_left_alone(history):
    assert adaptive(history)[1] == history


def test_one_outlier_does_not_flatten_the_rest():
    rng = np.random.default_rng(0)
    history = rng.normal(-50, 1, 64).tolist()
    history[10] = -1e12
    _, scaled = adaptive(history)
    ordinary = [value for i, value in enumerate(scaled) if i != 10]
    assert scaled[10] == pytest.approx(0, abs=1e-6)
    assert np.std(ordinary) > 0.1


def test_the_curve_is_fitted_again_when_the_rewards_have_doubled():
    scaler, fits = Adaptive(), []
    for reward in range(2, 102):
        scaler.scale(float(reward))
        fits.append(scaler.state()["fitted"])
    assert sorted(set(fits)) == [1, 2, 4, 8, 16, 32, 64]


@given(HISTORIES, HISTORIES)
def test_a_scaler_loaded_from_a_state_goes_on_as_the_original(before, after):
    scaler, _ = adaptive(before)
    restored = Adaptive()
    restored.load(scaler.state())
    assert [restored.scale(reward) for reward in after] == [scaler.scale(reward) for reward in after]


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


def test_a_strategy_that_needs_no_scale_gets_rewards_as_they_are():
    scaler = Unscaled()
    scaler.load(scaler.state())
    assert [scaler.scale(reward) for reward in (-1e300, 0.5, 7.0)] == [-1e300, 0.5, 7.0]
