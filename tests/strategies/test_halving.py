"""Successive halving: whole brackets, promotions from the checkpoint, and no step that is not in the budget."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyarms import Choice, Float, NoResult, Space, SuccessiveHalving
from manyarms.strategies.kit.bracket import Ladder, halvings, survivors
from manyarms.strategies.kit.ledger import Ledger
from manyarms.testing import play

SPACE = Space(x=Float(0, 1))

WRONG = {
    "no budget": ({"budget": 0}, ValueError, "budget must be at least 1, got 0"),
    "float budget": ({"budget": 100.0}, TypeError, "budget must be a whole number, got 100.0"),
    "no steps": ({"max_steps": 0}, ValueError, "max_steps must be at least 1, got 0"),
    "steps of None": ({"max_steps": None}, TypeError, "max_steps must be a whole number, got None"),
    "eta of one": ({"eta": 1}, ValueError, "eta must be at least 2, got 1"),
    "float eta": ({"eta": 3.0}, TypeError, "eta must be a whole number, got 3.0"),
    "no first steps": ({"min_steps": 0}, ValueError, "min_steps must be at least 1, got 0"),
    "first steps beyond the last": ({"min_steps": 10}, ValueError, "min_steps must be at most max_steps=9, got 10"),
    "no arms": ({"initial": 0}, ValueError, "initial must be at least 1, got 0"),
    "negative seed": ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
    "less than a bracket": (
        {"budget": 20},
        ValueError,
        "budget must be at least 21, one bracket of 9 arms, cut at 1, 3 of 9 steps; got 20",
    ),
    "less than its arms": (
        {"budget": 17, "initial": 2},
        ValueError,
        "budget must be at least 18, one bracket of 2 arms, fully trained",
    ),
}

SETTINGS = [
    {"budget": 21, "max_steps": 9},
    {"budget": 200, "max_steps": 9},
    {"budget": 500, "max_steps": 10},
    {"budget": 500, "max_steps": 50, "min_steps": 2},
    {"budget": 300, "max_steps": 16, "eta": 2, "min_steps": 3},
    {"budget": 300, "max_steps": 9, "initial": 30},
    {"budget": 300, "max_steps": 9, "initial": 4},
    {"budget": 100, "max_steps": 9, "initial": 1},
    {"budget": 1_000, "max_steps": 64, "eta": 4},
    {"budget": 50, "max_steps": 5, "min_steps": 5},
]


def halving(*, budget, max_steps, reward, eta=3, min_steps=1, initial=None):
    """One bracket after another, read from the docstring: what is trained, as (arm, start, stop)."""
    rungs = [max_steps]
    while rungs[0] // eta >= min_steps:
        rungs.insert(0, rungs[0] // eta)
    n = initial or eta ** (len(rungs) - 1)
    while eta ** (len(rungs) - 1) > n:
        rungs.pop(0)
    smaller = [(eta ** (len(rungs) - 1 - i), rungs[i:]) for i in range(len(rungs))]
    arms = 0
    while True:
        fitting = [(n, stops) for n, stops in [(n, rungs), *smaller] if cost(n, stops, eta) <= budget]
        if not fitting:
            return
        size, stops = fitting[0]
        field, arms = list(range(arms, arms + size)), arms + size
        for start, stop in zip([0, *stops], stops, strict=False):
            told = {}
            for arm in field:
                yield arm, start, stop
                budget -= stop - start
                told[arm] = reward(arm, stop)
            size //= eta
            field = sorted((arm for arm in told if told[arm] is not None), key=told.get, reverse=True)[:size]


def cost(n, stops, eta):
    return sum(n // eta**i * (stop - start) for i, (start, stop) in enumerate(zip([0, *stops], stops, strict=False)))


def noise(arm, step):
    return float(np.random.default_rng([arm, step]).standard_normal())


def failing(arm, step):
    return None if noise(arm, step + 1_000) > 0.7 else noise(arm, step)


def rows(pulls):
    return [(pull.arm.id, pull.start, pull.stop) for pull, _ in pulls]


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(arguments, error, message):
    with pytest.raises(error) as raised:
        SuccessiveHalving(SPACE, **{"max_steps": 9, **arguments})
    assert message in str(raised.value)


@given(st.integers(1, 10**12), st.integers(2, 12), st.integers(1, 50))
def test_the_rungs_are_counted_in_whole_numbers(most, eta, least):
    count = halvings(most + least, eta, least)
    assert least * eta**count <= most + least < least * eta ** (count + 1)


@pytest.mark.parametrize("eta", range(2, 13))
def test_no_rung_is_lost_at_exact_powers(eta):
    for power in range(1, 12):
        assert halvings(eta**power, eta) == power
        assert halvings(eta**power - 1, eta) == power - 1
        assert halvings(7 * eta**power, eta, least=7) == power


@given(st.integers(1, 10**6), st.integers(2, 6), st.integers(1, 9), st.integers(0, 500))
def test_a_ladder_rises_to_the_end_and_ever_fewer_arms_reach_its_rungs(max_steps, eta, min_steps, more):
    cuts = halvings(max_steps + min_steps, eta, min_steps)
    ladder = Ladder.of(eta**cuts + more, cuts, max_steps + min_steps, eta)
    assert ladder.stops[0] >= min_steps and ladder.stops[-1] == max_steps + min_steps
    assert all(eta * low <= high for low, high in itertools.pairwise(ladder.stops))
    assert all(low == high // eta for high, low in itertools.pairwise(ladder.sizes)) and ladder.sizes[-1] >= 1
    assert ladder.steps == cost(ladder.sizes[0], ladder.stops, eta)


def test_a_ladder_says_what_it_is():
    ladder = Ladder.of(27, 3, 27, 3)
    assert (ladder.sizes, ladder.stops, ladder.slices, ladder.steps) == ((27, 9, 3, 1), (1, 3, 9, 27), (1, 2, 6, 18), 81)


def test_the_best_of_a_rung_survive_and_of_equal_ones_any():
    rewards = {3: 0.5, 1: 0.9, 7: 0.1, 4: 0.7}
    assert survivors(rewards, 2, np.random.default_rng(0)) == [1, 4]
    assert survivors(rewards, 9, np.random.default_rng(0)) == [1, 4, 3, 7]
    rng = np.random.default_rng(0)
    counts = Counter(survivors(dict.fromkeys(range(4), 0.5), 1, rng)[0] for _ in range(400))
    assert set(counts) == set(range(4)) and min(counts.values()) > 70
    assert survivors({}, 3, rng) == []


@pytest.mark.parametrize("reward", [noise, failing])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_decision_is_that_of_plain_brackets(settings, reward):
    search = SuccessiveHalving(SPACE, **settings, seed=0)
    pulls = rows(play(search, lambda pull: reward(pull.arm.id, pull.stop)))
    assert pulls == list(halving(**settings, reward=reward))


@pytest.mark.parametrize("workers", [1, 3, 16, 100])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_any_number_of_workers_trains_the_same_brackets(settings, workers):
    search = SuccessiveHalving(SPACE, **settings, seed=0)
    pulls = rows(play(search, lambda pull: noise(pull.arm.id, pull.stop), workers))
    expected = list(halving(**settings, reward=noise))
    assert Counter(row[1:] for row in pulls) == Counter(row[1:] for row in expected)
    assert search.ledger.spent == sum(phase.steps for phase in search.plan()) == sum(stop - start for _, start, stop in pulls)
    assert len(search.ledger.arms) == sum(phase.arms for phase in search.plan())


@pytest.mark.parametrize("workers", [1, 5])
def test_a_promoted_arm_goes_on_from_where_it_stands(workers):
    stands = Counter()
    for arm, start, stop in rows(play(SuccessiveHalving(SPACE, budget=800, max_steps=81, seed=0), quality, workers)):
        assert stands[arm] == start
        stands[arm] = stop
    assert Counter(stands.values())[81] >= 2


def quality(pull):
    return noise(pull.arm.id, 0)


def test_a_worker_gets_an_arm_of_the_next_bracket_rather_than_wait():
    search = SuccessiveHalving(SPACE, budget=50, max_steps=9, seed=0)
    pulls = [search.ask() for _ in range(18)]
    assert [(pull.arm.id, pull.stop) for pull in pulls] == [(arm, 1) for arm in range(18)]
    assert search.ask() is None  # 8 steps are free, and a training takes 9
    for pull in pulls[:8]:
        search.tell(pull, 0.5)
    assert search.ask() is None
    search.tell(pulls[8], 0.9)
    promoted = search.ask()
    assert (promoted.arm.id, promoted.start, promoted.stop) == (8, 1, 3)


def test_the_first_bracket_has_the_first_claim_on_workers():
    search = SuccessiveHalving(SPACE, max_steps=9, seed=0)
    pulls = [search.ask() for _ in range(12)]
    for pull in pulls[:9]:
        search.tell(pull, quality(pull))
    assert [search.ask().stop for _ in range(4)] == [3, 3, 3, 1]


def test_a_failed_arm_is_the_worst_of_its_rung_and_never_promoted():
    search = SuccessiveHalving(SPACE, budget=21, max_steps=9, seed=0)
    pulls = rows(play(search, lambda pull: 0.5 if pull.arm.id in (4, 6) else None))
    assert pulls[:9] == [(arm, 0, 1) for arm in range(9)]
    assert sorted(pulls[9:11]) == [(4, 1, 3), (6, 1, 3)] and pulls[11][1:] == (3, 9)
    assert len(pulls) == 12 and search.ledger.left == 2


def test_where_all_arms_of_a_rung_fail_the_next_bracket_begins():
    search = SuccessiveHalving(SPACE, budget=42, max_steps=9, seed=0)
    pulls = rows(play(search, lambda pull: None if pull.start == 1 and pull.arm.id < 9 else noise(pull.arm.id, pull.stop)))
    assert [row[1:] for row in pulls[9:12]] == [(1, 3)] * 3 and pulls[12] == (9, 0, 1)
    assert max(search.ledger.steps) == 9 and search.best().id >= 9


@pytest.mark.parametrize("workers", [1, 8])
def test_steps_that_failures_leave_are_spent_on_smaller_brackets(workers):
    search = SuccessiveHalving(SPACE, budget=21, max_steps=9, seed=0)
    pulls = rows(play(search, lambda pull: None if pull.arm.id < 9 else 0.5, workers))
    assert Counter(row[1:] for row in pulls) == {(0, 1): 9, (0, 9): 1}


def test_what_is_left_goes_to_ever_smaller_brackets():
    plan = SuccessiveHalving(SPACE, budget=2 * 81 + 63 + 8, max_steps=27).plan()
    assert [(phase.arms, phase.steps) for phase in plan] == [(54, 162), (9, 63)]
    assert plan[0].name == "2 × 27 arms, cut at 1, 3, 9 of 27 steps"
    plan = SuccessiveHalving(SPACE, budget=81 + 44, max_steps=27).plan()
    assert [(phase.arms, phase.steps) for phase in plan] == [(27, 81), (1, 27)]
    assert plan[1].name == "1 × 1 arm, fully trained"
    (phase,) = SuccessiveHalving(SPACE, max_steps=27).plan()
    assert (phase.arms, phase.steps) == (None, None)


def test_the_arm_with_the_best_reward_is_recommended():
    search = SuccessiveHalving(SPACE, budget=21, max_steps=9, seed=0)
    with pytest.raises(NoResult):
        search.best()
    told = {}
    for pull, reward in play(search, lambda pull: -pull.stop + 0.1 * pull.arm.id):
        told[pull.arm.id] = max(reward, told.get(pull.arm.id, reward))
        assert search.best().id == max(told, key=told.get)
    assert search.best().id == 8


def test_an_arm_that_failed_later_is_recommended_only_where_there_is_no_other():
    search = SuccessiveHalving(SPACE, budget=21, max_steps=9, seed=0)
    best = {(pull.arm.id, pull.stop): search.best().id for pull, _ in play(search, lambda p: None if p.start else p.arm.id)}
    assert best[8, 1] == 8
    assert (best[8, 3], best[7, 3], best[6, 3]) == (7, 6, 5)


def test_an_arm_that_may_be_promoted_promises_more_than_one_that_is_out():
    search = SuccessiveHalving(SPACE, budget=50, max_steps=9, seed=0)
    pulls = [search.ask() for _ in range(9)]
    for pull in pulls[:8]:
        search.tell(pull, float(pull.arm.id))
    assert [search.priority(arm) for arm in range(8)] == sorted(search.priority(arm) for arm in range(8))
    assert search.priority(8) == -np.inf
    search.tell(pulls[8], None)
    search.tell(search.ask(), -5.0)
    alive, out = [search.priority(arm) for arm in (5, 6, 7)], [search.priority(arm) for arm in range(5)]
    assert min(alive) >= 1 > max(out) and max(alive) == alive[2]  # arm 7, trained on already
    assert search.priority(8) == -np.inf


def test_a_budget_lowered_on_the_way_is_kept_too():
    search = SuccessiveHalving(SPACE, budget=100, max_steps=9, seed=0)
    for _ in itertools.islice(play(search, quality), 9):
        pass
    search.ledger.budget = 14
    assert [row[1:] for row in rows(play(search, quality))] == [(1, 3)] * 2 and search.ledger.spent == 13
    search.ledger.budget = 21
    assert [row[1:] for row in rows(play(search, quality))] == [(1, 3), (3, 9)]


def test_where_the_space_is_used_up_a_bracket_has_twins():
    search = SuccessiveHalving(Space(c=Choice("a", "b")), budget=21, max_steps=9, seed=0)
    pulls = rows(play(search, quality))
    assert pulls[:9] == [(arm, 0, 1) for arm in range(9)]


def test_a_fresh_arm_is_never_one_that_is_known():
    ledger = Ledger(Space(c=Choice("a", "b")), None, 9, 0)
    for number in range(4):
        arm = ledger.new_sample()
        ledger.settle(ledger.open(arm, 1), 0.5)
        assert arm.id == number
    assert {arm.config["c"] for arm in ledger.arms[:2]} == {"a", "b"}
    assert ledger.sample().id < 4
