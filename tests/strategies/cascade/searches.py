"""Cascades of known children, and functions of known worth, which the tests of Cascade share."""

import manyarms as ma
from manyarms.testing import play

SPACE = ma.Space(x=ma.Float(0, 1))


def mixed(budget=200, seed=0, picker=None):
    children = {
        "random": ma.RandomSearch(SPACE, max_steps=4),
        "mutant": ma.MutantUCB(SPACE, max_steps=4, initial=10),
        "thompson": ma.DTTTS(SPACE, max_steps=4),
        "adaptive": ma.AdaptiveMutantUCB(SPACE, max_steps=4, initial=6),
    }
    return ma.Cascade(children, picker, budget=budget, seed=seed)


def two(picker=None, **given):
    return ma.Cascade({"a": ma.RandomSearch(SPACE), "b": ma.RandomSearch(SPACE)}, picker, **{"budget": 100, "seed": 0, **given})


def spread(**given):
    """A cascade that goes on with all its children."""
    return mixed(picker=ma.UCB1(), **given)


def near(pull):
    """The nearer to 0.3, the better."""
    return 1 - abs(pull.config["config"]["x"] - 0.3)


def train(pull):
    if pull["config"]["x"] > 0.95:
        raise ValueError("too large")
    return -abs(pull["config"]["x"] - 0.3) * 100 / pull.stop  # of another scale


def names(cascade, **played):
    """Whose each pull was, in the order they were told."""
    return [pull.config["algorithm"] for pull, _ in play(cascade, **played)]
