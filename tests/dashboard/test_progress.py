"""The state and the speed of a study."""

from __future__ import annotations

import pytest

from manyarms.dashboard.progress import Speed, patience, state_of

CASES = {
    "nothing happened yet": ("waiting", {"events": 0, "is_known": False}),
    "an event arrived a moment ago": ("running", {}),
    "an event arrived a moment ago, and no pull is in flight": ("running", {"in_flight": 0}),
    "nothing arrived since it was opened": ("waiting", {"is_known": False}),
    "nothing arrived for long": ("interrupted", {"quiet": 61.0}),
    "nothing arrived for long, and the file is old": ("interrupted", {"quiet": 61.0, "is_known": False}),
    "the budget is spent": ("finished", {"in_flight": 0, "remaining": {"steps": 0}}),
    "the time is up": ("finished", {"in_flight": 0, "remaining": {"steps": 9, "seconds": 0}}),
    "the budget is spent, and pulls are in flight": ("running", {"remaining": {"steps": 0}}),
    "too little is left for a training": ("finished", {"in_flight": 0, "remaining": {"steps": 3}, "quiet": 6.0}),
    "too little is left, and it may continue": ("running", {"in_flight": 0, "remaining": {"steps": 3}}),
    "there is no budget": ("running", {"remaining": {}}),
    "there was no budget": ("interrupted", {"remaining": {}, "in_flight": 0, "quiet": 61.0}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_study_has_a_state(case):
    state, changes = CASES[case]
    usual = {
        "events": 9,
        "in_flight": 2,
        "remaining": {"steps": 50},
        "whole": 4,
        "quiet": 1.0,
        "patience": 60.0,
        "is_known": True,
    }
    assert state_of(**(usual | changes)) == state


def test_long_pulls_are_waited_for():
    assert patience(2, 3600.0) > 2 * 3600 and patience(0, 3600.0) == patience(2, 1.0) == 60


def test_the_speed_is_that_of_the_last_minute():
    speed = Speed()
    assert speed.steps_per_second is None
    speed.observe(0.0, 100)
    assert speed.steps_per_second is None
    speed.observe(10.0, 120)
    assert speed.steps_per_second == 2
    for second in range(20, 200, 10):
        speed.observe(float(second), 120 + 5 * (second - 10))
    assert speed.steps_per_second == 5
    for second in range(200, 300, 10):
        speed.observe(float(second), 1065)
    assert speed.steps_per_second is None
