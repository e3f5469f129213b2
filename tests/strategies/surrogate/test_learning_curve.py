"""What arms should become: the rung corrections by hand, and the view that holds."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyarms.strategies.surrogate.learning_curve import LearningCurves, averaging_weight, slice_stops

# By hand: row n holds the weights of an arm's first n rewards in its running average, of gains 1, 1/2, 0.4, 0.4.
WEIGHTS = np.array(
    [
        [1.0, 0, 0, 0, 0],
        [0.5, 0.5, 0, 0, 0],
        [0.3, 0.3, 0.4, 0, 0],
        [0.18, 0.18, 0.24, 0.4, 0],
        [0.108, 0.108, 0.144, 0.24, 0.4],
    ]
)

CURVES = st.lists(st.lists(st.floats(-10, 10), min_size=1, max_size=5), max_size=80)


def train(learned, rewards):
    """Tell it of one arm, reward by reward."""
    for rung in range(1, len(rewards)):
        learned.learn(rung, rewards[rung], rewards[rung - 1], float(np.mean(rewards[:rung])))


def increasing(rng, rungs=10, noise=0.01):
    """Near its limit, geometrically."""
    curve = rng.uniform(0.5, 1) * (1 - 0.7 ** np.arange(1, rungs + 1))
    return (curve + noise * rng.standard_normal(rungs)).tolist()


def stationary(rng, rungs=10, noise=0.1):
    """Draws about one value."""
    return (rng.uniform(0, 1) + noise * rng.standard_normal(rungs)).tolist()


@pytest.mark.parametrize(
    ("max_steps", "slices", "stops"),
    [
        (10, 10, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        (3, 10, [1, 2, 3]),
        (1, 10, [1]),
        (9, 2, [5, 9]),
        (7, 1, [7]),
        (12, 10, [2, 3, 4, 5, 6, 8, 9, 10, 11, 12]),
    ],
)
def test_the_slices_of_a_training_by_hand(max_steps, slices, stops):
    assert slice_stops(max_steps, slices) == stops


@given(st.integers(1, 10_000), st.integers(1, 100))
def test_slices_are_nearly_equal_and_end_with_the_training(max_steps, slices):
    stops = slice_stops(max_steps, slices)
    lengths = np.diff([0, *stops])
    assert len(stops) == min(slices, max_steps) and stops[-1] == max_steps
    assert lengths.min() >= 1 and lengths.max() - lengths.min() <= 1


def test_the_newest_reward_weighs_two_fifths_at_least():
    assert [averaging_weight(number) for number in (1, 2, 3, 4, 100)] == [1.0, 0.5, 0.4, 0.4, 0.4]


def test_the_corrections_are_the_weighted_gains_to_come():
    learned = LearningCurves(5)
    train(learned, [0.0, 8.0, 12.0, 14.0, 15.0])  # the gains are 8, 4, 2 and 1
    to_come = np.array([15.0, 7.0, 3.0, 1.0, 0.0])  # after rung 1, 2, ..
    assert learned.gains_to_best[1:] == to_come.tolist()
    assert learned.corrections == pytest.approx([0.0, *(WEIGHTS @ to_come)])
    assert learned.corrections[2:4] == pytest.approx([11.0, 0.3 * 15 + 0.3 * 7 + 0.4 * 3])


def test_arms_on_one_curve_have_one_score_whatever_their_rung():
    learned, rewards = LearningCurves(5), [0.0, 8.0, 12.0, 14.0, 15.0]
    train(learned, rewards)
    scores = [WEIGHTS[rung] @ rewards + learned.corrections[rung + 1] for rung in range(5)]
    assert scores == pytest.approx([15.0] * 5)


@given(CURVES)
def test_whatever_was_learned_the_corrections_lead_to_the_best_reward_from_there_on(curves):
    learned = LearningCurves(5)
    increments = [[] for _ in range(5)]
    for rewards in curves:
        train(learned, rewards)
        for rung in range(1, len(rewards)):
            increments[rung].append(rewards[rung] - rewards[rung - 1])
    means = [drifting_mean(values) for values in increments]
    to_end = np.array([sum(means[rung:]) for rung in range(1, 6)])
    to_best = [max(sum(means[rung:end]) for end in range(rung, 6)) for rung in range(1, 6)]
    assert learned.gains_to_best[1:] == pytest.approx(to_best, abs=1e-9)
    assert learned.corrections[1:] == pytest.approx(WEIGHTS @ to_end + to_best - to_end, abs=1e-9)


def test_arms_on_one_curve_that_turns_have_one_score_until_it_does():
    learned, rewards = LearningCurves(5), [0.0, 8.0, 12.0, 5.0, 1.0]
    train(learned, rewards)
    scores = [WEIGHTS[rung] @ rewards + learned.corrections[rung + 1] for rung in range(5)]
    assert scores == pytest.approx([12.0, 12.0, 12.0, 5.0, 1.0])


def drifting_mean(values):
    mean = 0.0
    for count, value in enumerate(values, 1):
        mean += max(0.02, 1 / count) * (value - mean)
    return mean


def test_a_gain_is_the_mean_over_the_arms_and_the_old_ones_are_forgotten():
    learned = LearningCurves(2)
    for reward in (1.0, 2.0, 6.0):
        learned.learn(1, reward, 0.0, 0.0)
    assert learned.gains_to_best[1] == pytest.approx(3.0)
    for _ in range(1_000):
        learned.learn(1, 5.0, 0.0, 0.0)
    assert learned.gains_to_best[1] == pytest.approx(5.0)
    learned.learn(1, 6.0, 0.0, 0.0)
    assert learned.gains_to_best[1] == pytest.approx(5.02)


@pytest.mark.parametrize("seed", range(5))
def test_draws_about_one_value_are_seen_to_be_stationary_and_curves_are_not(seed):
    rng = np.random.default_rng(seed)
    for rewards, expected in ((stationary, True), (increasing, False)):
        learned = LearningCurves(10)
        for _ in range(10):
            train(learned, rewards(rng))
        assert learned.decide() == expected == learned.stationary


def test_a_view_is_held_until_the_next_decision():
    rng, learned = np.random.default_rng(0), LearningCurves(10)
    for _ in range(10):
        train(learned, stationary(rng))
    held = list(learned.corrections)
    assert not learned.stationary and any(held)
    assert learned.decide() and not learned.decide()
    train(learned, stationary(rng))
    assert learned.corrections == [0.0] * 11  # an arm is what its mean says
    assert any(learned.gains_to_best)
    for _ in range(100):
        train(learned, increasing(rng))
    assert learned.stationary and learned.corrections == [0.0] * 11
    assert learned.decide() and not learned.stationary
    assert learned.corrections[1] == pytest.approx(learned.gains_to_best[1]) and learned.corrections[1] > 0.3


def test_second_rewards_say_nothing_about_the_view():
    learned = LearningCurves(10)
    for reward in (5.0, -5.0, 3.0):
        learned.learn(1, reward, 0.0, 0.0)
    assert not learned.decide()


def test_with_one_slice_there_is_nothing_to_come():
    learned = LearningCurves(1)
    assert not learned.decide() and learned.corrections == learned.gains_to_best == [0.0, 0.0]


@pytest.mark.parametrize("rewards", [stationary, increasing])
def test_a_loaded_state_learns_on_as_the_original(rewards):
    rng, one, two = np.random.default_rng(0), LearningCurves(10), LearningCurves(10)
    for _ in range(10):
        train(one, rewards(rng))
    one.decide()
    two.load(one.state())
    for _ in range(10):
        assert (two.stationary, two.gains_to_best, two.corrections) == (one.stationary, one.gains_to_best, one.corrections)
        more = rewards(rng)
        train(one, more)
        train(two, more)
    assert two.decide() == one.decide()
    states = [json.dumps(learned.state(), default=lambda array: array.tolist()) for learned in (one, two)]
    assert states[0] == states[1]


@pytest.mark.parametrize("huge", [1e160, -1e160, 1e300, -1e300])
def test_a_reward_whose_square_is_no_number_is_learned_from_like_any_other(huge):
    learned = LearningCurves(3)
    train(learned, [0.0, 1.0, huge])
    assert all(math.isfinite(correction) for correction in learned.corrections)
    assert not learned.decide()
