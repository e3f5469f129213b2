"""The ledger: what was asked, what was told, and what becomes of a config that was there before."""

import math

import numpy as np
import pytest

from manyarms import Arm, Choice, Float, Pull, Space
from manyarms.strategies.kit.ledger import Ledger, Settled

THREE = Space(c=Choice("a", "b", "c"))


class Fixed:
    """A space that makes the configs it is given, in turn, whichever way it is asked."""

    def __init__(self, *configs):
        self._configs = iter(configs)

    def sample(self, rng):
        return next(self._configs)

    def mutate(self, config, rng):
        return next(self._configs)


class Objects:
    """A space whose configs are neither JSON nor comparable."""

    def sample(self, rng):
        return np.zeros(2)

    def mutate(self, config, rng):
        return np.zeros(2)


def ledger(space=None, budget=100, max_steps=10, seed=0):
    return Ledger(space or Space(x=Float(0, 1)), budget, max_steps, seed)


def trained(ledger, arm, steps):
    ledger.settle(ledger.open(arm, steps), 0.5)
    return arm


def test_a_reward_moves_the_arm_on_and_a_failure_ends_it():
    own = ledger()
    one, two = own.open(own.sample(), 3), own.open(own.sample(), 2)
    assert own.in_flight == {0: one, 1: two} and own.spent == 5 and own.left == 95
    assert own.settle(one, 0.25) == Settled(0.25) and own.settle(two, None) == Settled(None)
    assert own.steps == [3, 0] and own.failed == {1} and own.in_flight == {} and own.spent == 5
    assert own.can_train(0) and not own.can_train(1)
    assert own.open(one.arm, 1) == Pull(one.arm, 3, 4)
    assert not own.can_train(0)


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (math.nan, ValueError),
        (math.inf, ValueError),
        (-math.inf, ValueError),
        (np.float32("nan"), ValueError),
        ("0.5", TypeError),
        ([0.5], TypeError),
        (np.array([0.5, 0.6]), TypeError),
        (np.complex64(0.5), TypeError),
        (10**400, ValueError),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_a_reward_that_is_no_finite_number_is_refused_and_changes_nothing(bad, error):
    own = ledger()
    pull = own.open(own.sample(), 1)
    with pytest.raises(error, match="reward must be a finite number, or None if the pull failed, got "):
        own.settle(pull, bad)
    assert own.in_flight == {0: pull} and own.failed == set()
    assert own.settle(pull, np.float32(0.5)).reward == 0.5


def test_rewards_of_any_kind_come_back_as_plain_floats():
    own = ledger()
    assert [type(own.settle(own.open(own.sample(), 1), reward).reward) for reward in (1, np.float32(1), np.int64(1))] == [
        float
    ] * 3


def test_what_was_told_before_is_ignored_also_while_the_arm_is_trained_on():
    own = ledger()
    first = own.open(own.sample(), 2)
    own.settle(first, 0.5)
    second = own.open(first.arm, 2)
    assert own.settle(first, 0.9).repeated and own.settle(first, None).repeated
    assert own.in_flight == {0: second} and own.steps == [2] and not own.failed
    own.settle(second, None)
    assert own.settle(first, 0.9).repeated and own.settle(second, 0.9).repeated
    assert own.steps == [2] and own.failed == {0}


def test_a_settled_pull_is_exactly_one_of_new_failed_and_repeated():
    own = ledger()
    one, two = own.open(own.sample(), 1), own.open(own.sample(), 1)
    new, failed, repeated = own.settle(one, 0.5), own.settle(two, None), own.settle(one, 0.5)
    assert (new.reward, new.failed, new.repeated) == (0.5, False, False)
    assert (failed.reward, failed.failed, failed.repeated) == (None, True, False)
    assert (repeated.reward, repeated.failed, repeated.repeated) == (None, False, True)


NEVER_ASKED = {
    "an arm there is not": (4, 0, 1),
    "an arm below the first": (-1, 0, 1),
    "the next pull of a trained arm": (0, 2, 3),
    "a longer pull of a trained arm": (0, 0, 3),
    "a later pull of a failed arm": (1, 2, 4),
    "a longer pull of an arm in flight": (2, 0, 2),
    "a later pull of an arm in flight": (2, 1, 2),
}


@pytest.mark.parametrize(("arm", "start", "stop"), NEVER_ASKED.values(), ids=NEVER_ASKED)
def test_a_pull_that_was_never_asked_for_is_refused(arm, start, stop):
    own = ledger(Fixed(*"abc"))
    trained(own, own.sample(), 2)
    own.settle(own.open(own.sample(), 2), None)
    own.open(own.sample(), 1)
    with pytest.raises(ValueError, match=f"pull must be one that ask returned, got arm {arm} from {start} to {stop}"):
        own.settle(Pull(Arm(arm, "a"), start, stop), 0.5)
    assert own.steps == [2, 0, 0] and list(own.in_flight) == [2]


def test_a_config_that_was_there_before_is_one_more_pull_of_the_same_arm():
    own = ledger(Fixed("a", "b", "a", "b"))
    one, two = trained(own, own.sample(), 1), trained(own, own.sample(), 1)
    assert own.sample() is one and own.mutant(0) is two
    assert len(own.arms) == 2 and two.parents == ()


@pytest.mark.parametrize("case", ["asleep", "failed", "trained to the end"])
def test_where_the_known_arm_cannot_be_trained_another_config_is_tried(case):
    own = ledger(Fixed("a", "a", "a", "b"))
    pull = own.open(own.sample(), 10)
    if case != "asleep":
        own.settle(pull, None if case == "failed" else 0.5)
    assert own.sample() == Arm(1, "b")


def test_where_the_space_is_used_up_a_twin_is_made():
    own = ledger(Fixed(*["a"] * 12))
    trained(own, own.sample(), 10)
    twin = own.mutant(0)
    assert twin == Arm(1, "a", (0,))
    trained(own, twin, 1)
    assert own.sample() is twin


def test_a_small_space_is_known_after_few_arms_and_its_budget_goes_into_training():
    own = ledger(THREE)
    for _ in range(30):
        trained(own, own.sample(), 1)
    assert len(own.arms) <= 4 and sum(own.steps) == 30


@pytest.mark.parametrize(
    "configs",
    [(True, 1, 1.0), ({"x": True}, {"x": 1}), (["a", 1], {"a": 1}), ([1], 1, "1"), ({"x": None}, {"x": "None"})],
    ids=repr,
)
def test_configs_that_only_look_alike_are_different_arms(configs):
    own = ledger(Fixed(*configs))
    assert [trained(own, own.sample(), 1).config for _ in configs] == list(configs)
    assert len(own.arms) == len(configs)


def test_the_order_of_names_does_not_make_another_config():
    own = ledger(Fixed({"a": 1, "b": [{"c": 2, "d": 3}]}, {"b": [{"d": 3, "c": 2}], "a": 1}))
    assert trained(own, own.sample(), 1) is own.sample()


def test_configs_that_cannot_be_compared_are_all_new():
    own = ledger(Objects())
    assert [trained(own, own.sample(), 1).id for _ in range(3)] == [0, 1, 2]


def test_a_book_loaded_from_its_state_makes_the_same_arms_and_knows_the_same_configs():
    own, restored = ledger(THREE, max_steps=3), ledger(THREE, max_steps=3, seed=9)
    for reward in (0.5, None, 0.5, 0.5, None):
        own.settle(own.open(own.sample(), 1), reward)
    own.open(own.mutant(0), 1)
    restored.load(own.state())
    assert restored.arms == own.arms and restored.in_flight == own.in_flight and restored.failed == own.failed
    for _ in range(20):
        assert trained(own, own.mutant(0), 1) == trained(restored, restored.mutant(0), 1)
    assert restored.steps == own.steps


def test_a_fresh_seed_is_kept_so_that_the_search_can_be_repeated():
    one, two = ledger(seed=None), ledger(seed=None)
    assert one.seed != two.seed
    assert ledger(seed=one.seed).sample() == one.sample()


def test_without_limits_nothing_is_used_up():
    own = ledger(budget=None, max_steps=None)
    trained(own, own.sample(), 10**6)
    assert own.left == math.inf and own.can_train(0)
