"""A space with conditions as a list of plain parameters."""

from __future__ import annotations

import numpy as np
import pytest
from stub_problems import CONDITIONAL, SIMPLE

from manyarms import Choice, Float, Int, Space
from manyarms.bench.race.flat_space import FlatSpace


def test_parents_come_before_their_children_and_single_values_are_left_out():
    assert [(leaf.name, leaf.parent, leaf.option) for leaf in FlatSpace(CONDITIONAL).leaves] == [
        ("rate", None, None),
        ("width", None, None),
        ("depth", None, None),
        ("size", None, None),
        ("kind", None, None),
        ("kind/1/split", "kind", 1),
        ("kind/1/split/1/alpha", "kind/1/split", 1),
        ("kind/2", "kind", 2),
        ("only/0/inner", None, None),
    ]


def test_leaves_that_do_not_exist_may_be_missing_or_anything():
    flat = FlatSpace(CONDITIONAL)
    values = {"rate": 0.1, "width": 3, "depth": 2, "size": 2, "kind": 0, "only/0/inner": 0.5}
    config = flat.config(values)
    assert config == flat.config(values | {"kind/1/split": 1, "kind/2": "nonsense"})
    assert config["kind"] == "linear" and config["size"] == "large" and config["only"] == {"inner": 0.5}
    assert config["same"] == 2.0 and config["constant"] == [1, 2]


@pytest.mark.parametrize(("number", "kind"), [(1, {"name": "tree", "split": {"name": "own", "alpha": 0.25}}), (2, 2.5)])
def test_conditions_nest(number, kind):
    values = {"rate": 0.1, "width": 3, "depth": 2, "size": 0, "kind": number, "only/0/inner": 0.5}
    below = {"kind/1/split": 1, "kind/1/split/1/alpha": 0.25, "kind/2": 2.5}
    config = FlatSpace(CONDITIONAL).config(values | below)
    assert config["kind"] == kind
    assert CONDITIONAL.contains(config)


def test_values_become_plain_and_stay_within_their_bounds():
    flat = FlatSpace(Space(x=Float(0, 1), n=Int(2, 5), c=Choice("a", "b")))
    config = flat.config({"x": np.float64(1.0000000001), "n": np.float64(6.0), "c": np.int64(1)})
    assert config == {"x": 1.0, "n": 5, "c": "b"}
    assert [type(value) for value in config.values()] == [float, int, str]


def test_numbers_with_steps_are_searched_by_the_number_of_their_value():
    space = Space(x=Float(0, 1, step=0.1), n=Int(8, 64, step=8), same=Float(2, 3, step=5))
    flat = FlatSpace(space)
    assert [(leaf.name, leaf.parameter) for leaf in flat.leaves] == [("x", Int(0, 10)), ("n", Int(0, 7))]
    for values, config in (({"x": 3, "n": 0}, {"x": 0.3, "n": 8}), ({"x": np.int64(10), "n": 7.0}, {"x": 1.0, "n": 64})):
        assert flat.config(values) == {**config, "same": 2.0} and space.contains(flat.config(values))


def test_no_config_shares_its_values_with_the_space():
    config = FlatSpace(CONDITIONAL).config({"rate": 0.1, "width": 3, "depth": 2, "size": 0, "kind": 0, "only/0/inner": 0})
    config["constant"].append(3)
    assert CONDITIONAL.sample(np.random.default_rng(0))["constant"] == [1, 2]


def test_a_space_without_conditions_is_its_parameters():
    assert [(leaf.name, leaf.parameter) for leaf in FlatSpace(SIMPLE).leaves] == list(SIMPLE.parameters.items())
