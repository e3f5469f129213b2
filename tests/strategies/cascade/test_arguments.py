"""Arguments that the cascade refuses."""

import pytest

import manyarms as ma

from .searches import SPACE


def asked():
    search = ma.RandomSearch(SPACE)
    search.ask()
    return search


SAME = ma.RandomSearch(SPACE)
WRONG = {
    "no children": (lambda: ma.Cascade({}), ValueError, "children must name at least one strategy, got none"),
    "a list": (lambda: ma.Cascade([SAME]), TypeError, "children must be a dict of names to strategies"),
    "a number as name": (lambda: ma.Cascade({1: SAME}), TypeError, "the names of children must be strings, got 1"),
    "a class": (lambda: ma.Cascade({"a": ma.RandomSearch}), TypeError, "child 'a' must be a strategy"),
    "no strategy": (lambda: ma.Cascade({"a": SPACE}), TypeError, "child 'a' must be a strategy"),
    "one twice": (
        lambda: ma.Cascade({"a": SAME, "b": SAME}),
        ValueError,
        "each child must be .* got the same one twice among 'a', 'b'",
    ),
    "not fresh": (lambda: ma.Cascade({"a": asked()}), ValueError, "child 'a' must be a new strategy"),
    "a picker's class": (lambda: ma.Cascade({"a": SAME}, ma.UCB1), TypeError, r"picker must be a picker such as ERUCB\(\)"),
    "a picker in words": (lambda: ma.Cascade({"a": SAME}, "ucb1"), TypeError, "picker must be a picker such as .* got 'ucb1'"),
    "no budget": (lambda: ma.Cascade({"a": SAME}, budget=0), ValueError, "budget must be at least 1, got 0"),
    "less than a training": (
        lambda: ma.Cascade({"a": ma.RandomSearch(SPACE, max_steps=9)}, budget=8),
        ValueError,
        "budget must be at least 9, one full training of child 'a', got 8",
    ),
    "negative seed": (lambda: ma.Cascade({"a": SAME}, seed=-1), ValueError, "seed must be at least 0, got -1"),
}


@pytest.mark.parametrize(("make", "error", "message"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
