"""The steady-state evolutionary algorithm: whole trainings, two children of two winners, the worst replaced."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyarms import Choice, Float, NoResult, RandomSearch, Space, SteadyStateEA
from manyarms.strategies.kit.ledger import Ledger
from manyarms.strategies.steady_state_ea import winner
from manyarms.testing import play

SPACE = Space(**{f"x{i}": Float(0, 1) for i in range(4)})


class Digits:
    """A space without crossover."""

    def sample(self, rng):
        return int(rng.integers(1000))

    def mutate(self, config, rng):
        return (config + 1 + int(rng.integers(9))) % 1000


class Parts:
    """A space whose configs show where they come from."""

    def __init__(self):
        self.made = 0

    def sample(self, rng):
        self.made += 1
        return f"s{self.made}"

    def mutate(self, config, rng):
        self.made += 1
        return f"m{self.made}({config})"

    def crossover(self, a, b, rng):
        return f"{a}+{b}"


WRONG = {
    "no budget": ({"budget": 0}, ValueError, "budget must be at least 1, got 0"),
    "no steps": ({"max_steps": 0}, ValueError, "max_steps must be at least 1, got 0"),
    "steps of None": ({"max_steps": None}, TypeError, "max_steps must be a whole number, got None"),
    "a population of one": ({"population": 1}, ValueError, "population must be at least 2, got 1"),
    "no population": ({"population": 0, "mutation_only": True}, ValueError, "population must be at least 1, got 0"),
    "float population": ({"population": 5.0}, TypeError, "population must be a whole number, got 5.0"),
    "no tournament": ({"tournament": 0}, ValueError, "tournament must be at least 1, got 0"),
    "mutation only of 1": ({"mutation_only": 1}, TypeError, "mutation_only must be True or False, got 1"),
    "negative seed": ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
    "less than the population": (
        {"budget": 99, "population": 10},
        ValueError,
        "budget must be at least 100, a population of 10 arms trained for max_steps=10 each; got 99",
    ),
    "less than two arms": ({"budget": 19}, ValueError, "budget must be at least 20, a population of 2 arms"),
}


def noise(pull):
    return float(np.random.default_rng(pull.arm.id).standard_normal())


def near(pull):
    return -float(np.mean([abs(value - 0.4) for value in pull.config.values()]))


def members(search):
    return {arm for _, _, arm in search._members}


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(arguments, error, message):
    with pytest.raises(error) as raised:
        SteadyStateEA(SPACE, **arguments)
    assert message in str(raised.value)


def test_a_space_that_cannot_cross_is_refused_with_the_way_on():
    with pytest.raises(
        ValueError, match=r"space must have crossover\(a, b, rng\), or mutation_only must be True; got .*Digits"
    ):
        SteadyStateEA(Digits(), budget=100)
    search = SteadyStateEA(Digits(), budget=100, max_steps=2, mutation_only=True, seed=0)
    assert all(len(pull.arm.parents) == 1 for pull, _ in list(play(search, noise))[search.population :])


@pytest.mark.parametrize("workers", [1, 5, 40])
def test_as_many_arms_as_the_budget_trains_each_in_one_pull(workers):
    search = SteadyStateEA(SPACE, budget=1_009, max_steps=10, seed=0)
    pulls = [pull for pull, _ in play(search, noise, workers)]
    assert sorted(pull.arm.id for pull in pulls) == list(range(100))
    assert all((pull.start, pull.stop) == (0, 10) for pull in pulls) and search.ledger.left == 9


def test_by_default_the_population_is_the_root_of_the_arms_that_are_trained():
    sizes = [SteadyStateEA(SPACE, budget=budget).population for budget in (20, 80, 99, 1_000, 10_000, None)]
    assert sizes == [2, 2, 3, 10, 31, 20]


def test_the_first_arms_are_random_and_the_others_children_of_two_members():
    search = SteadyStateEA(SPACE, budget=300, max_steps=3, population=8, seed=0)
    before, now = set(), set()  # the second child is of the same parents, one of which may just have been replaced
    for pull, _ in play(search, noise):
        if pull.arm.id < 8:
            assert pull.arm.parents == ()
        else:
            assert len(set(pull.arm.parents)) == 2 and set(pull.arm.parents) <= before | now
        before, now = now, members(search)
    assert len(search.ledger.arms) == 100


def test_two_parents_have_two_children_and_each_is_crossed_then_mutated():
    search = SteadyStateEA(Parts(), budget=100, max_steps=1, population=4, seed=0)
    arms = [pull.arm for pull, _ in play(search, noise)]
    assert [arm.config for arm in arms[:4]] == ["s1", "s2", "s3", "s4"]
    pairs = list(zip(arms[4::2], arms[5::2], strict=True))
    assert len(pairs) == 48 and all(one.parents == two.parents[::-1] for one, two in pairs)
    for arm in arms[4:]:
        a, b = (arms[parent].config for parent in arm.parents)
        assert arm.config == f"m{arm.id + 1}({a}+{b})"
    assert len({one.parents for one, _ in pairs}) > 10


@pytest.mark.parametrize("workers", [1, 7])
def test_a_child_better_than_the_worst_replaces_it_and_no_other_does(workers):
    search = SteadyStateEA(SPACE, budget=400, max_steps=2, population=10, seed=0)
    rewards, population = {}, set()
    for pull, reward in play(search, noise, workers):
        rewards[pull.arm.id] = reward
        worst = min(population, key=rewards.get, default=None)
        if len(population) < 10:
            population = population | {pull.arm.id}
        elif reward > rewards[worst]:
            population = population - {worst} | {pull.arm.id}
        assert members(search) == population
    assert population == set(sorted(rewards, key=rewards.get)[-10:])  # so the members are the best of all


def test_an_equal_child_does_not_replace_a_member():
    search = SteadyStateEA(SPACE, budget=100, max_steps=1, population=5, seed=0)
    list(play(search, lambda pull: 0.5))
    assert members(search) == set(range(5)) and search.best().id == 0


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=20), st.integers(1, 5), st.integers(0, 99), st.booleans())
def test_a_winner_is_a_member_and_never_the_rival(rewards, size, seed, rivalled):
    population = [(reward, 0.5, arm) for arm, reward in enumerate(rewards)]
    rival = seed % len(population) if rivalled else None
    place = winner(population, size, np.random.default_rng(seed), rival)
    assert place in range(len(population)) and place != rival


def test_the_larger_the_tournament_the_better_the_winner_and_of_one_all_win_evenly():
    population, rng = [(float(i), 0.5, i) for i in range(5)], np.random.default_rng(0)
    means = [np.mean([winner(population, size, rng) for _ in range(500)]) for size in (1, 2, 4, 30)]
    assert all(low < high for low, high in pairwise(means)) and means[-1] > 3.9
    counts = Counter(winner(population, 1, rng, rival=2) for _ in range(1_000))
    assert sorted(counts) == [0, 1, 3, 4] and min(counts.values()) > 190


def test_more_workers_than_parents_get_random_arms_rather_than_wait():
    search = SteadyStateEA(SPACE, budget=1_000, max_steps=10, population=4, seed=0)
    pulls = [search.ask() for _ in range(10)]
    assert all(pull.arm.parents == () for pull in pulls)
    search.tell(pulls[7], 0.5)
    assert search.ask().arm.parents == ()
    search.tell(pulls[3], 0.7)
    assert set(search.ask().arm.parents) == {3, 7}


def test_a_first_arm_that_failed_is_replaced_by_another_and_a_failed_child_is_forgotten():
    search = SteadyStateEA(SPACE, budget=200, max_steps=2, population=5, seed=0)
    told = list(play(search, lambda pull: None if pull.arm.id % 3 == 0 else noise(pull)))
    assert [pull.arm.id for pull, _ in told if not pull.arm.parents] == list(range(8))  # 0, 3 and 6 failed
    assert not any(parent % 3 == 0 for pull, _ in told for parent in pull.arm.parents)
    assert len(told) == 100


def test_the_largest_reward_is_recommended():
    search = SteadyStateEA(SPACE, budget=200, max_steps=2, seed=0)
    with pytest.raises(NoResult):
        search.best()
    rewards = {}
    for pull, reward in play(search, noise, workers=3):
        rewards[pull.arm.id] = reward
        assert search.best().id == max(rewards, key=rewards.get)
    order = sorted(rewards, key=search.priority)
    assert order == sorted(rewards, key=rewards.get)


@pytest.mark.parametrize("mutation_only", [False, True])
@pytest.mark.parametrize("workers", [1, 8])
def test_evolution_makes_it_better_than_random_search(mutation_only, workers):
    found = np.zeros(2)
    for seed in range(5):
        evolved = SteadyStateEA(SPACE, budget=300, max_steps=1, mutation_only=mutation_only, seed=seed)
        for i, search in enumerate((evolved, RandomSearch(SPACE, budget=300, seed=seed))):
            found[i] += max(reward for _, reward in play(search, near, workers)) / 5
    assert found[0] > 0.6 * found[1]  # of two numbers below 0


def test_a_warning_says_that_the_population_leaves_few_children():
    assert (
        "The first population of 8 random arms takes most of the 10 arms"
        in SteadyStateEA(SPACE, budget=100, population=8).warning()
    )
    assert SteadyStateEA(SPACE, budget=100, population=5).warning() is None
    assert SteadyStateEA(SPACE, budget=20).warning() is None and SteadyStateEA(SPACE).warning() is None


def test_the_plan_adds_up():
    plan = SteadyStateEA(SPACE, budget=1_009, population=20).plan()
    assert [(phase.arms, phase.steps) for phase in plan] == [(20, 200), (80, 800)]
    assert [phase.steps for phase in SteadyStateEA(SPACE, population=20).plan()] == [200, None]


def test_a_crossed_arm_has_two_parents_and_where_all_is_known_it_is_a_twin():
    ledger = Ledger(Space(c=Choice("a", "b")), None, 1, 0)
    for _ in range(2):
        ledger.settle(ledger.open(ledger.sample(), 1), 0.5)
    twin = ledger.crossed(0, 1)
    assert twin.id == 2 and twin.parents == (0, 1) and twin.config in ({"c": "a"}, {"c": "b"})
