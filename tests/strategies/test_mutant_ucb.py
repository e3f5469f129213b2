"""Mutant-UCB decides as algorithm 2 of the paper does, and keeps its promises beyond it."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyarms import Float, Int, MutantUCB, NoResult, RandomSearch, Space
from manyarms.strategies.mutant_ucb import exponential, linear, upper_bound
from manyarms.testing import play

SPACE = Space(x=Float(0, 1), y=Float(0, 1))
WIDE = Space(**{f"x{i}": Float(0, 1) for i in range(6)})

WRONG = {
    "no budget": ({"budget": 0}, ValueError, "budget must be at least 1, got 0"),
    "negative budget": ({"budget": -5}, ValueError, "budget must be at least 1, got -5"),
    "float budget": ({"budget": 100.0}, TypeError, "budget must be a whole number, got 100.0"),
    "budget of True": ({"budget": True}, TypeError, "budget must be a whole number, got True"),
    "no steps": ({"max_steps": 0}, ValueError, "max_steps must be at least 1, got 0"),
    "steps of None": ({"max_steps": None}, TypeError, "max_steps must be a whole number, got None"),
    "no arms": ({"initial": 0}, ValueError, "initial must be at least 1, got 0"),
    "float arms": ({"initial": 5.0}, TypeError, "initial must be a whole number, got 5.0"),
    "nan exploration": ({"exploration": math.nan}, ValueError, "exploration must be at least 0, got nan"),
    "negative exploration": ({"exploration": -0.1}, ValueError, "exploration must be at least 0, got -0.1"),
    "exploration in words": ({"exploration": "much"}, TypeError, "exploration must be a number, got 'much'"),
    "unknown probability": (
        {"train_probability": "cubic"},
        ValueError,
        "train_probability must be one of 'linear', 'exponential', got 'cubic'",
    ),
    "a number as probability": ({"train_probability": 0.5}, ValueError, "train_probability must be one of"),
    "negative seed": ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
    "less than one training": ({"budget": 9, "max_steps": 10}, ValueError, "budget must be at least 10: "),
    "less than the first arms": (
        {"budget": 28, "initial": 20},
        ValueError,
        "budget must be at least 29: one step for each of 20",
    ),
}


def algorithm_2(space, reward, *, budget, max_steps, initial, exploration, probability, seed):
    """The paper's algorithm by plain scans: what is trained, as (arm, parents, config, sub-trains before).

    It draws from the generator as `MutantUCB` does: a number against ties whenever an index changes, one to train or mutate.
    """
    rng = np.random.default_rng(seed)
    models, trained, chosen, sums, ties = [], [], [], [], []

    def new(config, parents):
        for column, first in ((models, (parents, config)), (trained, 0), (chosen, 0), (sums, 0.0), (ties, None)):
            column.append(first)
        return train(len(models) - 1)

    def train(k):
        pull = k, *models[k], trained[k]
        if trained[k]:
            ties[k] = rng.random()
        trained[k] += 1
        chosen[k] += 1
        sums[k] += reward(k, trained[k])
        ties[k] = rng.random()
        return pull

    def mean(k):
        return sums[k] / trained[k]

    for _ in range(initial):
        yield new(space.sample(rng), ())
    for _ in range(initial + 1, budget - max_steps + 2):
        k = max(range(len(models)), key=lambda k: (mean(k) + math.sqrt(exploration / chosen[k]), -ties[k]))
        if rng.random() < probability(trained[k], max_steps):
            yield train(k)
        else:
            chosen[k] += 1
            ties[k] = rng.random()
            yield new(space.mutate(models[k][1], rng), (k,))
    best = max(range(len(models)), key=mean)
    while trained[best] < max_steps:
        yield train(best)


def coarse(arm, step):
    """A reward with many ties."""
    return int(np.random.default_rng([arm, step]).integers(9)) / 8


def smooth(arm, step):
    return np.random.default_rng([arm, step]).random()


def world(gain, pace):
    """Accuracies that near their limit geometrically; the limit is smooth in the config, so mutants are like their parents."""

    def reward(pull):
        limit = 0.8 - 0.6 * np.mean([abs(value - 0.5) for value in pull.config.values()])
        noise = np.random.default_rng([pull.arm.id, pull.stop]).standard_normal()
        return float(np.clip(limit * (1 - gain * pace**pull.stop) + 0.01 * noise, 0, 1))

    return reward


FAST, SLOW = world(0.2, 0.4), world(0.5, 0.7)


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(arguments, error, message):
    with pytest.raises(error) as raised:
        MutantUCB(SPACE, **arguments)
    assert message in str(raised.value)


def test_the_budget_that_the_message_names_is_enough():
    search = MutantUCB(SPACE, budget=29, max_steps=10, initial=20, seed=0)
    for _ in play(search, FAST):
        pass
    assert search.ledger.steps[search.best().id] == 10 and len(search.ledger.arms) == 20


@given(st.floats(0, 1), st.integers(1, 1000), st.floats(0, 10))
def test_the_upper_bound_is_equation_3(mean, chosen, exploration):
    bound = upper_bound(mean, chosen, exploration)
    assert bound == mean + math.sqrt(exploration / chosen)
    assert bound >= upper_bound(mean, chosen + 1, exploration) >= mean


@pytest.mark.parametrize("probability", [linear, exponential])
def test_the_probability_to_train_falls_to_none_at_the_end(probability):
    values = [probability(trained, 10) for trained in range(1, 11)]
    assert values == sorted(values, reverse=True) and values[-1] == 0 and all(0 <= value < 1 for value in values)


def test_the_probabilities_are_those_of_the_paper():
    assert [linear(trained, 4) for trained in range(1, 5)] == [0.75, 0.5, 0.25, 0]
    assert exponential(9, 10) == 1 - math.exp(-1) and exponential(1, 10) == 1 - math.exp(-9)


@pytest.mark.parametrize("reward", [coarse, smooth])
@pytest.mark.parametrize(
    ("budget", "max_steps", "initial", "exploration", "probability"),
    [
        (400, 4, 20, 0.05, linear),
        (400, 4, 20, 0.05, exponential),
        (400, 4, 1, 0.05, linear),
        (400, 4, 20, 0.0, linear),
        (400, 4, 20, 5.0, linear),
        (200, 1, 20, 0.05, linear),
        (23, 4, 20, 0.05, linear),
        (200, 2, 150, 0.05, exponential),
    ],
)
def test_every_decision_is_that_of_algorithm_2(reward, budget, max_steps, initial, exploration, probability):
    settings = {"budget": budget, "max_steps": max_steps, "initial": initial, "exploration": exploration}
    for seed in range(3):
        search = MutantUCB(SPACE, **settings, train_probability=probability, seed=seed)
        pulls = [pull for pull, _ in play(search, lambda pull: reward(pull.arm.id, pull.stop))]
        expected = algorithm_2(SPACE, reward, **settings, probability=probability, seed=seed)
        assert [(pull.arm.id, pull.arm.parents, pull.config, pull.start) for pull in pulls] == list(expected)
        assert all(pull.steps == 1 for pull in pulls)


def test_ties_are_broken_evenly():
    firsts = Counter()
    for seed in range(300):
        search = MutantUCB(SPACE, budget=50, initial=3, train_probability=lambda trained, most: 1.0, seed=seed)
        pulls = [pull.arm.id for pull, _ in itertools.islice(play(search, lambda pull: 0.5), 4)]
        firsts[pulls[3]] += 1
    assert set(firsts) == {0, 1, 2} and min(firsts.values()) > 70


@pytest.mark.parametrize(("initial", "fewest", "most"), [(1000, 2_900, 3_900), (500, 2_400, 3_300)])
def test_ten_thousand_steps_test_about_as_many_models_as_in_the_paper(initial, fewest, most):
    search = MutantUCB(WIDE, budget=10_000, max_steps=10, initial=initial, exploration=0.05, seed=0)
    for _ in play(search, FAST):
        pass
    steps = search.ledger.steps
    assert fewest < len(search.ledger.arms) < most  # paper: about 3,400, and 2,828 with 500 first arms
    assert 9_991 <= sum(steps) == search.ledger.spent <= 10_000
    assert max(steps) == 10 == steps[search.best().id]
    assert search.warning() is None


def test_the_trap_of_slow_curves_is_shown_to_the_user():
    search = MutantUCB(WIDE, budget=3_000, max_steps=10, seed=0)
    for _ in play(search, SLOW):
        pass
    assert len(search.ledger.arms) > 1_500
    assert f"{len(search.ledger.arms)} arms for 3000 steps" in search.warning()


@pytest.mark.parametrize("max_steps", [1, 2, 3, 5])
def test_short_trainings_on_fast_curves_raise_no_alarm(max_steps):
    search = MutantUCB(WIDE, budget=1_000, max_steps=max_steps, seed=0)
    for _ in play(search, FAST):
        pass
    assert search.warning() is None


def test_pulls_in_flight_count_as_choices_of_the_arm():
    search = MutantUCB(SPACE, budget=100, initial=1, exploration=0.05, train_probability=lambda trained, most: 0.0, seed=0)
    search.tell(search.ask(), 0.5)
    for chosen in range(1, 6):
        assert search.priority(0) == upper_bound(0.5, chosen, 0.05)
        assert search.ask().arm.parents == (0,)
    training = MutantUCB(SPACE, budget=100, initial=1, exploration=0.05, train_probability=lambda trained, most: 1.0, seed=0)
    training.tell(training.ask(), 0.5)
    training.ask()
    assert training.priority(0) == upper_bound(0.5, 2, 0.05)


def test_an_arm_in_training_can_be_mutated_but_not_trained():
    probabilities = iter([1.0, 0.0, 1.0, 1.0])
    search = MutantUCB(SPACE, budget=100, initial=1, train_probability=lambda trained, most: next(probabilities), seed=0)
    first = search.ask()
    search.tell(first, 0.5)
    training, mutant, fresh = search.ask(), search.ask(), search.ask()
    assert (training.arm, training.start) == (first.arm, 1)
    assert mutant.arm.parents == (0,) and (mutant.arm.id, mutant.start) == (1, 0)
    assert fresh.arm.parents == () and (fresh.arm.id, fresh.start) == (2, 0)
    search.tell(training, 0.5)
    assert (again := search.ask()).arm == first.arm and again.start == 2


@pytest.mark.parametrize("workers", [4, 64])
def test_workers_spread_over_arms_and_the_result_stays_near(workers):
    found = []
    for count in (1, workers):
        search = MutantUCB(WIDE, budget=2_000, max_steps=10, seed=1)
        for _ in play(search, FAST, count):
            pass
        found.append(np.mean([abs(value - 0.5) for value in search.best().config.values()]))
    assert found[1] < found[0] + 0.03


def test_mutants_make_it_better_than_random_search():
    found = np.zeros(2)
    for seed in range(5):
        for i, strategy in enumerate((MutantUCB, RandomSearch)):
            search = strategy(WIDE, budget=1_000, max_steps=10, seed=seed)
            for _ in play(search, FAST):
                pass
            found[i] += np.mean([abs(value - 0.5) for value in search.best().config.values()]) / 5
    assert found[0] < 0.75 * found[1]


def test_a_probability_that_never_reaches_zero_trains_no_arm_past_the_end():
    search = MutantUCB(SPACE, budget=200, max_steps=3, initial=2, train_probability=lambda trained, most: 1.0, seed=0)
    assert max(pull.stop for pull, _ in play(search, FAST, workers=3)) == 3
    assert len(search.ledger.arms) > 50


def test_an_arm_that_failed_is_neither_trained_nor_mutated_nor_recommended():
    search = MutantUCB(SPACE, budget=100, max_steps=5, initial=4, seed=0)
    failed = set()
    for pull, reward in play(search, lambda pull: None if pull.arm.id < 2 and pull.start == 1 else 0.9 - 0.001 * pull.arm.id):
        assert pull.arm.id not in failed
        assert pull.start or not failed.intersection(pull.arm.parents)
        failed |= {pull.arm.id} if reward is None else set()
        assert search.best().id not in failed
    assert failed == {0, 1}


def test_a_finalist_that_fails_is_replaced_by_the_next_best():
    search = MutantUCB(SPACE, budget=12, max_steps=5, initial=8, seed=0)
    rewards = [0.1, 0.9, 0.2, 0.8, 0.3, 0.1, 0.1, 0.1]
    pulls = list(play(search, lambda pull: None if (pull.arm.id, pull.start) == (1, 2) else rewards[pull.arm.id]))
    assert [(pull.arm.id, pull.start) for pull, _ in pulls[8:]] == [(1, 1), (1, 2), (3, 1), (3, 2)]
    assert search.best().id == 3


def test_where_every_first_arm_fails_fresh_ones_are_drawn_to_the_end():
    search = MutantUCB(SPACE, budget=20, max_steps=5, initial=8, seed=0)
    pulls = list(play(search, lambda pull: 0.5 if pull.arm.id == 18 else None))
    assert [pull.arm.id for pull, _ in pulls] == [*range(19), 18]
    assert all(pull.arm.parents == () for pull, _ in pulls) and search.best().id == 18


def test_before_any_reward_there_is_nothing_to_recommend():
    search = MutantUCB(SPACE, budget=20, max_steps=5, initial=2, seed=0)
    with pytest.raises(NoResult):
        search.best()
    search.ask()
    with pytest.raises(NoResult):
        search.best()


def test_more_budget_begins_a_new_search_for_the_arm_to_finish():
    search = MutantUCB(SPACE, budget=60, max_steps=5, initial=10, seed=0)
    for _ in play(search, lambda pull: 0.2):
        pass
    first, known = search.best(), len(search.ledger.arms)
    search.ledger.budget = 120
    assert search.best() == first
    for _ in play(search, lambda pull: 0.9 if pull.arm.id >= known else 0.2):
        pass
    assert search.best().id >= known and search.ledger.steps[search.best().id] == 5
    assert 116 <= search.ledger.spent <= 120


def test_a_config_met_again_is_trained_on_instead():
    search = MutantUCB(Space(n=Int(1, 4)), budget=60, max_steps=10, initial=4, seed=0)
    pulls = [pull for pull, _ in play(search, lambda pull: 0.5)]
    assert len({pull.arm.id for pull in pulls[:20]}) == len({pull.config["n"] for pull in pulls[:20]}) == 4


def test_by_default_a_twentieth_of_the_budget_goes_to_first_arms():
    assert [MutantUCB(SPACE, budget=budget).initial for budget in (10, 20, 500, 10_000, None)] == [1, 1, 25, 500, 50]


def test_the_plan_adds_up_to_the_budget():
    plan = MutantUCB(SPACE, budget=500, max_steps=10, initial=50).plan()
    assert [phase.steps for phase in plan] == [50, 441, 9] and sum(phase.steps for phase in plan) == 500
    assert [phase.steps for phase in MutantUCB(SPACE).plan()] == [50, None, None]
