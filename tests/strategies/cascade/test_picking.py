"""Which child the cascade picks: the one that gives most, and none that is done, has to wait or keeps failing."""

import math
from collections import Counter

import numpy as np
import pytest

import manyarms as ma
from manyarms.strategies.cascade import hopeless
from manyarms.testing import play

from .searches import SPACE, mixed, names, near, two


def test_the_child_that_gives_most_is_picked_most():
    for picker in (ma.ERUCB(), ma.UCB1(), ma.EpsilonGreedy()):
        cascade = two(picker, budget=500)
        counts = Counter(names(cascade, reward=lambda pull: {"a": 0.2, "b": 0.8}[pull.config["algorithm"]] * near(pull)))
        assert counts["b"] > 1.3 * counts["a"], picker


def test_each_child_is_picked_once_first_and_picks_in_flight_spread():
    cascade = mixed()
    assert [cascade.ask().config["algorithm"] for _ in range(8)] == ["random", "mutant", "thompson", "adaptive"] * 2


def test_a_picker_given_to_two_cascades_is_used_by_neither():
    picker = ma.UCB1()
    one, other = two(picker), two(picker)
    for _ in play(one, near):
        pass
    assert picker.n == 0 and other.picker.trials.sum() == 0 and one.picker.trials.sum() == 100
    assert not math.isnan(one.picker.means(np.array([0, 1])).sum())


def test_a_child_that_is_done_is_passed_over():
    cascade = ma.Cascade({"short": ma.RandomSearch(SPACE, budget=7), "long": ma.RandomSearch(SPACE)}, budget=50, seed=0)
    assert Counter(names(cascade, reward=near, workers=3)) == {"short": 7, "long": 43}
    assert cascade.children["short"].ledger.budget == 7


def test_when_all_children_are_done_so_is_the_cascade():
    cascade = ma.Cascade({"a": ma.RandomSearch(SPACE, budget=5), "b": ma.RandomSearch(SPACE, budget=6)}, seed=0)
    assert len(names(cascade, reward=near, workers=4)) == 11
    assert cascade.ask() is None


def test_a_child_that_has_to_wait_does_not_hold_up_the_others():
    halving = ma.SuccessiveHalving(SPACE, budget=21, max_steps=9)  # one bracket: waits for its rungs
    cascade = ma.Cascade({"halving": halving, "random": ma.RandomSearch(SPACE)}, ma.Uniform(), budget=60, seed=0)
    pulls = []
    while (pull := cascade.ask()) is not None:
        pulls.append(pull)
    counts = Counter(pull.config["algorithm"] for pull in pulls)
    assert counts == {"halving": 9, "random": 51}  # none was told, yet every step was asked for


def test_all_waiting_it_waits_and_changes_nothing():
    halving = {name: ma.SuccessiveHalving(SPACE, budget=21, max_steps=9) for name in "ab"}
    cascade = ma.Cascade(halving, ma.Softmax(), budget=100, seed=0)
    pulls = [cascade.ask() for _ in range(18)]
    assert len(cascade.ledger.in_flight) == 18
    before = cascade.ledger.rng.bit_generator.state
    assert cascade.ask() is None and cascade.ask() is None
    assert cascade.ledger.rng.bit_generator.state == before
    for pull in pulls:
        cascade.tell(pull, near(pull))
    assert cascade.ask() is not None


@pytest.mark.parametrize(
    ("failed", "rewarded", "expected"),
    [(4, 0, False), (5, 0, True), (5, 1, False), (9, 1, True), (90, 9, True), (90, 11, False)],
)
def test_hopeless_is_who_failed_often_and_nearly_always(failed, rewarded, expected):
    assert hopeless(failed, rewarded) is expected


@pytest.mark.parametrize("picker", [ma.ERUCB(), ma.Uniform()])
def test_a_child_that_keeps_failing_is_not_picked_any_more_and_a_warning_says_so(picker):
    cascade = two(picker)
    counts = Counter(names(cascade, reward=lambda pull: None if pull.config["algorithm"] == "b" else near(pull)))
    assert counts["b"] <= 5 and counts["a"] == 100 - counts["b"]
    if counts["b"] == 5:
        assert cascade.warning() == "b: 5 of 5 pulls failed, so it was not picked any more."


def test_where_all_children_fail_the_budget_is_spent_all_the_same():
    counts = Counter(names(two(), reward=lambda pull: None))
    assert counts.total() == 100 and min(counts.values()) >= 5


def test_a_failure_told_late_does_not_bury_a_child_that_recovers():
    cascade = two(ma.Uniform())
    pulls = [cascade.ask() for _ in range(40)]
    mine = [pull for pull in pulls if pull.config["algorithm"] == "b"]
    for pull in mine[:5]:
        cascade.tell(pull, None)
    assert {cascade.ask().config["algorithm"] for _ in range(10)} == {"a"}
    cascade.tell(mine[5], 0.5)
    assert "b" in {cascade.ask().config["algorithm"] for _ in range(30)}
