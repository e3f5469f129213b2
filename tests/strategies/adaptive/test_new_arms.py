"""How AdaptiveMutantUCB makes new arms: the most promising of many candidates, where the space encodes them."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest

from manyarms import AdaptiveMutantUCB, Float, Int, RandomSearch, Space
from manyarms.spaces.batches import OneByOneBatches
from manyarms.strategies.surrogate import rules
from manyarms.testing import play

from .searches import WIDE, distance, finish, loss


class Digits:
    """The least a space can be."""

    def sample(self, rng):
        return int(rng.integers(1000))

    def mutate(self, config, rng):
        return (config + 1 + int(rng.integers(999))) % 1000


class Line(Digits):
    """It encodes, but neither crosses nor takes a size."""

    dimension = 1

    def encode(self, config):
        return np.array([config / 999])


class Watched(Space):
    """It writes down how its configs are made."""

    def __init__(self, **parameters):
        super().__init__(**parameters)
        self.sizes, self.crossings, self.encoded = Counter(), 0, 0

    def mutate(self, config, rng, size=0.15):
        self.sizes[size] += 1
        return super().mutate(config, rng, size)

    def crossover(self, a, b, rng):
        self.crossings += 1
        return super().crossover(a, b, rng)

    def encode(self, config):
        self.encoded += 1
        return super().encode(config)


@pytest.mark.parametrize("space", [WIDE, Line()], ids=["a space", "a space that neither crosses nor takes a size"])
def test_a_new_arm_is_the_most_promising_of_many_candidates(space):
    search = AdaptiveMutantUCB(space, max_steps=5, seed=0)
    bounds_of, seen = search._generator.process.upper_confidence_bounds, []

    def watched(candidates, *known):
        seen.append((candidates, bounds_of(candidates, *known)))
        return seen[-1][1]

    search._generator.process.upper_confidence_bounds = watched
    chosen = 0
    for pull, _ in islice(play(search, lambda pull: -abs(float(space.encode(pull.config)[0]) - 0.4)), 200):
        if pull.arm.id >= 24 and not pull.start and seen:
            candidates, bounds = seen.pop()
            assert len(candidates) == 64
            known = np.array([space.encode(arm.config) for arm in search.ledger.arms[: pull.arm.id]])
            unseen = [row for row in rules.candidate_order(bounds) if np.abs(known - candidates[row]).max(axis=1).min() > 1e-9]
            assert space.encode(pull.config) == pytest.approx(candidates[unseen[0]])
            chosen += 1
        seen.clear()
    assert chosen > 50


def test_candidates_are_mutants_of_several_sizes_and_crossings_with_good_arms():
    space = Watched(x=Float(0, 1), y=Float(0, 1))
    space.batch_maker = lambda: OneByOneBatches(space)  # who asks for each of them
    search = AdaptiveMutantUCB(space, budget=400, max_steps=5, seed=0)
    finish(search, loss)
    sizes = {size: count for size, count in space.sizes.items() if size in (0.03, 0.1, 0.2, 0.4)}
    assert len(sizes) == 4 and min(sizes.values()) > 0.8 * max(sizes.values())
    assert 0.2 * sum(sizes.values()) < space.crossings < 0.4 * sum(sizes.values())
    assert {len(arm.parents) for arm in search.ledger.arms} == {0, 1, 2}


def test_new_arms_are_near_good_arms():
    near, anywhere = [], []
    for seed in range(4):
        search = AdaptiveMutantUCB(WIDE, max_steps=5, seed=seed)
        pulls = [pull for pull, _ in islice(play(search, loss), 300)]
        anywhere += [distance(pull.config) for pull in pulls[:24]]
        near += [distance(pull.config) for pull in pulls[24:] if not pull.start]
    assert np.median(near) < 0.5 * np.median(anywhere)


def test_with_and_without_the_surrogate_the_search_beats_random_search():
    found = np.zeros(3)
    for seed in range(4):
        searches = (
            AdaptiveMutantUCB(WIDE, budget=300, max_steps=5, seed=seed),
            AdaptiveMutantUCB(WIDE, budget=300, max_steps=5, surrogate=False, seed=seed),
            RandomSearch(WIDE, budget=300, max_steps=5, seed=seed),
        )
        for i, search in enumerate(searches):
            finish(search, loss)
            found[i] += distance(search.best().config) / 4
    assert max(found[:2]) < 0.5 * found[2]


def test_a_new_arm_is_never_a_known_config():
    space = Space(n=Int(1, 200), m=Int(1, 3))
    search = AdaptiveMutantUCB(space, budget=600, max_steps=4, seed=0)
    finish(search, lambda pull: -abs(pull.config["n"] - 100) / 200 - pull.stop)
    configs = [(arm.config["n"], arm.config["m"]) for arm in search.ledger.arms]
    assert len(configs) == len(set(configs)) > 100


def test_without_a_surrogate_the_space_is_not_asked_to_encode():
    space = Watched(x=Float(0, 1), y=Float(0, 1))
    search = AdaptiveMutantUCB(space, budget=300, max_steps=5, surrogate=False, seed=0)
    finish(search, loss)
    assert space.encoded == 0 == space.crossings and set(space.sizes) == {0.15}
    assert max(len(arm.parents) for arm in search.ledger.arms) == 1


def test_a_space_that_does_not_encode_goes_without():
    search = AdaptiveMutantUCB(Digits(), budget=400, max_steps=5, seed=0)
    finish(search, lambda pull: -abs(pull.config - 300) / pull.stop)
    assert abs(search.best().config - 300) < 30 and {len(arm.parents) for arm in search.ledger.arms} == {0, 1}


def test_a_space_that_neither_crosses_nor_takes_a_size_has_its_new_arms_chosen_too():
    search = AdaptiveMutantUCB(Line(), budget=400, max_steps=5, seed=0)
    finish(search, lambda pull: -abs(pull.config - 300) / pull.stop)
    assert abs(search.best().config - 300) < 10 and {len(arm.parents) for arm in search.ledger.arms} == {0, 1}


def distances_in_flight(search, workers):
    """For each new arm that is asked for while others are in flight: the distance to the nearest new one among these."""
    for pull in [search.ask() for _ in range(search.initial)]:
        search.tell(pull, loss(pull))
    flying, found = [], []
    for _ in range(40):
        pull = search.ask()
        point = search._generator.process.points[pull.arm.id]
        others = [search._generator.process.points[other.arm.id] for other in flying if not other.start]
        if not pull.start and others:
            found.append(min(np.linalg.norm(point - other) for other in others))
        flying.append(pull)
        if len(flying) == workers:
            done = flying.pop(0)
            search.tell(done, loss(done))
    return found


def test_many_workers_try_new_arms_that_are_farther_from_each_other(monkeypatch):
    def mean_distance():
        searches = (AdaptiveMutantUCB(WIDE, max_steps=10, seed=seed) for seed in range(10))
        return np.mean([distance for search in searches for distance in distances_in_flight(search, workers=16)])

    apart = mean_distance()
    monkeypatch.setattr("manyarms.strategies.surrogate.rules.pending_arms", lambda in_flight, slices: [])
    assert apart > 1.05 * mean_distance()
