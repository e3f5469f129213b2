"""Several spaces as one."""

import copy

import numpy as np
import pytest

from manyarms.spaces import Choice, Float, Int, Joint, Space, restore
from manyarms.testing.spaces import SPACE_CHECKS

SVM, FOREST = Space(C=Float(1e-3, 1e3, log=True)), Space(trees=Int(10, 1000), depth=Choice(1, 2, 3))


class Words:
    """The least a space can be, with configs that are not JSON."""

    def sample(self, rng):
        return frozenset([int(rng.integers(10))])

    def mutate(self, config, rng):
        return config ^ {int(rng.integers(10))}

    def to_json(self, config):
        return sorted(config)

    def from_json(self, data):
        return frozenset(data)


JOINTS = {
    "spaces": Joint({"svm": SVM, "forest": FOREST}),
    "one": Joint({"svm": SVM}),
    "with a constant": Joint({"svm": SVM, "majority": Space()}),
    "with a user's": Joint({"svm": SVM, "words": Words()}),
    "nested": Joint({"linear": Joint({"svm": SVM, "ridge": Space(alpha=Float(0, 1))}), "forest": FOREST}),
}


@pytest.mark.parametrize("check", SPACE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("space", JOINTS.values(), ids=JOINTS)
def test_it_keeps_the_contract_of_spaces(space, check):
    check(space)


def test_each_algorithm_is_as_likely_as_another_and_mutation_changes_it_every_other_time():
    space, rng = JOINTS["spaces"], np.random.default_rng(0)
    configs = [space.sample(rng) for _ in range(1000)]
    assert 400 < sum(config["algorithm"] == "svm" for config in configs) < 600
    changed = sum(space.mutate(config, rng)["algorithm"] != config["algorithm"] for config in configs)
    assert 400 < changed < 600


def test_what_not_all_spaces_can_do_it_cannot():
    can, cannot = JOINTS["spaces"], JOINTS["with a user's"]
    for ability in ("crossover", "contains", "encode", "decode", "describe", "dimension"):
        assert hasattr(can, ability) and not hasattr(cannot, ability)


def test_a_size_is_passed_on_to_spaces_that_take_one():
    config = {"algorithm": "svm", "config": {"C": 1.0}}
    mutants = [JOINTS["with a user's"].mutate(config, np.random.default_rng(seed), 1e-6) for seed in range(20)]
    same = [mutant["config"]["C"] for mutant in mutants if mutant["algorithm"] == "svm"]
    assert same and all(abs(C - 1) < 1e-3 for C in same)


def test_a_config_whose_algorithm_is_no_name_is_not_in_the_space():
    assert not any(JOINTS["spaces"].contains({"algorithm": name, "config": {"C": 1.0}}) for name in (None, 1, ["svm"], {}))


def test_two_of_one_algorithm_are_crossed_by_its_space_and_of_two_one_is_copied():
    space, rng = JOINTS["spaces"], np.random.default_rng(0)
    a = {"algorithm": "forest", "config": {"trees": 10, "depth": 1}}
    b = {"algorithm": "forest", "config": {"trees": 99, "depth": 3}}
    crossed = [space.crossover(a, b, rng)["config"] for _ in range(50)]
    assert {(config["trees"], config["depth"]) for config in crossed} == {(10, 1), (10, 3), (99, 1), (99, 3)}
    c, before = {"algorithm": "svm", "config": {"C": 1.0}}, copy.deepcopy(a)
    for _ in range(10):
        child = space.crossover(a, c, rng)
        child["config"]["new"] = 1
        assert child["algorithm"] in ("forest", "svm")
    assert a == before and "new" not in c["config"]


def test_its_description_makes_it_again():
    for name in ("spaces", "with a constant", "nested"):
        space = JOINTS[name]
        again = restore(space.describe())
        assert again.describe() == space.describe()
        assert again.sample(np.random.default_rng(3)) == space.sample(np.random.default_rng(3))


WRONG = {
    "no dict": ([SVM], TypeError, "spaces must be a dict of names to spaces"),
    "nothing": ({}, ValueError, "spaces must contain at least one space, got none"),
    "a number as name": ({1: SVM}, TypeError, "the names of spaces must be strings, got 1"),
    "no space": ({"svm": 3}, TypeError, "with the methods"),
}


@pytest.mark.parametrize(("spaces", "error", "message"), WRONG.values(), ids=WRONG)
def test_wrong_spaces_are_refused(spaces, error, message):
    with pytest.raises(error, match=message):
        Joint(spaces)
