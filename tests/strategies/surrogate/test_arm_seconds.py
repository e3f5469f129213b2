"""How long arms take, and what this costs them."""

import numpy as np
import pytest

from manyarms.strategies.surrogate import rules
from manyarms.strategies.surrogate.arm_seconds import ArmSeconds

POINTS = np.random.default_rng(0).random((40, 3))


def timed(points=POINTS):
    """Each arm takes a second, doubled twice along the first coordinate."""
    seconds = ArmSeconds()
    for arm, point in enumerate(points):
        seconds.add(arm, 5, 5 * 4 ** point[0])
    return seconds


def test_twice_the_time_costs_a_tenth_of_a_spread():
    assert rules.slowness_penalty(40.0, 10) - rules.slowness_penalty(20.0, 10) == pytest.approx(rules.SLOWNESS_WEIGHT)
    assert rules.slowness_penalty(0.0, 10) == rules.slowness_penalty(1e-6, 10)  # too fast to matter


def test_the_pulls_of_an_arm_are_added_up():
    seconds = ArmSeconds()
    assert not seconds and seconds.penalty(3) == 0.0
    seconds.add(3, 1, 1.0)
    seconds.add(3, 3, 15.0)
    assert seconds and seconds.penalty(3) == rules.slowness_penalty(16.0, 4) and seconds.penalty(2) == 0.0


def test_the_time_of_a_new_config_is_predicted_from_its_coordinates():
    predicted = timed().predicted_penalties(np.array([[0.0, 0.5, 0.5], [1.0, 0.5, 0.5], [1.0, 0.0, 1.0]]), POINTS)
    assert predicted[1] - predicted[0] == pytest.approx(2 * rules.SLOWNESS_WEIGHT, rel=0.3)
    assert predicted[2] == pytest.approx(predicted[1], abs=0.2 * rules.SLOWNESS_WEIGHT)


def test_what_it_learned_can_be_restored():
    made, other = timed(), ArmSeconds()
    expected = made.predicted_penalties(POINTS[:5], POINTS)
    other.load(made.state())
    assert other.predicted_penalties(POINTS[:5], POINTS).tolist() == expected.tolist()
    assert [other.penalty(arm) for arm in range(40)] == [made.penalty(arm) for arm in range(40)]
    other.load(ArmSeconds().state())
    assert not other
