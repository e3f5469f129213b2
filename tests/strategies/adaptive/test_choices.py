"""What AdaptiveMutantUCB does next: continue an arm, mutate one, or draw a new one."""

import math
from itertools import islice

import numpy as np
import pytest

from manyarms import AdaptiveMutantUCB, Int, Space
from manyarms.strategies.surrogate import rules
from manyarms.testing import play

from .searches import SPACE, WIDE, climb, loss


def never_to_completion(monkeypatch):
    monkeypatch.setattr(rules, "completion_share", lambda best_completed, best_other: 0.0)


def no_new_arms(monkeypatch):
    monkeypatch.setattr(rules, "new_arm_probability", lambda pulls, guided: 0.0)


def test_the_first_pulls_are_random_arms_a_slice_each():
    search = AdaptiveMutantUCB(SPACE, max_steps=100, initial=7, seed=0)
    first = list(islice(play(search, loss), 7))
    assert [(pull.arm.id, pull.arm.parents, pull.stop) for pull, _ in first] == [(arm, (), 10) for arm in range(7)]


def test_an_arm_is_trained_to_the_end_and_only_then_mutated(monkeypatch):
    no_new_arms(monkeypatch)
    never_to_completion(monkeypatch)
    search = AdaptiveMutantUCB(SPACE, budget=600, max_steps=6, seed=0)
    ended, mutants = set(), 0
    for pull, _ in play(search, loss):
        if pull.arm.id >= search.initial and not pull.start:
            assert pull.arm.parents[0] in ended
            mutants += 1
        ended |= {pull.arm.id} if pull.stop == 6 else set()
    assert mutants > 50 and max(search.ledger.steps) == 6


def test_the_arm_with_the_largest_score_is_continued(monkeypatch):
    no_new_arms(monkeypatch)
    search = AdaptiveMutantUCB(SPACE, budget=100, max_steps=5, initial=10, exploration=0.0, seed=0)
    for pull, _ in islice(play(search, loss), 10):
        assert not pull.start
    for _ in range(10):
        best = max(range(10), key=search.priority)
        if search.ledger.steps[best] == 5:
            return
        pull = search.ask()
        assert pull.arm.id == best
        search.tell(pull, loss(pull))
    pytest.fail("no arm was trained to the end")


def test_exploration_trains_more_of_the_first_arms(monkeypatch):
    no_new_arms(monkeypatch)
    trained = []
    for exploration in (0.0, 0.5, 10.0):
        search = AdaptiveMutantUCB(SPACE, max_steps=10, initial=20, exploration=exploration, surrogate=False, seed=0)
        for _ in islice(play(search, climb), 60):
            pass
        trained.append(sum(steps > 1 for steps in search.ledger.steps[:20]))
    assert trained[0] < trained[1] < trained[2]


@pytest.mark.parametrize("workers", [1, 8])
@pytest.mark.parametrize("seed", range(3))
def test_a_third_of_the_pulls_continue_an_arm_while_one_is_paused(seed, workers):
    search = AdaptiveMutantUCB(WIDE, budget=1_500, exploration=0, surrogate=False, seed=seed)
    trainings = pulls = 0
    for pull, _ in islice(play(search, climb, workers), 1_000):
        pulls += pull.arm.id >= search.initial or pull.start > 0
        trainings += pull.start > 0
        if pulls > 150:  # new arms may come first
            assert trainings >= pulls / 3 - workers - 3
    assert pulls > 600


def test_without_that_rule_mutants_would_take_nearly_all_pulls(monkeypatch):
    never_to_completion(monkeypatch)
    shares = []
    for trained in (rules.MIN_CONTINUED_SHARE, 0.0):
        monkeypatch.setattr(rules, "MIN_CONTINUED_SHARE", trained)
        search = AdaptiveMutantUCB(WIDE, budget=1_500, exploration=0, surrogate=False, seed=0)
        shares.append(np.mean([pull.start > 0 for pull, _ in play(search, climb)]))
    assert shares[0] > 0.3 > 0.2 > shares[1]


def test_new_random_arms_come_with_the_probability_of_the_rule(monkeypatch):
    never_to_completion(monkeypatch)
    search = AdaptiveMutantUCB(WIDE, surrogate=False, seed=0)
    pulls = [pull for pull, _ in islice(play(search, loss), 3_000)]
    fresh = [not pull.start and not pull.arm.parents for pull in pulls]
    for part in (slice(24, 300), slice(300, 3_000)):
        chances = [rules.new_arm_probability(number, guided=False) for number in range(part.start, part.stop)]
        spread = math.sqrt(sum(p * (1 - p) for p in chances))
        assert abs(sum(fresh[part]) - sum(chances)) < 3 * spread


def test_while_all_arms_are_in_training_new_ones_are_drawn():
    search = AdaptiveMutantUCB(SPACE, budget=300, max_steps=5, initial=3, seed=0)
    pulls = [search.ask() for _ in range(20)]
    assert [pull.arm.id for pull in pulls] == list(range(20)) and not any(pull.start for pull in pulls)


def test_a_config_drawn_again_continues_its_arm():
    search = AdaptiveMutantUCB(Space(n=Int(1, 3)), budget=60, max_steps=10, seed=0)
    pulls = [pull for pull, _ in islice(play(search, lambda pull: 0.5), 15)]
    assert len({pull.arm.id for pull in pulls}) == len({pull.config["n"] for pull in pulls}) == 3
