"""What arms should become: the rung corrections by hand, and the view that holds."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyarms.strategies.surrogate.learning_curve import Outlook, gain, rung_stops

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


def train(outlook, rewards):
    """Tell it of one arm, reward by reward."""
    for rung in range(1, len(rewards)):
        outlook.learn(rung, rewards[rung], rewards[rung - 1], float(np.mean(rewards[:rung])))


def rising(rng, rungs=10, noise=0.01):
    """Near its limit, geometrically."""
    curve = rng.uniform(0.5, 1) * (1 - 0.7 ** np.arange(1, rungs + 1))
    return (curve + noise * rng.standard_normal(rungs)).tolist()


def level(rng, rungs=10, noise=0.1):
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
    assert rung_stops(max_steps, slices) == stops


@given(st.integers(1, 10_000), st.integers(1, 100))
def test_slices_are_nearly_equal_and_end_with_the_training(max_steps, slices):
    stops = rung_stops(max_steps, slices)
    lengths = np.diff([0, *stops])
    assert len(stops) == min(slices, max_steps) and stops[-1] == max_steps
    assert lengths.min() >= 1 and lengths.max() - lengths.min() <= 1


def test_the_newest_reward_weighs_two_fifths_at_least():
    assert [gain(number) for number in (1, 2, 3, 4, 100)] == [1.0, 0.5, 0.4, 0.4, 0.4]


def test_the_corrections_are_the_weighted_gains_to_come():
    outlook = Outlook(5)
    train(outlook, [0.0, 8.0, 12.0, 14.0, 15.0])  # the gains are 8, 4, 2 and 1
    to_come = np.array([15.0, 7.0, 3.0, 1.0, 0.0])  # after rung 1, 2, ..
    assert outlook.to_best[1:] == to_come.tolist()
    assert outlook.corrections == pytest.approx([0.0, *(WEIGHTS @ to_come)])
    assert outlook.corrections[2:4] == pytest.approx([11.0, 0.3 * 15 + 0.3 * 7 + 0.4 * 3])


def test_arms_on_one_curve_have_one_score_whatever_their_rung():
    outlook, rewards = Outlook(5), [0.0, 8.0, 12.0, 14.0, 15.0]
    train(outlook, rewards)
    scores = [WEIGHTS[rung] @ rewards + outlook.corrections[rung + 1] for rung in range(5)]
    assert scores == pytest.approx([15.0] * 5)


@given(CURVES)
def test_whatever_was_learned_the_corrections_lead_to_the_best_reward_from_there_on(curves):
    outlook = Outlook(5)
    increments = [[] for _ in range(5)]
    for rewards in curves:
        train(outlook, rewards)
        for rung in range(1, len(rewards)):
            increments[rung].append(rewards[rung] - rewards[rung - 1])
    means = [drifting_mean(values) for values in increments]
    to_end = np.array([sum(means[rung:]) for rung in range(1, 6)])
    to_best = [max(sum(means[rung:end]) for end in range(rung, 6)) for rung in range(1, 6)]
    assert outlook.to_best[1:] == pytest.approx(to_best, abs=1e-9)
    assert outlook.corrections[1:] == pytest.approx(WEIGHTS @ to_end + to_best - to_end, abs=1e-9)


def test_arms_on_one_curve_that_turns_have_one_score_until_it_does():
    outlook, rewards = Outlook(5), [0.0, 8.0, 12.0, 5.0, 1.0]
    train(outlook, rewards)
    scores = [WEIGHTS[rung] @ rewards + outlook.corrections[rung + 1] for rung in range(5)]
    assert scores == pytest.approx([12.0, 12.0, 12.0, 5.0, 1.0])


def drifting_mean(values):
    mean = 0.0
    for count, value in enumerate(values, 1):
        mean += max(0.02, 1 / count) * (value - mean)
    return mean


def test_a_gain_is_the_mean_over_the_arms_and_the_old_ones_are_forgotten():
    outlook = Outlook(2)
    for reward in (1.0, 2.0, 6.0):
        outlook.learn(1, reward, 0.0, 0.0)
    assert outlook.to_best[1] == pytest.approx(3.0)
    for _ in range(1_000):
        outlook.learn(1, 5.0, 0.0, 0.0)
    assert outlook.to_best[1] == pytest.approx(5.0)
    outlook.learn(1, 6.0, 0.0, 0.0)
    assert outlook.to_best[1] == pytest.approx(5.02)


@pytest.mark.parametrize("seed", range(5))
def test_draws_about_one_value_are_seen_to_be_level_and_curves_are_not(seed):
    rng = np.random.default_rng(seed)
    for rewards, expected in ((level, True), (rising, False)):
        outlook = Outlook(10)
        for _ in range(10):
            train(outlook, rewards(rng))
        assert outlook.decide() == expected == outlook.level


def test_a_view_is_held_until_the_next_decision():
    rng, outlook = np.random.default_rng(0), Outlook(10)
    for _ in range(10):
        train(outlook, level(rng))
    held = list(outlook.corrections)
    assert not outlook.level and any(held)
    assert outlook.decide() and not outlook.decide()
    train(outlook, level(rng))
    assert outlook.corrections == [0.0] * 11  # an arm is what its mean says
    assert any(outlook.to_best)
    for _ in range(100):
        train(outlook, rising(rng))
    assert outlook.level and outlook.corrections == [0.0] * 11
    assert outlook.decide() and not outlook.level
    assert outlook.corrections[1] == pytest.approx(outlook.to_best[1]) and outlook.corrections[1] > 0.3


def test_second_rewards_say_nothing_about_the_view():
    outlook = Outlook(10)
    for reward in (5.0, -5.0, 3.0):
        outlook.learn(1, reward, 0.0, 0.0)
    assert not outlook.decide()


def test_with_one_slice_there_is_nothing_to_come():
    outlook = Outlook(1)
    assert not outlook.decide() and outlook.corrections == outlook.to_best == [0.0, 0.0]


@pytest.mark.parametrize("rewards", [level, rising])
def test_a_loaded_outlook_learns_on_as_the_original(rewards):
    rng, one, two = np.random.default_rng(0), Outlook(10), Outlook(10)
    for _ in range(10):
        train(one, rewards(rng))
    one.decide()
    two.load(one.state())
    for _ in range(10):
        assert (two.level, two.to_best, two.corrections) == (one.level, one.to_best, one.corrections)
        more = rewards(rng)
        train(one, more)
        train(two, more)
    assert two.decide() == one.decide()
    states = [json.dumps(outlook.state(), default=lambda array: array.tolist()) for outlook in (one, two)]
    assert states[0] == states[1]


@pytest.mark.parametrize("huge", [1e160, -1e160, 1e300, -1e300])
def test_a_reward_whose_square_is_no_number_is_learned_from_like_any_other(huge):
    outlook = Outlook(3)
    train(outlook, [0.0, 1.0, huge])
    assert all(math.isfinite(correction) for correction in outlook.corrections)
    assert not outlook.decide()
