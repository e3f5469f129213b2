"""What AdaptiveMutantUCB is given: arguments it refuses, and a budget that it spends to the last training."""

import math

import pytest

from manyarms import AdaptiveMutantUCB
from manyarms.testing import play

from .searches import SPACE, finish, loss, whole

WRONG = {
    "no budget": ({"budget": 0}, ValueError, "budget must be at least 1, got 0"),
    "float budget": ({"budget": 100.0}, TypeError, "budget must be a whole number, got 100.0"),
    "budget of True": ({"budget": True}, TypeError, "budget must be a whole number, got True"),
    "no steps": ({"max_steps": 0}, ValueError, "max_steps must be at least 1, got 0"),
    "steps of None": ({"max_steps": None}, TypeError, "max_steps must be a whole number, got None"),
    "no arms": ({"initial": 0}, ValueError, "initial must be at least 1, got 0"),
    "float arms": ({"initial": 5.0}, TypeError, "initial must be a whole number, got 5.0"),
    "nan exploration": ({"exploration": math.nan}, ValueError, "exploration must be at least 0, got nan"),
    "negative exploration": ({"exploration": -0.1}, ValueError, "exploration must be at least 0, got -0.1"),
    "exploration in words": ({"exploration": "much"}, TypeError, "exploration must be a number, got 'much'"),
    "no slices": ({"slices": 0}, ValueError, "slices must be at least 1, got 0"),
    "float slices": ({"slices": 2.5}, TypeError, "slices must be a whole number, got 2.5"),
    "a surrogate of 1": ({"surrogate": 1}, TypeError, "surrogate must be True or False, got 1"),
    "negative seed": ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
    "no space": ({"space": "x"}, TypeError, "with the methods sample(rng) and mutate(config, rng), got 'x'"),
    "less than one training": (
        {"budget": 9, "max_steps": 10},
        ValueError,
        "budget must be at least 10, one full training of max_steps, got 9",
    ),
}


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(arguments, error, message):
    with pytest.raises(error) as raised:
        AdaptiveMutantUCB(**{"space": SPACE, **arguments})
    assert message in str(raised.value)


@pytest.mark.parametrize("max_steps", [1, 4, 10, 52])
@pytest.mark.parametrize("slices", [1, 3, 10])
def test_the_least_budget_trains_one_arm_to_the_end(max_steps, slices):
    search = AdaptiveMutantUCB(SPACE, budget=max_steps, max_steps=max_steps, slices=slices, seed=0)
    assert [pull.stop for pull, _ in play(search, loss)] == search.stops
    assert whole(search) == {0} and search.best().id == 0


def test_small_budgets_begin_with_few_arms():
    initial = [AdaptiveMutantUCB(SPACE, budget=budget, max_steps=10).initial for budget in (10, 13, 14, 30, 57, 58, 9999, None)]
    assert initial == [1, 1, 2, 10, 23, 24, 24, 24]
    assert AdaptiveMutantUCB(SPACE, budget=500, max_steps=100).initial == 20  # slices of ten steps


@pytest.mark.parametrize("workers", [1, 5, 64])
@pytest.mark.parametrize(
    ("budget", "max_steps", "slices"), [(10, 10, 10), (99, 7, 10), (300, 9, 2), (501, 52, 10), (80, 1, 10)]
)
def test_the_budget_is_never_exceeded_and_less_than_a_slice_is_left(budget, max_steps, slices, workers):
    search = AdaptiveMutantUCB(SPACE, budget=budget, max_steps=max_steps, slices=slices, seed=1)
    spent = 0
    for pull, _ in play(search, loss, workers):
        assert search.ledger.spent <= budget
        spent += pull.steps
        assert pull.stop in search.stops and pull.start in (0, *search.stops)
    longest = max(stop - start for start, stop in zip((0, *search.stops), search.stops, strict=False))
    assert budget - longest < spent == sum(search.ledger.steps) == search.ledger.spent <= budget
    assert max(search.ledger.steps) <= max_steps


def test_what_is_left_at_the_end_trains_the_best_arms_that_still_fit():
    search = AdaptiveMutantUCB(SPACE, budget=36, max_steps=6, initial=15, surrogate=False, seed=0)
    checked = 0
    while search.ledger.left >= 6:
        pull = search.ask()
        search.tell(pull, loss(pull))
    while able := [arm for arm, steps in enumerate(search.ledger.steps) if 0 < 6 - steps <= search.ledger.left]:
        pull = search.ask()
        assert pull.arm.id == max(able, key=search.priority)
        checked += len(able) > 1
        search.tell(pull, loss(pull))
    assert checked


def test_the_last_steps_train_the_best_arm_although_it_cannot_be_completed():
    search = AdaptiveMutantUCB(SPACE, budget=36, max_steps=6, initial=15, surrogate=False, seed=0)
    checked = 0
    while search.ledger.left:
        paused = [arm for arm, steps in enumerate(search.ledger.steps) if 0 < steps < 6]
        able = [arm for arm in paused if 6 - search.ledger.steps[arm] <= search.ledger.left]
        pull = search.ask()
        if search.ledger.left < 5 and not able:
            assert pull.arm.id == max(paused, key=search.priority)
            checked += 1
        search.tell(pull, loss(pull))
    assert checked and search.ask() is None


def test_more_budget_goes_on_with_the_search():
    search = AdaptiveMutantUCB(SPACE, budget=60, max_steps=5, seed=0)
    finish(search, loss)
    known, search.ledger.budget = len(search.ledger.arms), 200
    finish(search, loss)
    assert len(search.ledger.arms) > known + 20 and 196 <= search.ledger.spent <= 200


def test_the_plan_adds_up_to_the_budget():
    plan = AdaptiveMutantUCB(SPACE, budget=500, max_steps=10).plan()
    assert [phase.steps for phase in plan] == [24, 467, 9]
    assert [phase.steps for phase in AdaptiveMutantUCB(SPACE).plan()] == [24, None, None]
    assert [phase.steps for phase in AdaptiveMutantUCB(SPACE, budget=100, max_steps=100).plan()] == [10, 0, 90]
