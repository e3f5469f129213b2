"""Curve worlds: hills of known height, and curves that rise to them fast, slowly or across each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from manyarms import AdaptiveMutantUCB
from manyarms.bench.problems import CurveWorld, evaluate, regret

from .samples import KINDS, samples


def test_fast_and_slow_curves_keep_their_order_from_the_first_step_on():
    for kind in ("fast", "slow"):
        world = CurveWorld(kind, noise=0, seed=1)
        configs = samples(world, 200)
        for step in (1, 3, 10):
            early = [world.reward(config, step, seed=0) for config in configs]
            assert stats.spearmanr(early, [world.value(config) for config in configs])[0] > 0.9999


@pytest.mark.parametrize(("kind", "first"), [("fast", 0.86), ("slow", 0.14)])
def test_after_one_step_fast_curves_are_nearly_there_and_slow_ones_have_hardly_begun(kind, first):
    world = CurveWorld(kind, noise=0, seed=1)
    for config in samples(world, 20):
        assert world.reward(config, 1, seed=0) == pytest.approx(first * world.value(config), rel=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_in_the_crossing_world_the_first_step_ranks_good_arms_upside_down_and_the_last_one_rightly(seed):
    world = CurveWorld("crossing", noise=0, seed=seed)
    rng = np.random.default_rng(50)
    configs = sorted((near_the_top(world, rng) for _ in range(300)), key=world.value)
    values = [world.value(config) for config in configs]
    for step, order in [(1, -1), (10, 1)]:
        rewards = [world.reward(config, step, seed=0) for config in configs]
        good = [reward for reward, value in zip(rewards, values, strict=True) if value > 0.68 * world.best]
        assert len(good) > 20
        assert good == sorted(good, reverse=order < 0)
    first = [world.reward(config, 1, seed=0) for config in configs]
    assert regret(world, configs[int(np.argmax(first))]) > 50
    assert regret(world, configs[-1]) < 10


def near_the_top(world, rng):
    """A config between a random one and the highest hill."""
    top, point = world._peaks[-1], rng.random(len(world._peaks[-1]))
    return world.space.decode(top + rng.random() * (point - top))


@pytest.mark.parametrize("kind", KINDS)
def test_every_curve_rises_and_ends_at_the_value(kind):
    world = CurveWorld(kind, max_steps=7, noise=0, seed=2)
    for config in samples(world, 50):
        curve = [world.reward(config, step, seed=0) for step in range(1, 8)]
        assert curve == sorted(curve)
        assert curve[-1] == pytest.approx(world.value(config))


def test_noise_is_added_to_each_reward():
    quiet, loud = (CurveWorld("fast", noise=noise, seed=1) for noise in (0, 0.2))
    config = samples(quiet, 1)[0]
    errors = [loud.reward(config, 4, seed) - quiet.reward(config, 4, seed) for seed in range(2000)]
    assert np.std(errors) == pytest.approx(0.2, rel=0.1)
    assert abs(np.mean(errors)) < 4 * 0.2 / np.sqrt(2000)


@pytest.mark.parametrize("seed", range(4))
def test_mutants_are_nearer_in_value_to_their_parents_than_random_arms_are(seed):
    world, rng = CurveWorld(seed=seed), np.random.default_rng(50)
    configs = samples(world, 400)
    values = np.array([world.value(config) for config in configs])
    mutants = np.array([world.value(world.space.mutate(config, rng)) for config in configs])
    to_mutants, to_others = np.abs(mutants - values), np.abs(np.roll(values, 1) - values)
    assert np.mean(to_mutants) < 0.5 * np.mean(to_others)
    assert np.corrcoef(values, mutants)[0, 1] > 0.7


@pytest.mark.parametrize("dimensions", [1, 2, 5, 20])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_is_attained_at_the_top_of_the_highest_hill(dimensions, seed):
    world = CurveWorld(dimensions=dimensions, noise=0, seed=seed)
    tops = [world.space.decode(peak) for peak in world._peaks]
    assert max(map(world.value, tops)) == pytest.approx(world.best)
    assert max(world.reward(top, world.max_steps, seed=0) for top in tops) == pytest.approx(world.best)


def test_the_seed_makes_the_landscape_and_the_kind_only_its_curves():
    one, same, crossing, other = CurveWorld(seed=1), CurveWorld(seed=1), CurveWorld("crossing", seed=1), CurveWorld(seed=2)
    configs = samples(one, 20)
    values = [[world.value(config) for config in configs] for world in (one, same, crossing, other)]
    assert values[0] == values[1] == values[2] != values[3]
    assert one.name == "fast curves" and crossing.name == "crossing curves"


def test_a_search_finds_its_way_up_and_is_misled_where_curves_cross():
    found = {}
    for kind in ("fast", "crossing"):
        world = CurveWorld(kind, seed=101)
        search = AdaptiveMutantUCB(world.space, budget=150, max_steps=10, seed=0)
        while (pull := search.ask()) is not None:
            search.tell(pull, evaluate(world, pull, seed=0))
        found[kind] = regret(world, search.best().config)
    assert found["fast"] < 30 < found["crossing"]
