"""What the cascade lets its children spend."""

import manyarms as ma
from manyarms.strategies.cascade import child_seed
from manyarms.testing import play

from .searches import SPACE, mixed, near


def test_what_is_left_is_what_a_child_may_spend():
    children = {"long": ma.RandomSearch(SPACE, max_steps=7), "short": ma.RandomSearch(SPACE, max_steps=2)}
    cascade = ma.Cascade(children, ma.Uniform(), budget=40, seed=0)
    pulls = [pull for pull, _ in play(cascade, near, workers=5)]
    assert 39 <= sum(pull.steps for pull in pulls) <= 40
    assert all(child.ledger.budget is None for child in cascade.children.values())


def test_a_child_ends_as_it_would_alone():
    alone = ma.MutantUCB(SPACE, budget=60, max_steps=5, initial=10, seed=child_seed(3, "mutant"))
    cascade = ma.Cascade({"mutant": ma.MutantUCB(SPACE, max_steps=5, initial=10)}, budget=60, seed=3)
    reward = {False: near, True: lambda pull: 1 - abs(pull.config["x"] - 0.3)}
    one = [(p.config["config"], p.start, p.stop) for p, _ in play(cascade, reward[False])]
    two = [(p.config, p.start, p.stop) for p, _ in play(alone, reward[True])]
    assert one == two
    assert cascade.best().config["config"] == alone.best().config


def test_a_budget_that_is_raised_brings_back_who_had_ended():
    cascade = mixed(budget=60)
    assert sum(pull.steps for pull, _ in play(cascade, near)) <= 60
    cascade.ledger.budget = 120
    for _ in play(cascade, near):
        pass
    assert 117 <= cascade.ledger.spent <= 120
