"""Hyperband: the brackets of Li et al. 2018, algorithm 1, in turn and again."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from manyarms import Float, Hyperband, Space
from manyarms.strategies.hyperband import ladders
from manyarms.testing import play

SPACE = Space(x=Float(0, 1))

WRONG = {
    "no budget": ({"budget": 0}, ValueError, "budget must be at least 1, got 0"),
    "budget of True": ({"budget": True}, TypeError, "budget must be a whole number, got True"),
    "no steps": ({"max_steps": 0}, ValueError, "max_steps must be at least 1, got 0"),
    "eta of one": ({"eta": 1}, ValueError, "eta must be at least 2, got 1"),
    "float eta": ({"eta": 2.5}, TypeError, "eta must be a whole number, got 2.5"),
    "negative seed": ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
    "less than the first bracket": (
        {"budget": 20},
        ValueError,
        "budget must be at least 21, one bracket of 9 arms, cut at 1, 3",
    ),
}


def algorithm_1(max_steps, eta):
    """The sizes and steps of every bracket's rungs, with fractions instead of rounded logarithms and powers."""
    most = max(s for s in range(64) if eta**s <= max_steps)
    for s in range(most, -1, -1):
        n, r = math.ceil(Fraction(most + 1, s + 1) * eta**s), Fraction(max_steps, eta**s)
        yield [(math.floor(Fraction(n, eta**i)), math.floor(r * eta**i)) for i in range(s + 1)]


def noise(pull):
    return float(np.random.default_rng([pull.arm.id, pull.stop]).standard_normal())


def brackets(pulls):
    """The pulls of a single worker, as the sizes of each bracket's rungs by their steps."""
    groups = [(key, len(list(group))) for key, group in itertools.groupby((pull.start, pull.stop) for pull, _ in pulls)]
    for (start, stop), size in groups:
        if not start:
            bracket = []
        bracket.append((size, stop))
        if stop == groups[-1][0][1]:
            yield bracket


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(arguments, error, message):
    with pytest.raises(error) as raised:
        Hyperband(SPACE, **{"max_steps": 9, **arguments})
    assert message in str(raised.value)


@pytest.mark.parametrize("eta", range(2, 8))
def test_the_brackets_are_those_of_algorithm_1_for_any_length_of_training(eta):
    powers = {eta**power + more for power in range(1, 9) for more in (-1, 0, 1)}
    for max_steps in sorted({*range(1, 300), *powers}):
        made = [list(zip(ladder.sizes, ladder.stops, strict=True)) for ladder in ladders(max_steps, eta)]
        assert made == list(algorithm_1(max_steps, eta)), max_steps


@pytest.mark.parametrize(
    ("max_steps", "eta", "sizes"),
    [
        (81, 3, [81, 34, 15, 8, 5]),
        (243, 3, [243, 98, 41, 18, 9, 6]),  # in floats, log(243) / log(3) is 4.999...
        (242, 3, [81, 34, 15, 8, 5]),
        (1000, 10, [1000, 134, 20, 4]),
        (125, 5, [125, 34, 10, 4]),
        (10, 3, [9, 5, 3]),
        (2, 3, [1]),
        (1, 2, [1]),
    ],
)
def test_bracket_sizes(max_steps, eta, sizes):
    assert [ladder.sizes[0] for ladder in ladders(max_steps, eta)] == sizes


def test_brackets_come_in_turn_and_again():
    total = sum(ladder.steps for ladder in ladders(27, 3))
    search = Hyperband(SPACE, budget=2 * total + 81, max_steps=27, seed=0)
    cycle = list(algorithm_1(27, 3))
    assert list(brackets(play(search, noise))) == [*cycle, *cycle, cycle[0]] and search.ledger.left == 0


@pytest.mark.parametrize("workers", [1, 4, 50])
def test_what_is_left_goes_to_smaller_brackets(workers):
    search = Hyperband(SPACE, budget=21 + 20, max_steps=9, seed=0)  # the second bracket takes 21
    pulls = Counter((pull.start, pull.stop) for pull, _ in play(search, noise, workers))
    assert pulls == {(0, 1): 9, (1, 3): 3, (0, 3): 3, (3, 9): 2}
    assert [(phase.arms, phase.steps) for phase in search.plan()] == [(9, 21), (3, 15)] and search.ledger.left == 5


@pytest.mark.parametrize("workers", [1, 7, 64])
def test_only_the_best_of_a_bracket_are_promoted_from_where_they_stand(workers):
    search = Hyperband(SPACE, budget=297, max_steps=81, seed=0)
    told = {}
    for pull, reward in play(search, noise, workers):
        assert pull.start == (told[pull.arm.id][-1][0] if pull.start else 0)
        told.setdefault(pull.arm.id, []).append((pull.stop, reward))
    for stop, size in ((1, 27), (3, 9), (9, 3), (27, 1)):
        rung = {arm: dict(curve)[stop] for arm, curve in told.items() if stop in dict(curve)}
        assert {arm for arm in rung if told[arm][-1][0] > stop} == set(sorted(rung, key=rung.get)[-size:])
    assert search.ledger.steps[search.best().id] == 81


def test_a_free_worker_gets_an_arm_of_the_next_bracket():
    search = Hyperband(SPACE, max_steps=9, seed=0)
    assert [search.ask().stop for _ in range(9 + 5 + 3 + 1)] == [1] * 9 + [3] * 5 + [9] * 3 + [1]


def test_more_budget_goes_on_with_the_bracket_whose_turn_it_is():
    search = Hyperband(SPACE, budget=21, max_steps=9, seed=0)
    list(play(search, noise))
    search.ledger.budget = 42
    assert list(brackets(play(search, noise))) == [[(5, 3), (1, 9)]]


def test_the_plan_adds_up():
    plan = Hyperband(SPACE, budget=1_000, max_steps=9).plan()
    assert sum(phase.steps for phase in plan) <= 1_000 < sum(phase.steps for phase in plan) + 9
    assert [(phase.arms, phase.steps) for phase in Hyperband(SPACE, max_steps=9).plan()] == [(None, None)] * 3
