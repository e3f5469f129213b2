"""AdaptiveMutantUCB finishes an arm early and then again and again, so that there is always one to recommend."""

import pytest

from manyarms import AdaptiveMutantUCB
from manyarms.strategies.surrogate import rules
from manyarms.testing import play

from .searches import WIDE, climb, whole


def finished_at(trainings, seed, workers=1, reward=climb, budget=None):
    """Whether an arm is fully trained when this many full trainings are spent."""
    search = AdaptiveMutantUCB(WIDE, budget=budget, max_steps=10, seed=seed)
    for _ in play(search, reward, workers):
        if search.ledger.spent >= 10 * trainings:
            break
    return bool(whole(search))


@pytest.mark.parametrize(("workers", "trainings"), [(1, 5.0), (4, 20.0)])
def test_after_five_full_trainings_an_arm_is_fully_trained_and_with_more_workers_later(workers, trainings):
    assert all(finished_at(trainings, seed, workers) for seed in range(10))


def test_without_the_rule_there_is_none_in_most_searches(monkeypatch):
    monkeypatch.setattr(rules, "may_finish_an_arm", lambda spent, workers, max_steps: False)
    assert sum(finished_at(5.0, seed) for seed in range(10)) < 5


def test_a_smaller_budget_has_its_fully_trained_arm_earlier():
    assert all(finished_at(budget / 10, seed, budget=budget) for seed in range(5) for budget in (10, 15, 30, 49))


def leaders(search, reward):
    """Each pull of the first 52 steps, and the arm that is being finished then."""
    found = []
    for pull, _ in play(search, reward):
        found.append((pull, search._leader))
        if search.ledger.spent >= 52:
            return found


def test_the_arm_that_is_finished_gets_its_pulls_in_a_row_and_is_recommended():
    search = AdaptiveMutantUCB(WIDE, max_steps=10, seed=1)
    finishing = [(pull.arm.id, leader, pull.stop) for pull, leader in leaders(search, climb) if leader is not None]
    assert finishing == [(10, 10, stop) for stop in range(5, 11)]
    assert search.best().id == 10


def test_an_arm_that_fails_while_it_is_finished_is_replaced():
    search = AdaptiveMutantUCB(WIDE, max_steps=10, seed=1)
    found = leaders(search, lambda pull: None if (pull.arm.id, pull.stop) == (10, 6) else climb(pull))
    assert 10 in search.ledger.failed and search.best().id != 10
    assert {leader for _, leader in found} > {10, None}
