"""Spaces written as plain dicts."""

import numpy as np
import pytest
from scipy import stats

import manyarms as ma
from manyarms.spaces import Choice, Constant, Float, Int, Joint, Space, as_space
from manyarms.testing.spaces import SPACE_CHECKS

PLAIN = {
    "float range": ((0.0, 1.0), Float(0, 1)),
    "int range": ((1, 10), Int(1, 10)),
    "one whole bound": ((0, 0.5), Float(0, 0.5)),
    "log range": ((1e-5, 1e-1, "log"), Float(1e-5, 1e-1, log=True)),
    "log range of whole numbers": ((1, 1000, "log"), Int(1, 1000, log=True)),
    "NumPy bounds": ((np.int64(1), np.int32(4)), Int(1, 4)),
    "words": (["relu", "tanh"], Choice("relu", "tanh")),
    "ascending numbers": ([1, 2, 4], Choice(1, 2, 4, ordered=True)),
    "descending numbers": ([0.1, 0.01, 0.001], Choice(0.1, 0.01, 0.001, ordered=True)),
    "mixed numbers": ([4, 1, 2], Choice(4, 1, 2)),
    "two numbers": ([1, 2], Choice(1, 2)),
    "booleans": ([False, True], Choice(False, True)),
    "numbers and None": ([None, 1, 2], Choice(None, 1, 2)),
    "lists and tuples": ([(8,), [8, 8]], Choice([8], [8, 8])),
    "one list": ([[8, 8]], Choice([[8, 8]])),
    "array": (np.array([1, 2, 3]), Choice(1, 2, 3, ordered=True)),
    "range": (range(1, 4), Choice(1, 2, 3, ordered=True)),
    "nested": ({"depth": (1, 5), "fixed": "x"}, Space(depth=Int(1, 5), fixed="x")),
    "options with parameters": (
        [{"kind": "svm", "C": (0.1, 10.0)}, "majority", Float(0, 1)],
        Choice(Space(kind="svm", C=Float(0.1, 10)), "majority", Float(0, 1)),
    ),
    "parameter": (Float(0, 1, step=0.1), Float(0, 1, step=0.1)),
    "scipy": (stats.loguniform(0.1, 10), Float(0.1, 10, log=True)),
    "number": (3, Constant(3)),
    "text": ("adam", Constant("adam")),
    "nothing": (None, Constant(None)),
    "constant list": (Constant([8, 8]), Constant([8, 8])),
}


@pytest.mark.parametrize(("given", "expected"), PLAIN.values(), ids=PLAIN)
def test_each_value_of_a_dict_stands_for_a_parameter(given, expected):
    assert as_space({"x": given}) == Space(x=expected)


def test_numbers_above_all_floats_are_options_in_order():
    assert as_space({"n": [0.5, 10**400, 10**401]}) == Space(n=Choice(0.5, 10**400, 10**401, ordered=True))


def test_what_is_a_space_already_stays_the_same_object():
    space = Space(x=Float(0, 1))
    assert as_space(space) is space

    class Own(dict):
        """A user's space that is a mapping too."""

        sample = mutate = lambda self, *given: 1

    own = Own()
    assert as_space(own) is own


@pytest.mark.parametrize("check", SPACE_CHECKS, ids=lambda check: check.__name__)
def test_a_space_from_a_dict_keeps_the_contract(check):
    check(as_space({name.replace(" ", "_"): given for name, (given, _) in PLAIN.items()}))


WRONG = {
    "turned round": ({"x": (2.0, 1.0)}, ValueError, "parameter 'x': low must not exceed high, got low=2.0 and high=1.0"),
    "deep": ({"model": {"depth": (9, 1)}}, ValueError, "parameter 'model.depth': low must not exceed high"),
    "in an option": ({"m": ["a", {"C": (2, 1)}]}, ValueError, "parameter 'm[1].C': low must not exceed high"),
    "tuple of three": ({"x": (1, 2, 3)}, TypeError, "parameter 'x': a tuple must be a range, (low, high) or"),
    "tuple of words": ({"x": ("a", "b")}, TypeError, "got ('a', 'b'); write a list for a choice"),
    "tuple of booleans": ({"x": (False, True)}, TypeError, "parameter 'x': a tuple must be a range"),
    "log of zero": ({"x": (0, 9, "log")}, ValueError, "parameter 'x': low must be above 0 with log=True"),
    "no options": ({"x": []}, ValueError, "parameter 'x': options must name at least one value, got none"),
    "same option twice": ({"x": [1, 1]}, ValueError, "parameter 'x': options must differ, got 1 twice"),
    "options alike": ({"x": [{"a": (1, 3)}, {"a": (2, 4)}]}, ValueError, "parameter 'x': options must have no value in common"),
    "function": ({"x": print}, TypeError, "parameter 'x': a constant must survive JSON unchanged"),
    "0-d array": ({"x": np.array(3)}, TypeError, "parameter 'x': a constant must survive JSON unchanged"),
    "other distribution": ({"x": stats.norm()}, ValueError, "parameter 'x': must be a list or a frozen uniform"),
    "name": ({"model": {3: 1}}, TypeError, "the names of parameters must be strings, got 3 in 'model'"),
    "no space": (3, TypeError, "space must be a Space, a dict of parameters, or an object with the methods"),
}


@pytest.mark.parametrize(("space", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_dict_is_refused_by_the_name_of_the_parameter(space, error, message):
    with pytest.raises(error) as raised:
        as_space(space)
    assert message in str(raised.value)


DICT = {"x": (0.0, 1.0), "n": [1, 2, 4]}
SPACE = Space(x=Float(0, 1), n=Choice(1, 2, 4, ordered=True))


@pytest.mark.parametrize("name", sorted(ma.strategies.names.strategy_classes()))
def test_every_strategy_takes_a_dict_for_the_space_and_decides_as_with_the_space(name):
    make = ma.strategies.strategy_class(name)
    one, two = make(DICT, budget=40, max_steps=3, seed=0), make(SPACE, budget=40, max_steps=3, seed=0)
    assert one.ledger.space == SPACE
    for _ in range(10):
        pull = one.ask()
        assert pull == two.ask()
        for strategy in (one, two):
            strategy.tell(pull, pull.config["x"])


def test_tune_and_load_study_take_a_dict_for_the_space(tmp_path):
    seen = []

    def own_strategy(space, **given):
        seen.append(space)
        return ma.RandomSearch(space, **given)

    storage = tmp_path / "study.db"
    study = ma.tune(lambda config: config["x"], DICT, budget=5, strategy=own_strategy, storage=storage, seed=0, progress=False)
    study.close()
    assert seen == [SPACE] and set(study.best_config) == {"x", "n"}
    with ma.load_study(storage) as same, ma.load_study(storage, space=DICT) as given:
        assert same.best_config == given.best_config == study.best_config


def test_the_parts_of_a_joint_space_may_be_dicts():
    assert Joint({"a": DICT, "b": {"y": (1, 3)}}).spaces == {"a": SPACE, "b": Space(y=Int(1, 3))}


def test_a_configspace_is_converted_wherever_a_space_is_taken():
    configspace = pytest.importorskip("ConfigSpace")
    theirs = configspace.ConfigurationSpace({"x": (0.0, 1.0), "act": ["relu", "tanh"]})
    assert ma.RandomSearch(theirs, budget=1).ledger.space.parameters == {"x": Float(0, 1), "act": Choice("relu", "tanh")}
