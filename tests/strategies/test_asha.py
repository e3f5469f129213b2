"""ASHA promotes what a scan over all rungs would, never waits, and stays fast."""

import json
from collections import Counter
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyarms import ASHA, Float, NoResult, Space
from manyarms.strategies.kit.asha_rung import Rung
from manyarms.testing import STRATEGY_CHECKS, play

SPACE = Space(x=Float(0, 1))

WRONG = {
    "no budget": ({"budget": 0}, ValueError, "budget must be at least 1, got 0"),
    "float budget": ({"budget": 100.0}, TypeError, "budget must be a whole number, got 100.0"),
    "no steps": ({"max_steps": 0}, ValueError, "max_steps must be at least 1, got 0"),
    "eta of one": ({"eta": 1}, ValueError, "eta must be at least 2, got 1"),
    "eta of True": ({"eta": True}, TypeError, "eta must be a whole number, got True"),
    "no first steps": ({"min_steps": 0}, ValueError, "min_steps must be at least 1, got 0"),
    "first steps beyond the last": ({"min_steps": 10}, ValueError, "min_steps must be at most max_steps=9, got 10"),
    "negative seed": ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
    "less than one training": ({"budget": 8}, ValueError, "budget must be at least 9, one full training of max_steps, got 8"),
}

REWARDS = st.none() | st.sampled_from([-1.0, 0.0, 0.5]) | st.floats(allow_nan=False, allow_infinity=False)
TIES = st.floats(0, 1, exclude_max=True)
MOVES = st.lists(st.tuples(REWARDS, TIES) | st.sampled_from(["promote", "restore"]), max_size=80)


class Scanned:
    """A rung as the paper writes it: sort all, take the top 1/eta, leave out the promoted."""

    def __init__(self, eta):
        self.eta, self.told, self.promoted = eta, [], set()

    def add(self, arm, reward, tie):
        self.told.append((reward is None, -(reward or 0.0), tie, arm))

    def candidate(self):
        top = sorted(self.told)[: len(self.told) // self.eta]
        return next((arm for failed, _, _, arm in top if not failed and arm not in self.promoted), None)

    def promote(self):
        self.promoted.add(self.candidate())


class ScannedASHA:
    """Algorithm 2 of the paper with scans: pulls as (arm, start, stop)."""

    def __init__(self, budget, max_steps, eta, min_steps):
        self.stops, self.left, self.arms = [max_steps], budget, 0
        while self.stops[0] // eta >= min_steps:
            self.stops.insert(0, self.stops[0] // eta)
        self.rungs = [Scanned(eta) for _ in self.stops]

    def ask(self):
        for k in range(len(self.stops) - 2, -1, -1):
            start, stop = self.stops[k : k + 2]
            if stop - start <= self.left and (arm := self.rungs[k].candidate()) is not None:
                self.rungs[k].promote()
                self.left -= stop - start
                return arm, start, stop
        if self.stops[0] > self.left:
            return None
        self.arms += 1
        self.left -= self.stops[0]
        return self.arms - 1, 0, self.stops[0]

    def tell(self, row, reward):
        self.rungs[self.stops.index(row[2])].add(row[0], reward, 0.0)


def noise(pull):
    return float(np.random.default_rng([pull.arm.id, pull.stop]).standard_normal())


def told(search, arm, reward):
    """Ask, expect this arm, and tell."""
    pull = search.ask()
    assert pull.arm.id == arm
    search.tell(pull, reward)
    return pull.start, pull.stop


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(arguments, error, message):
    with pytest.raises(error) as raised:
        ASHA(SPACE, **{"max_steps": 9, **arguments})
    assert message in str(raised.value)


@given(st.integers(2, 5), MOVES)
def test_a_rung_promotes_what_a_scan_would(eta, moves):
    rung, scanned, arms = Rung(eta), Scanned(eta), 0
    for move in moves:
        if move == "restore":
            state, rung = rung.state(), Rung(eta)
            rung.load(state)
        elif move == "promote":
            if scanned.candidate() is not None:
                rung.promote()
                scanned.promote()
        else:
            for part in (rung, scanned):
                part.add(arms, *move)
            arms += 1
        assert rung.candidate() == scanned.candidate()


def test_the_state_of_a_rung_does_not_depend_on_how_it_came_about():
    rewards = [0.1, 0.9, 0.5, 0.7, 0.3, 0.8]
    states = []
    for order in (range(6), reversed(range(6))):
        rung = Rung(3)
        for arm in order:
            rung.add(arm, rewards[arm], 0.5)
        state = rung.state()
        states.append(json.dumps([state["told"], *(column.tolist() for column in state["entries"].values())]))
    assert states[0] == states[1]


@settings(max_examples=60)
@given(
    st.integers(1, 30),
    st.integers(2, 4),
    st.integers(1, 4),
    st.integers(0, 300),
    st.integers(1, 20),
    st.sampled_from([0.0, 0.2, 0.8]),
    st.integers(0, 2**32 - 1),
)
def test_every_decision_is_that_of_algorithm_2(most, eta, least, more, workers, fail, seed):
    max_steps = most + least
    search = ASHA(SPACE, budget=max_steps + more, max_steps=max_steps, eta=eta, min_steps=least, seed=seed)
    reference = ScannedASHA(max_steps + more, max_steps, eta, least)
    rng, in_flight = np.random.default_rng(seed), []
    while True:
        while len(in_flight) < workers and (pull := search.ask()) is not None:
            assert reference.ask() == (pull.arm.id, pull.start, pull.stop)
            in_flight.append(pull)
        if not in_flight:
            break
        pull = in_flight.pop(int(rng.integers(len(in_flight))))
        reward = None if rng.random() < fail else rng.standard_normal()
        search.tell(pull, reward)
        reference.tell((pull.arm.id, pull.start, pull.stop), reward)
    assert reference.ask() is None and search.ledger.left == reference.left < search.max_steps


def test_the_highest_rung_comes_first_and_paused_arms_can_be_promoted_later():
    search = ASHA(SPACE, max_steps=9, seed=0)
    for arm, reward in enumerate([0.5, 0.4, 0.3]):
        assert told(search, arm, reward) == (0, 1)
    assert told(search, 0, 0.5) == (1, 3)
    for arm, reward in enumerate([0.1, 0.2, 0.0], start=3):
        assert told(search, arm, reward) == (0, 1)
    assert told(search, 1, 0.6) == (1, 3)  # second of six: it was paused when there were three
    assert told(search, 6, 0.9) == (0, 1)
    climbing = search.ask()
    assert (climbing.arm.id, climbing.stop) == (6, 3)
    assert told(search, 7, 0.8) == (0, 1)
    search.tell(climbing, 0.1)
    assert told(search, 1, 0.7) == (3, 9)  # the best of three, before arm 7 of the rung below
    assert told(search, 7, 0.2) == (1, 3)
    assert search.best().id == 6  # for its reward after one step


def test_an_arm_that_was_promoted_and_then_overtaken_goes_on_to_count():
    rung = Rung(3)
    for arm, reward in enumerate([0.1, 0.0, 0.0]):
        rung.add(arm, reward, 0.5)
    rung.promote()
    for arm, reward in enumerate([0.9, 0.8, 0.7], start=3):
        rung.add(arm, reward, 0.5)
    assert rung.candidate() == 3
    rung.promote()
    assert rung.candidate() == 4
    rung.promote()
    assert rung.candidate() is None  # two of six, though three were promoted


def test_equal_rewards_are_promoted_evenly():
    firsts = Counter()
    for seed in range(300):
        search = ASHA(SPACE, max_steps=9, seed=seed)
        firsts[next(pull.arm.id for pull, _ in play(search, lambda pull: 0.5) if pull.start)] += 1
    assert set(firsts) == {0, 1, 2} and min(firsts.values()) > 70


@pytest.mark.parametrize("workers", [1, 100])
def test_no_worker_waits_while_there_is_budget(workers):
    search = ASHA(SPACE, budget=1_000, max_steps=27, seed=0)
    for _ in play(search, noise, workers):
        assert search.ledger.left == 0 or len(search.ledger.in_flight) == workers - 1
    assert search.ledger.spent == 1_000


@pytest.mark.parametrize("workers", [1, 16])
def test_a_promoted_arm_goes_on_from_where_it_stands_and_about_one_in_eta_is(workers):
    search = ASHA(SPACE, budget=20_000, max_steps=81, seed=0)
    stands = Counter()
    for pull, _ in play(search, noise, workers):
        assert pull.start == stands[pull.arm.id]
        stands[pull.arm.id] = pull.stop
    reached = [sum(steps >= stop for steps in stands.values()) for stop in (1, 3, 9, 27, 81)]
    shares = np.array(reached[1:]) / reached[:-1]
    assert np.all(abs(shares - 1 / 3) < 0.06)  # some more, as promotions are never taken back


def test_a_failed_arm_counts_as_the_worst_and_is_never_promoted():
    search = ASHA(SPACE, max_steps=9, seed=0)
    for arm, reward in enumerate([None, None, -7.0]):
        told(search, arm, reward)
    assert told(search, 2, None) == (1, 3)
    later = [pull.arm.id for pull, _ in islice(play(search, lambda pull: None), 30)]
    assert later == list(range(3, 33)) and search.best().id == 2


def test_where_a_promotion_does_not_fit_what_fits_is_done():
    search = ASHA(SPACE, budget=9, max_steps=9, seed=0)
    pulls = [(pull.arm.id, pull.start, pull.stop) for pull, _ in play(search, lambda pull: -pull.arm.id)]
    assert pulls == [(0, 0, 1), (1, 0, 1), (2, 0, 1), (0, 1, 3), (3, 0, 1), (4, 0, 1), (5, 0, 1), (6, 0, 1)]
    assert search.best().id == 0


def test_a_budget_too_small_for_a_whole_climb_is_shown_to_the_user():
    search = ASHA(SPACE, budget=9, max_steps=9, seed=0)
    assert search.warning() is None
    list(play(search, noise))
    assert "No arm was fully trained (9 steps). Use a budget of at least 21" in search.warning()
    enough = ASHA(SPACE, budget=60, max_steps=9, seed=0)
    list(play(enough, noise))
    assert enough.warning() is None


def test_the_arm_with_the_best_reward_is_recommended_of_equal_ones_that_trained_furthest():
    search = ASHA(SPACE, budget=300, max_steps=27, seed=0)
    with pytest.raises(NoResult):
        search.best()
    best = {}
    for pull, reward in play(search, lambda pull: round(noise(pull), 1), workers=4):
        best[pull.arm.id] = max(reward, best.get(pull.arm.id, (reward, 0))[0]), pull.stop
        assert best[search.best().id] == max(best.values())


def test_paused_arms_promise_more_than_those_trained_to_the_end_or_failed():
    search = ASHA(SPACE, budget=200, max_steps=9, seed=0)
    list(play(search, noise, fail=0.1))
    promises = {arm.id: search.priority(arm.id) for arm in search.ledger.arms}
    steps, failed = search.ledger.steps, search.ledger.failed
    rungs = [[promises[arm] for arm in promises if steps[arm] == stop and arm not in failed] for stop in (9, 1, 3)]
    assert max(rungs[0]) < min(rungs[1]) and max(rungs[1]) < min(rungs[2])
    assert failed and all(promises[arm] == -np.inf for arm in failed)


@pytest.mark.parametrize("check", STRATEGY_CHECKS, ids=lambda check: check.__name__)
def test_the_smallest_budget_keeps_the_contract(check):
    if check.__name__ == "check_more_budget_continues_the_search":
        pytest.skip("three times the smallest budget promotes old arms only: those that come later are not trained as far")
    check(lambda: ASHA(SPACE, budget=9, max_steps=9, seed=1))


def test_the_plan_says_what_is_spent():
    (phase,) = ASHA(SPACE, budget=100, max_steps=9, min_steps=3).plan()
    assert (phase.name, phase.arms, phase.steps) == ("random arms, promoted at 3 of 9 steps", 33, 100)
    assert ASHA(SPACE, max_steps=2).plan()[0].name == "random arms, each fully trained"
    (phase,) = ASHA(SPACE, max_steps=9).plan()
    assert (phase.arms, phase.steps) == (None, None)
