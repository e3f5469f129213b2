"""The seeds of the cascade and its children, and fresh copies with the same or another one."""

import manyarms as ma
from manyarms.strategies import fresh_copy
from manyarms.strategies.cascade import child_seed
from manyarms.testing import play

from .searches import SPACE, mixed, near, two


def test_children_without_a_seed_get_one_that_derives_from_the_cascades():
    cascade = two(seed=7)
    assert {name: child.ledger.seed for name, child in cascade.children.items()} == {n: child_seed(7, n) for n in "ab"}
    assert child_seed(7, "a") != child_seed(7, "b") != child_seed(8, "b")
    own = ma.Cascade({"a": ma.RandomSearch(SPACE, seed=5), "b": ma.RandomSearch(SPACE)}, seed=7)
    assert own.children["a"].ledger.seed == 5


def test_a_fresh_copy_is_as_at_the_beginning_also_with_another_seed():
    cascade = mixed(seed=1)
    first = [pull for pull, _ in play(cascade, near)]
    copy = fresh_copy(cascade, seed=2, budget=100)
    assert (copy.ledger.budget, copy.ledger.seed, copy.ledger.arms) == (100, 2, [])
    other = [pull for pull, _ in play(copy, near)]
    again = fresh_copy(copy, seed=1, budget=200)
    assert [pull for pull, _ in play(again, near)] == first != other
    assert len(cascade.ledger.arms) == len(again.ledger.arms)  # the original is left as it was


def test_the_children_given_are_copied_and_left_alone():
    children = {"a": ma.RandomSearch(SPACE, seed=5), "b": ma.RandomSearch(SPACE)}
    for _ in play(ma.Cascade(children, budget=20, seed=7), near):
        pass
    assert not children["a"].ledger.arms and not children["b"].ledger.arms
