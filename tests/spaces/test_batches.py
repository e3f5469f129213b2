"""Many configs at once: in the space, as points that are theirs, and equal to what the space makes one by one."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyarms import Choice, Float, Int, Joint, Space
from manyarms.spaces.batches import OneByOneBatches, batch_maker

SPACES = {
    "numbers": Space(rate=Float(1e-5, 1e-1, log=True), width=Int(5, 50), depth=Int(1, 3), units=Int(1, 64, log=True)),
    "choices": Space(act=Choice("relu", "tanh", "gelu"), size=Choice(1, 2, 3, ordered=True), flag=Choice(True, False)),
    "conditions": Space(
        x=Float(0, 1), model=Choice("knn", Space(model="svm", C=Float(0.1, 10), kernel=Choice("rbf", "linear"))), fixed=[1, 2]
    ),
    "nested": Space(inner=Space(a=Float(0, 1), b=Int(0, 3)), one=Choice("only")),
    "steps": Space(rate=Float(0, 1, step=0.1), width=Int(8, 64, step=8), x=Float(0, 1)),
    "one parameter": Space(x=Int(0, 1)),
    "nothing varies": Space(x=3),
}
each_space = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)


def made(batch) -> list:
    points, config = batch
    return [config(i) for i in range(len(points))]


@each_space
def test_all_that_is_made_is_in_the_space_and_near_its_point(space):
    rng, maker = np.random.default_rng(0), batch_maker(space)
    config, other = space.sample(rng), space.sample(rng)
    parent, mate = (config, space.encode(config)), (other, space.encode(other))
    for points, make in (
        maker.sample(50, rng),
        maker.mutate(parent, np.full(50, 0.2), rng),
        maker.cross(parent, [mate] * 50, rng),
    ):
        assert points.shape == (50, space.dimension)
        assert points.size == 0 or (points.min() >= 0.0 and points.max() <= 1.0)
        for i in range(50):
            assert space.contains(make(i))
            assert space.encode(make(i)) == pytest.approx(space.encode(space.decode(points[i])))


@each_space
def test_a_child_has_exactly_what_it_has_from_its_parents(space):
    rng, maker = np.random.default_rng(1), batch_maker(space)
    config, other = space.sample(rng), space.sample(rng)
    parent, mate = (config, space.encode(config)), (other, space.encode(other))
    for child in made(maker.cross(parent, [mate] * 30, rng)):
        assert all(child[name] in (config[name], other[name]) for name in child)
    for child in made(maker.mutate(parent, np.full(30, 0.1), rng)):
        assert sum(child[name] != config[name] for name in child) <= 2


@each_space
def test_none_can_be_asked_for(space):
    rng, maker = np.random.default_rng(0), batch_maker(space)
    config = space.sample(rng)
    parent = (config, space.encode(config))
    for batch in (maker.sample(0, rng), maker.mutate(parent, np.zeros(0), rng), maker.cross(parent, [], rng)):
        assert batch[0].shape == (0, space.dimension) and made(batch) == []


@pytest.mark.parametrize("name", ["numbers", "choices", "conditions", "nested", "steps", "one parameter"])
def test_nearly_every_mutant_differs_from_its_parent(name):
    space, rng = SPACES[name], np.random.default_rng(2)
    config = space.sample(rng)
    children = made(batch_maker(space).mutate((config, space.encode(config)), np.full(200, 0.03), rng))
    assert np.mean([child != config for child in children]) > 0.9


def test_a_parents_lists_are_not_shared_with_its_children():
    space = SPACES["conditions"]
    config = space.sample(np.random.default_rng(0))
    child = made(batch_maker(space).mutate((config, space.encode(config)), np.array([0.1]), np.random.default_rng(0)))[0]
    child["fixed"].append(3)
    assert config["fixed"] == [1, 2]


def test_mutants_spread_as_those_made_one_by_one_do():
    space = SPACES["numbers"]
    config = {"rate": 1e-3, "width": 20, "depth": 2, "units": 8}
    parent = (config, space.encode(config))
    rng = np.random.default_rng(3)
    together, single = (
        np.array([space.encode(child) for child in made(maker.mutate(parent, np.full(4000, 0.1), rng))])
        for maker in (batch_maker(space), OneByOneBatches(space))
    )
    assert together.mean(axis=0) == pytest.approx(single.mean(axis=0), abs=0.01)
    assert together.std(axis=0) == pytest.approx(single.std(axis=0), rel=0.1)


@given(size=st.floats(0, 2), at=st.integers(1, 4))
def test_whole_numbers_move_to_another_whole_number_even_by_the_least_step(size, at):
    space = Space(x=Int(1, 4))
    maker, config = batch_maker(space), {"x": at}
    children = made(maker.mutate((config, space.encode(config)), np.full(20, size / 100), np.random.default_rng(0)))
    assert all(child != config and 1 <= child["x"] <= 4 for child in children)


@given(size=st.floats(0, 2), at=st.integers(0, 4))
def test_numbers_with_steps_move_to_another_value_even_by_the_least_step(size, at):
    for space, config in (
        (Space(x=Float(0, 1, step=0.25)), {"x": 0.25 * at}),
        (Space(x=Int(3, 15, step=3)), {"x": 3 + 3 * at}),
    ):
        batch = batch_maker(space).mutate((config, space.encode(config)), np.full(20, size / 100), np.random.default_rng(0))
        assert all(child != config and space.contains(child) for child in made(batch))


def test_the_memory_for_a_sample_grows_with_the_number_of_options_and_not_with_its_square():
    maker = batch_maker(Space(item=Choice(*range(10_000)), x=Float(0, 1)))
    tracemalloc.start()
    configs = made(maker.sample(5, np.random.default_rng(0)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len({config["item"] for config in configs}) > 1 and peak < 100e6  # 10,000 squared numbers take 800 MB


def test_a_space_that_knows_nothing_of_this_is_asked_one_by_one():
    space = Joint({"a": Space(x=Float(0, 1)), "b": Space(y=Int(1, 9))})
    rng = np.random.default_rng(0)
    config = space.sample(rng)
    parent = (config, space.encode(config))
    for batch in (batch_maker(space).sample(3, rng), batch_maker(space).mutate(parent, np.ones(3), rng)):
        assert all(space.contains(child) for child in made(batch))
    assert made(batch_maker(space).cross(parent, [], rng)) == []
