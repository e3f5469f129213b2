"""The arm with the largest upper bound is the one a scan would find, whatever is in flight."""

import json
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyarms import Float, NoResult, Space
from manyarms.strategies.kit.ledger import Ledger
from manyarms.strategies.kit.upper_bounds import UpperBounds, reward_scale, upper_bound

SPACE = Space(x=Float(0, 1))
ARMS = st.integers(0, 5)
MOVES = st.lists(
    st.tuples(st.just("choose"), ARMS)
    | st.tuples(st.just("reward"), ARMS, st.sampled_from([0.0, 0.25, 0.5, 1.0]))
    | st.tuples(st.just("drop"), ARMS)
    | st.just(("restore",)),
    max_size=100,
)


def bounds_of(arms, exploration=0.05):
    ledger = Ledger(SPACE, None, None, 0)
    bounds = UpperBounds(ledger, exploration)
    for _ in range(arms):
        bounds.choose(ledger.sample().id)
    return ledger, bounds


def reward(ledger, bounds, arm, value):
    ledger.steps[arm] += 1
    bounds.add(arm, value)
    bounds.rank(arm)


@given(MOVES, st.sampled_from([0.0, 0.05, 2.0]))
def test_the_first_arm_is_the_one_a_scan_would_find(moves, exploration):
    ledger, bounds = bounds_of(6, exploration)
    rewards, chosen, ranked = [[] for _ in range(6)], [1] * 6, {}
    for kind, *values in moves:
        if kind == "choose":
            bounds.choose(*values)
            chosen[values[0]] += 1
        elif kind == "reward":
            arm, value = values
            reward(ledger, bounds, arm, value)
            rewards[arm].append(value)
            ranked[arm] = np.mean(rewards[arm]) + math.sqrt(
                exploration / chosen[arm]
            )  # as of now: choices alone do not move it
        elif kind == "drop":
            bounds.drop(*values)
            ranked.pop(*values, None)
        else:
            state, bounds = bounds.state(), UpperBounds(ledger, exploration)
            bounds.load(state)
        first = bounds.first()
        assert (first is None) == (not ranked)
        assert first is None or ranked[first] == pytest.approx(max(ranked.values()))


def test_ties_are_broken_by_the_generator_of_the_book():
    firsts = set()
    for seed in range(20):
        ledger, bounds = bounds_of(3)
        ledger.rng = np.random.default_rng(seed)
        for arm in range(3):
            reward(ledger, bounds, arm, 0.5)
        firsts.add(bounds.first())
    assert firsts == {0, 1, 2}


@pytest.mark.parametrize(("low", "width"), [(-1.0, 1.0), (5.0, 0.001), (-1e6, 1e5), (-1e-13, 1e-13), (-1e-300, 1e-300)])
def test_on_any_range_of_rewards_arms_are_ranked_as_on_the_one_measured(low, width):
    ledger, bounds = bounds_of(40)
    values = np.random.default_rng(0).random(40)
    for arm, value in enumerate(values):
        reward(ledger, bounds, arm, low + width * value)
    then = reward_scale((low + width * values[:32]).tolist())  # measured at 1, 2, 4 .. rewards, all outside [0, 1]
    assert bounds.scale == pytest.approx(then) and bounds.first() == values.argmax()
    for arm in range(40):
        assert bounds.priority(arm) == pytest.approx(low + width * values[arm] + then * math.sqrt(0.05), rel=1e-9)
    again = UpperBounds(ledger, 0.05)
    again.load(bounds.state())
    for _ in range(40):
        assert again.first() == bounds.first()
        arm = bounds.first()
        again.drop(arm)
        bounds.drop(arm)
    assert again.scale == bounds.scale


@pytest.mark.filterwarnings("error")
def test_the_largest_float_as_the_reward_of_bad_arms_leaves_the_bounds_finite():
    ledger, bounds = bounds_of(4)
    for arm, value in enumerate((-sys.float_info.max, -sys.float_info.max, -sys.float_info.max, 1.0) * 2):
        reward(ledger, bounds, arm % 4, value)
    assert bounds.first() == 3 and math.isfinite(bounds.scale)
    assert all(math.isfinite(bounds.priority(arm)) for arm in range(4))


def test_rounding_errors_of_equal_means_are_no_range():
    assert reward_scale([-0.7, -0.7000000000000001, -0.7000000000000002]) == 0


def test_rewards_in_the_unit_interval_leave_the_bounds_as_in_the_paper():
    ledger, bounds = bounds_of(10)
    for arm in range(10):
        reward(ledger, bounds, arm, 0.5 + arm / 1000)
    assert bounds.scale == 1.0


def test_the_promise_is_the_upper_bound_with_the_choices_in_flight():
    ledger, bounds = bounds_of(2)
    assert bounds.priority(0) == -math.inf
    reward(ledger, bounds, 0, 0.5)
    for chosen in (1, 2, 3):
        assert bounds.priority(0) == upper_bound(0.5, chosen, 0.05)
        bounds.choose(0)
    bounds.drop(0)
    assert bounds.priority(0) > 0.5
    ledger.failed.add(0)
    assert bounds.priority(0) == -math.inf


def test_the_largest_mean_is_recommended_and_a_failed_arm_only_for_want_of_others():
    ledger, bounds = bounds_of(4)
    with pytest.raises(NoResult):
        bounds.largest_mean()
    reward(ledger, bounds, 2, 0.9)
    ledger.failed.add(2)
    assert bounds.largest_mean() == 2
    reward(ledger, bounds, 1, 0.4)
    assert bounds.largest_mean() == 1
    reward(ledger, bounds, 3, 0.5)
    assert bounds.largest_mean() == 3 and bounds.mean(3) == 0.5
    reward(ledger, bounds, 3, 0.2)
    assert bounds.largest_mean() == 1 and bounds.mean(3) == pytest.approx(0.35)


def test_the_state_is_flat_arrays_of_plain_numbers():
    ledger, bounds = bounds_of(3)
    reward(ledger, bounds, 1, 0.5)
    state = bounds.state()
    arrays = [state["sums"], state["chosen"], *state["ranking"].values()]
    assert all(array.ndim == 1 for array in arrays) and json.dumps([array.tolist() for array in arrays])
