"""Arms that AdaptiveMutantUCB trains to completion, in case early rewards mislead."""

import numpy as np

from manyarms import AdaptiveMutantUCB
from manyarms.bench.problems import CurveWorld, evaluate, regret
from manyarms.strategies.surrogate import rules
from manyarms.testing import play

from .searches import WIDE, finish, loss


def trained_in_a_row(pulls):
    """The arms that got all their pulls one after the other."""
    rows = [[pull.arm.id for pull in pulls[i : i + 10]] for i, pull in enumerate(pulls) if not pull.start]
    return [row[0] for row in rows if len(row) == 10 and len(set(row)) == 1]


def test_where_early_rewards_mislead_arms_trained_to_completion_find_the_best(monkeypatch):
    found = []
    for share in (rules.completion_share, lambda best_completed, best_other: 0.0):
        monkeypatch.setattr(rules, "completion_share", share)
        regrets = []
        for seed in range(3):
            problem = CurveWorld("crossing", seed=0)
            search = AdaptiveMutantUCB(problem.space, budget=600, seed=seed)
            finish(search, lambda pull, problem=problem, seed=seed: evaluate(problem, pull, seed))
            regrets.append(regret(problem, search.best().config))
        found.append(np.mean(regrets))
    assert found[0] < 20 < 40 < found[1]


def test_once_they_find_something_better_most_steps_are_theirs_and_few_before():
    shares = []
    for kind in ("crossing", "fast"):
        problem = CurveWorld(kind, seed=0)
        search = AdaptiveMutantUCB(problem.space, budget=1_000, seed=0)
        finish(search, lambda pull, problem=problem: evaluate(problem, pull, 0))
        shares.append(10 * len(search._to_completion) / 1_000)
    assert shares[0] > 0.5 and 0.05 < shares[1] <= 0.15


def test_such_an_arm_gets_all_its_pulls_at_once():
    problem = CurveWorld("crossing", seed=0)
    search = AdaptiveMutantUCB(problem.space, budget=600, seed=0)
    pulls = [pull for pull, _ in play(search, lambda pull: evaluate(problem, pull, 0))]
    ended = [arm for arm in search._to_completion if search.ledger.steps[arm] == 10]
    assert len(ended) > 10 and set(ended) <= set(trained_in_a_row(pulls))


def test_with_one_slice_every_training_is_complete_and_the_rule_does_not_apply():
    search = AdaptiveMutantUCB(WIDE, budget=300, max_steps=1, seed=0)
    finish(search, loss)
    assert not search._to_completion
