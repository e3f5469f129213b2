"""Spaces as a whole: the contract, random spaces, and what a Choice of spaces does."""

import copy
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyarms as ma
from manyarms.spaces import Choice, Constant, Float, Int, Space, from_json, restore, to_json
from manyarms.spaces.protocol import check_space
from manyarms.testing.spaces import SPACE_CHECKS

MODELS = Choice(
    Space(model="svm", C=Float(1e-3, 1e3, log=True), kernel=Choice("linear", Space(kernel="poly", degree=Int(2, 5)))),
    Space(model="forest", trees=Int(10, 1000, log=True)),
    "majority",
)


class Digits:
    """The least a space can be: its configs are numbers."""

    def sample(self, rng):
        return int(rng.integers(10))

    def mutate(self, config, rng):
        return (config + 1 + int(rng.integers(9))) % 10


class Words(Digits):
    """A space whose configs are not JSON."""

    def sample(self, rng):
        return frozenset([int(rng.integers(10))])

    def mutate(self, config, rng):
        return config ^ {int(rng.integers(10))}

    def to_json(self, config):
        return sorted(config)

    def from_json(self, data):
        return frozenset(data)


SPACES = {
    "flat": lambda: Space(lr=Float(1e-5, 1e-1, log=True), width=Int(5, 50), act=Choice("relu", "tanh")),
    "conditional": lambda: Space(model=MODELS, seed=Int(0, 9)),
    "nested": lambda: Space(a=Space(b=Space(c=Float(0, 1)), d=Choice(1, 2)), e=Int(1, 2)),
    "numbers or words": lambda: Space(gamma=Choice("scale", "auto", Float(1e-4, 10, log=True)), depth=Choice(None, Int(1, 20))),
    "constants": lambda: Space(x=Float(0, 1), epochs=3, layers=[8, 8], options={"nesterov": True}, nothing=None),
    "only constants": lambda: Space(epochs=3, layers=[8, 8]),
    "empty": lambda: Space(),
    "one value": lambda: Space(x=Float(2, 2), n=Int(1, 1), c=Choice("a"), s=Space(y=1)),
    "one that varies": lambda: Space(x=Float(2, 2), n=Int(1, 2)),
    "ordered": lambda: Space(batch=Choice(16, 32, 64, 128, ordered=True), one=Choice("a", ordered=True)),
    "list options": lambda: Space(
        layers=Choice([], [32], [32, 32], [{"units": 8}], ordered=True), other=Choice([1], {"a": [2]})
    ),
    "huge log": lambda: Space(x=Float(1e-300, 1e300, log=True), y=Float(5e-324, 1.7e308, log=True)),
    "tiny log": lambda: Space(x=Float(1.0, 1.0000001, log=True), y=Float(1e-300, 2e-300, log=True)),
    "steps": lambda: Space(rate=Float(0, 1, step=0.1), width=Int(8, 64, step=8), one=Int(1, 5, step=9)),
    "log whole numbers": lambda: Space(n=Int(1, 1_000_000, log=True)),
    "booleans and numbers": lambda: Space(x=Choice(True, False, 1, 0, 1.0, None)),
    "names of Python": lambda: Space(**{"self": Int(0, 3), "rng": Int(0, 3), "svm:C": Float(0, 1), "": Int(0, 1)}),
    "a user's own": Digits,
    "a user's own, not JSON": Words,
}

BROKEN = {
    "sample gives a tuple": (
        {"sample": lambda self, rng: (1, 2)},
        "sample returns must survive a round trip through JSON, got (1, 2)",
    ),
    "sample gives a set": ({"sample": lambda self, rng: {1}}, "a config must be JSON, or the space must have to_json"),
    "sample gives nan": ({"sample": lambda self, rng: float("nan")}, "a config must be JSON"),
    "sample leaves the space": ({"contains": lambda self, config: config < 5}, "sample returns must be in the space, got "),
    "randomness from elsewhere": ({"sample": lambda self, rng: np.random.default_rng().random()}, "the same seed must sample"),
    "mutation from elsewhere": (
        {"mutate": lambda self, config, rng: np.random.default_rng().random()},
        "must have the same mutant",
    ),
    "mutant is its parent": (
        {"mutate": lambda self, config, rng: config},
        "mutate must return another config if there is one",
    ),
    "mutant is no config": ({"mutate": lambda self, config, rng: 99, "contains": lambda self, config: config < 10}, "got 99"),
    "mutate changes the parent": (
        {"sample": lambda self, rng: [1], "mutate": lambda self, config, rng: config.append(1) or list(config)},
        "mutate must not change the parent",
    ),
    "crossover changes a parent": (
        {
            "sample": lambda self, rng: [int(rng.integers(10))],
            "mutate": lambda self, config, rng: [config[0] + 1],
            "crossover": lambda self, a, b, rng: b.append(1) or a,
        },
        "crossover must not change its parents",
    ),
    "codes outside the cube": ({"encode": lambda self, config: [config]}, "encode must return numbers between 0 and 1, got "),
    "codes with nan": ({"encode": lambda self, config: [float("nan")]}, "encode must return numbers between 0 and 1, got "),
    "codes of many lengths": (
        {"encode": lambda self, config: [0.5] * config},
        "encode must always return the same number of coordinates",
    ),
    "codes that forget": (
        {"encode": lambda self, config: [0.5], "decode": lambda self, code: 5},
        "decode must undo encode, got ",
    ),
}

names = st.text("abcxyz", min_size=1, max_size=3)
plain_values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda parts: st.lists(parts, max_size=2) | st.dictionaries(names, parts, max_size=2),
    max_leaves=4,
)


@st.composite
def numbers(draw):
    log = draw(st.booleans())
    if draw(st.booleans()):
        bounds = st.integers(1 if log else -(10**6), 10**6)
        return Int(
            *sorted((draw(bounds), draw(bounds))), log=log, step=None if log else draw(st.none() | st.integers(1, 10**6))
        )
    bounds = st.floats(1e-12, 1e12) if log else st.floats(-1e12, 1e12)
    return Float(*sorted((draw(bounds), draw(bounds))), log=log, step=None if log else draw(st.none() | st.floats(1, 1e12)))


@st.composite
def choices(draw, parts):
    values = draw(st.lists(plain_values, min_size=1, max_size=4, unique_by=lambda value: json.dumps(value, sort_keys=True)))
    values = [value for i, value in enumerate(values) if value not in values[:i]]  # [1] and [True] are one list
    if draw(st.booleans()):
        return Choice(values, ordered=draw(st.booleans()))
    spaces = [Space(**{"kind": f"space {i}", **content}) for i, content in enumerate(draw(st.lists(parts, max_size=2)))]
    return Choice([*values, *spaces])


contents = st.recursive(
    st.dictionaries(names, numbers() | plain_values.map(Constant), max_size=3),
    lambda parts: st.dictionaries(names, choices(parts) | numbers() | parts.map(lambda content: Space(**content)), max_size=3),
    max_leaves=8,
)
spaces = contents.map(lambda content: Space(**content))


@pytest.mark.parametrize("check", SPACE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", SPACES.values(), ids=SPACES)
def test_every_space_keeps_the_contract(make, check):
    check(make(), n=100)


@pytest.mark.parametrize(("methods", "message"), BROKEN.values(), ids=BROKEN)
def test_the_contract_catches_a_broken_space_and_names_the_rule(methods, message):
    with pytest.raises(AssertionError) as raised:
        for check in SPACE_CHECKS:
            check(type("Broken", (Digits,), methods)())
    assert message in str(raised.value)


@settings(deadline=None)
@given(spaces, st.integers(0, 2**32))
def test_a_mutant_of_any_space_is_valid_and_differs(space, seed):
    rng = np.random.default_rng(seed)
    parent = space.sample(rng)
    before = copy.deepcopy(parent)
    child = space.mutate(parent, rng)
    assert parent == before and space.contains(parent) and space.contains(child)
    assert (json.dumps(child) != json.dumps(parent)) == space.varies
    assert space.contains(space.crossover(parent, child, rng))


@settings(deadline=None)
@given(spaces, st.data())
def test_any_point_of_the_cube_is_a_config_that_encodes_to_itself_again(space, data):
    point = data.draw(st.lists(st.floats(0, 1), min_size=space.dimension, max_size=space.dimension))
    config = space.decode(np.array(point))
    assert space.contains(config)
    code = space.encode(config)
    assert code.shape == (space.dimension,) and np.all((code >= 0) & (code <= 1))
    again = space.decode(code)
    assert space.contains(again)
    assert np.allclose(space.encode(again), code, rtol=0, atol=1e-6)  # in the cube, where every number has its scale


@settings(deadline=None)
@given(spaces)
def test_any_space_can_be_restored_from_its_description(space):
    restored = restore(json.loads(json.dumps(space.describe())))
    assert restored == space and hash(restored) == hash(space) and repr(restored) == repr(space)
    assert restored.sample(np.random.default_rng(0)) == space.sample(np.random.default_rng(0))


def test_mutation_of_a_choice_of_spaces_switches_options_and_mutates_inside():
    rng = np.random.default_rng(0)
    config = {"model": "svm", "C": 1.0, "kernel": "linear"}
    mutants = [MODELS.mutate(config, rng) for _ in range(2_000)]
    kinds = Counter(mutant if isinstance(mutant, str) else mutant["model"] for mutant in mutants)
    assert kinds["svm"] == pytest.approx(1_000, abs=100)
    assert kinds["forest"] == pytest.approx(500, abs=80) and kinds["majority"] == pytest.approx(500, abs=80)
    inside = [mutant for mutant in mutants if "C" in mutant]
    assert any(mutant["C"] != 1.0 and mutant["kernel"] == "linear" for mutant in inside)
    assert any(mutant["C"] == 1.0 and mutant["kernel"] != "linear" for mutant in inside)


def test_mutation_changes_one_parameter_and_every_other_time_a_second():
    space = Space(a=Float(0, 1), b=Float(0, 1), c=Float(0, 1), d="constant")
    rng = np.random.default_rng(0)
    parent = space.sample(rng)
    mutants = [space.mutate(parent, rng) for _ in range(3_000)]
    changed = Counter(sum(mutant[name] != parent[name] for name in parent) for mutant in mutants)
    assert set(changed) == {1, 2} and changed[1] == pytest.approx(1_500, abs=120)
    for name in "abc":
        assert sum(mutant[name] != parent[name] for mutant in mutants) == pytest.approx(1_500, abs=120)


def test_crossing_two_configs_takes_each_value_from_one_of_them():
    space = Space(a=Int(0, 9), b=Space(c=Int(0, 9)), model=MODELS)
    one = {"a": 1, "b": {"c": 2}, "model": {"model": "forest", "trees": 100}}
    two = {"a": 3, "b": {"c": 4}, "model": {"model": "forest", "trees": 200}}
    rng = np.random.default_rng(0)
    children = [space.crossover(one, two, rng) for _ in range(200)]
    assert {(child["a"], child["b"]["c"], child["model"]["trees"]) for child in children} == {
        (a, c, trees) for a in (1, 3) for c in (2, 4) for trees in (100, 200)
    }
    assert {str(space.crossover(one, {**two, "model": "majority"}, rng)["model"]) for _ in range(50)} == {
        "majority",
        "{'model': 'forest', 'trees': 100}",
    }


@pytest.mark.parametrize("derive", ["sample", "mutate", "crossover", "decode"])
def test_a_config_can_be_changed_without_changing_its_parents_or_the_space(derive):
    space = Space(x=Float(0, 1), layers=[8, 8], choice=Choice(Choice([1], [2]), {"a": [3]}), sub=Space(deep=[4]))
    rng = np.random.default_rng(0)
    parent = space.sample(rng)
    before = copy.deepcopy(parent)
    make = {
        "sample": lambda: space.sample(rng),
        "mutate": lambda: space.mutate(parent, rng),
        "crossover": lambda: space.crossover(parent, parent, rng),
        "decode": lambda: space.decode(space.encode(parent)),
    }[derive]
    for _ in range(20):
        child = make()
        child["layers"].append("spoilt")
        child["sub"]["deep"].append("spoilt")
        (child["choice"]["a"] if isinstance(child["choice"], dict) else child["choice"]).append("spoilt")
        assert parent == before and space.contains(space.sample(rng))


def test_a_config_is_of_the_space_only_with_exactly_its_names_and_values():
    space = Space(x=Float(0, 1), n=Int(1, 3), model=MODELS, fixed=1)
    config = {"x": 0.5, "n": 2, "model": {"model": "forest", "trees": 10}, "fixed": 1}
    assert space.contains(config)
    for wrong in (
        {"x": 2},
        {"n": 2.0},
        {"n": True},
        {"fixed": True},
        {"fixed": 2},
        {"model": {"model": "forest"}},
        {"more": 1},
    ):
        assert not space.contains({**config, **wrong})
    assert not space.contains({"x": 0.5}) and not space.contains(None) and not space.contains([])


def test_encoding_is_one_coordinate_a_number_and_one_hot_for_choices_with_the_middle_for_what_is_inactive():
    space = Space(x=Float(0, 1), act=Choice("relu", "tanh"), batch=Choice(1, 2, ordered=True), fixed=3, model=MODELS)
    assert space.dimension == 1 + 2 + 1 + 0 + 3 + (1 + 2 + 1) + 1
    config = {"x": 0.25, "act": "tanh", "batch": 1, "fixed": 3, "model": {"model": "forest", "trees": 1000}}
    code = space.encode(config)
    assert code[:4].tolist() == [0.25, 0, 1, 0.25]
    assert code[4:].tolist() == [0, 1, 0, 0.5, 0.5, 0.5, 0.5, pytest.approx(1, abs=1e-3)]


def test_spaces_are_equal_only_with_the_same_parameters_in_the_same_order():
    space = Space(a=Int(0, 1), b=Float(0, 1))
    assert space == Space(a=Int(0, 1), b=Float(0, 1)) and space != Space(b=Float(0, 1), a=Int(0, 1))
    assert Space(a=1) != Space(a=True) and space != "space"


WRONG = {
    "vector too short": (lambda: Space(x=Int(0, 1)).decode([]), ValueError, "vector must have 1 coordinates, got 0"),
    "constant not JSON": (lambda: Space(f=print), TypeError, "parameter 'f': a constant must survive JSON unchanged"),
    "constant tuple": (lambda: Space(layers=(8, 8)), TypeError, "got (8, 8); write [8, 8]"),
    "a dict": (
        lambda: Space({"x": (0, 1)}),
        TypeError,
        "Space takes its parameters by name, such as ma.Space(x=ma.Float(0, 1))",
    ),
    "a dict, hint": (lambda: Space({"x": (0, 1)}), TypeError, "got {'x': (0, 1)}; a dict such as {'x': (0.0, 1.0)} can be the"),
    "range": (lambda: Space(x=(0.0, 1.5)), TypeError, "parameter 'x': write ma.Float(0, 1.5) for a range, or [0.0, 1.5] for a"),
    "whole range": (
        lambda: Space(x=(1, 9)),
        TypeError,
        "parameter 'x': write ma.Int(1, 9) for a range, or [1, 9] for a constant",
    ),
    "log range": (lambda: Space(x=(1, 9, "log")), TypeError, "parameter 'x': write ma.Int(1, 9, log=True) for a range, or"),
    "range the wrong way round": (lambda: Space(x=(2, 1)), TypeError, "got (2, 1); write [2, 1]"),
    "unknown description": (lambda: restore({"graph": []}), ValueError, "description must be of a float, int"),
    "not a space": (
        lambda: check_space([1, 2]),
        TypeError,
        "or an object with the methods sample(rng) and mutate(config, rng)",
    ),
    "a space without mutate": (lambda: check_space(np.random.default_rng()), TypeError, "without sample"),
}


@pytest.mark.parametrize(("make", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(make, error, message):
    with pytest.raises(error) as raised:
        make()
    assert message in str(raised.value)


def test_configs_that_are_not_json_are_written_by_their_space():
    words = Words()
    assert to_json(words, frozenset([2, 1])) == [1, 2] and from_json(words, [1, 2]) == {1, 2}
    assert to_json(Digits(), 3) == 3 and from_json(Digits(), 3) == 3


def test_options_that_are_equal_in_python_make_different_configs_to_begin_with():
    configs = [{"a": 1}, {"a": True}, {"a": 1.0}]
    space = ma.Space(a=ma.Choice(1, True, 1.0)).first(*configs, {"a": True})
    assert [(type(config["a"]), config["a"]) for config in space.firsts] == [(int, 1), (bool, True), (float, 1.0)]


def test_the_configs_a_space_begins_with_are_the_first_arms_of_strategies_that_draw():
    space = ma.Space(x=ma.Float(0, 1), layers=[1, 2]).first({"x": 0.5, "layers": [1, 2]}, {"x": 0.25, "layers": [1, 2]})
    for make in (ma.RandomSearch, ma.AdaptiveMutantUCB, ma.MutantUCB, ma.Hyperband, ma.ASHA, ma.SteadyStateEA, ma.InfiniteUCBE):
        strategy = make(space, budget=500, max_steps=9, seed=0)
        arms = []
        while len(arms) < 3 and (pull := strategy.ask()) is not None:
            arms += [] if pull.arm in arms else [pull.arm]
            strategy.tell(pull, pull.config["x"])
        assert [arm.config["x"] for arm in arms[:2]] == [0.5, 0.25], make
        assert len({arm.config["x"] for arm in arms}) == 3


def test_the_configs_a_space_begins_with_are_part_of_it():
    plain = ma.Space(x=ma.Float(0, 1))
    space = plain.first({"x": 0.5}, {"x": 0.5})
    assert space.firsts == ({"x": 0.5},)
    assert space != plain and plain.firsts == ()
    assert restore(space.describe()) == space
    assert repr(space) == "Space(x=Float(0, 1)).first({'x': 0.5})"


@pytest.mark.parametrize(
    ("config", "wrong"),
    [
        ({"rate": 2}, "parameter 'rate' must be a value of Float(0, 1), got 2"),
        ({"rate": "fast"}, "parameter 'rate' must be a value of Float(0, 1), got 'fast'"),
        ({"act": "gelu"}, "parameter 'act' must be a value of Choice('relu', 'tanh'), got 'gelu'"),
        ({"epochs": 4}, "parameter 'epochs' must be 3, got 4"),
        ({"rates": 0.5}, "there is no parameter 'rates'; did you mean 'rate'?"),
        ({"momentum": 0.5}, "there is no parameter 'momentum'"),
        ({3: 0.5}, "there is no parameter '3'"),
        ({"model": {"depth": 99}}, "parameter 'model.depth' must be a value of Int(1, 9), got 99"),
        ({"model": {}}, "parameter 'model.depth' is missing"),
        ({"model": {"depth": 1, "dept": 1}}, "there is no parameter 'model.dept'; did you mean 'model.depth'?"),
        ({"model": 7}, "parameter 'model' must be a dict"),
    ],
    ids=repr,
)
def test_a_config_that_is_not_in_the_space_is_refused_by_the_parameter_that_is_wrong(config, wrong):
    space = ma.Space(rate=ma.Float(0, 1), act=ma.Choice("relu", "tanh"), epochs=3, model=ma.Space(depth=ma.Int(1, 9)))
    whole = {"rate": 0.5, "act": "relu", "epochs": 3, "model": {"depth": 1}} | config
    with pytest.raises(ValueError) as raised:
        space.first(whole)
    assert str(raised.value) == f"first takes configs of the space, got {whole!r}: {wrong}"


@pytest.mark.parametrize(("config", "wrong"), [({}, "parameter 'x' is missing"), ([0.5], "a config must be a dict")], ids=repr)
def test_a_config_without_a_parameter_is_refused_by_the_one_that_is_missing(config, wrong):
    with pytest.raises(ValueError, match=f"{wrong}$"):
        ma.Space(x=ma.Float(0, 1)).first(config)
