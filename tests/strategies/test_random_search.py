"""Random search: T/N random arms, each fully trained in one pull."""

import numpy as np
import pytest

from manyarms import Choice, Float, NoResult, RandomSearch, Space
from manyarms.testing import play

SPACE = Space(x=Float(0, 1))

WRONG = {
    "no budget": ({"budget": 0}, ValueError, "budget must be at least 1, got 0"),
    "negative budget": ({"budget": -5}, ValueError, "budget must be at least 1, got -5"),
    "float budget": ({"budget": 10.0}, TypeError, "budget must be a whole number, got 10.0"),
    "budget of True": ({"budget": True}, TypeError, "budget must be a whole number, got True"),
    "no steps": ({"max_steps": 0}, ValueError, "max_steps must be at least 1, got 0"),
    "steps of None": ({"max_steps": None}, TypeError, "max_steps must be a whole number, got None"),
    "negative seed": ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
    "less than one training": ({"budget": 9, "max_steps": 10}, ValueError, "budget must be at least 10, one full training"),
}


def quality(pull):
    return -abs(pull.config["x"] - 0.3)


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(arguments, error, message):
    with pytest.raises(error) as raised:
        RandomSearch(SPACE, **arguments)
    assert message in str(raised.value)


def test_what_is_no_space_is_refused():
    with pytest.raises(TypeError, match="or an object with the methods sample"):
        RandomSearch([("x", (0, 1))])


@pytest.mark.parametrize("workers", [1, 7])
def test_as_many_arms_as_whole_trainings_fit_into_the_budget(workers):
    search = RandomSearch(SPACE, budget=1_009, max_steps=10, seed=0)
    pulls = [pull for pull, _ in play(search, quality, workers)]
    assert sorted(pull.arm.id for pull in pulls) == list(range(100))
    assert all((pull.start, pull.stop, pull.arm.parents) == (0, 10, ()) for pull in pulls)
    assert search.ledger.left == 9


def test_the_arms_are_what_the_space_samples_from_the_seed():
    search, rng = RandomSearch(SPACE, budget=20, seed=7), np.random.default_rng(7)
    assert [pull.config for pull, _ in play(search, quality)] == [SPACE.sample(rng) for _ in range(20)]


def test_the_best_reward_is_recommended_and_of_equal_ones_the_first():
    search = RandomSearch(SPACE, budget=50, seed=0)
    with pytest.raises(NoResult):
        search.best()
    told = list(play(search, quality, workers=5))
    assert search.best() == max(told, key=lambda row: row[1])[0].arm
    equal = RandomSearch(SPACE, budget=5, seed=0)
    assert [equal.best().id for _ in play(equal, lambda pull: 0.5)] == [0] * 5


def test_rewards_of_any_size_and_sign_are_compared():
    search = RandomSearch(SPACE, budget=3, seed=0)
    rewards = [-1e300, -7.0, -1e308]
    assert [search.best().id for _ in play(search, lambda pull: rewards[pull.arm.id])] == [0, 1, 1]


def test_where_the_space_is_used_up_configs_come_again_as_new_arms():
    search = RandomSearch(Space(c=Choice("a", "b")), budget=30, max_steps=3, seed=0)
    configs = [pull.config["c"] for pull, _ in play(search, lambda pull: 0.5)]
    assert len(configs) == 10 and set(configs[:2]) == {"a", "b"}


def test_the_plan_says_what_is_spent():
    (phase,) = RandomSearch(SPACE, budget=25, max_steps=10).plan()
    assert (phase.arms, phase.steps) == (2, 20)
    (phase,) = RandomSearch(SPACE, max_steps=10).plan()
    assert (phase.arms, phase.steps) == (None, None)
