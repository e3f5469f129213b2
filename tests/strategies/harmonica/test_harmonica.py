"""Harmonica: it finds the bits that matter, leaves the rest to its base search, and goes on with many workers."""

import math

import numpy as np
import pytest

import manyarms as ma
from manyarms import Choice, Float, Harmonica, Hyperband, NoResult, RandomSearch, Space
from manyarms.strategies.harmonica.stages import shares
from manyarms.study.header import make_header, restored_strategy
from manyarms.testing import play

LINE = Space(x=Float(0, 1))
BITS = Space(**{f"b{i}": Choice(-1, 1) for i in range(30)})
PLANTED = {("b2", "b8"): 3.0, ("b15",): -2.0, ("b3", "b6"): 2.0, ("b11",): 1.5, ("b0",): -1.0}

WRONG = {
    "no stage": ({"stages": 0}, ValueError, "stages must be at least 1, got 0"),
    "one sample": ({"samples": 1}, ValueError, "samples must be at least 2, got 1"),
    "no degree": ({"degree": 0}, ValueError, "degree must be at least 1, got 0"),
    "half a degree": ({"degree": 2.5}, TypeError, "degree must be a whole number, got 2.5"),
    "no monomial": ({"monomials": 0}, ValueError, "monomials must be at least 1, got 0"),
    "nothing kept": ({"keep": 0}, ValueError, "keep must be at least 1, got 0"),
    "no bits": ({"bits": 0}, ValueError, "bits must be at least 1, got 0"),
    "another base": ({"base": "tree"}, ValueError, "base must be one of 'random', 'hyperband', got 'tree'"),
    "all promoted": ({"eta": 1}, ValueError, "eta must be at least 2, got 1"),
    "less than one training": ({"budget": 9, "max_steps": 10}, ValueError, "budget must be at least 10, one bracket of 1 arm"),
    "less than one bracket": (
        {"budget": 20, "max_steps": 9, "base": "hyperband"},
        ValueError,
        "budget must be at least 21, one bracket of 9 arms",
    ),
}


def height(config, polynomial=PLANTED):
    return sum(number * math.prod(config[bit] for bit in term) for term, number in polynomial.items())


def played(search, reward=lambda pull: height(pull.config), **given):
    """All pulls, when the search is over."""
    return [pull for pull, _ in play(search, reward, **given)]


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(arguments, error, message):
    with pytest.raises(error) as raised:
        Harmonica(LINE, **arguments)
    assert message in str(raised.value)


def test_a_space_that_cannot_encode_is_refused():
    class Digits:
        def sample(self, rng):
            return int(rng.integers(10))

        mutate = sample

    with pytest.raises(TypeError, match="space must map its configs to the unit cube, .*: it has no encode"):
        Harmonica(Digits())


def test_stages_and_samples_follow_from_the_budget():
    assert shares(None, 3, 52) == (3, 52)
    assert shares(None, 3, 0) == (3, 15)
    assert shares(10_000, 3, 52) == (3, 1666)
    assert shares(90, 3, 52) == (3, 15)
    assert shares(89, 3, 52) == (2, 22)
    assert shares(30, 3, 52) == (1, 15)
    assert shares(29, 3, 52) == (0, 0)


def test_a_planted_polynomial_is_found_and_its_bits_are_fixed():
    search = Harmonica(BITS, budget=500, seed=0)
    pulls = played(search)
    first = search.polynomials()[0]
    assert set(first) == {tuple(f"{bit}/1" for bit in term) for term in PLANTED}
    assert next(iter(first)) == ("b2/1", "b8/1") and first["b15/1",] < 0 < first["b11/1",]
    assert height(search.best().config) == 9.5
    late = [height(pull.config) for pull in pulls[search.samples :]]
    assert min(late) == 9.5  # all have one of two ways to set these bits, and several are best


def test_the_rest_of_the_space_is_searched():
    search = Harmonica(BITS, budget=500, keep=1, stages=1, seed=0)
    pulls = played(search)[search.samples :]
    fixed = {bit for term in PLANTED for bit in term}
    varied = {name for name in BITS.parameters if len({pull.config[name] for pull in pulls}) == 2}
    assert varied == set(BITS.parameters) - fixed


def test_a_later_stage_finds_what_the_first_hid():
    def reward(pull):
        return 10 * pull.config["b1"] + pull.config["b4"] * pull.config["b5"]

    search = Harmonica(BITS, budget=600, monomials=1, keep=1, seed=0)
    played(search, reward)
    first, second = search.polynomials()[:2]
    assert list(first) == [("b1/1",)] and list(second) == [("b4/1", "b5/1")]


def test_bits_of_numbers_are_fixed_where_rewards_are_high():
    space = Space(x=Float(0, 1), y=Float(0, 1), z=Float(0, 1))
    search = Harmonica(space, budget=200, seed=0)
    pulls = played(search, lambda pull: pull.config["x"] - 3 * abs(pull.config["y"] - 0.5))
    late = pulls[-50:]
    assert all(pull.config["x"] > 0.5 and 0.25 < pull.config["y"] < 0.75 for pull in late)
    assert abs(search.best().config["y"] - 0.5) < 0.1


@pytest.mark.parametrize("base", ["random", "hyperband"])
def test_it_beats_its_base_search_where_a_few_of_many_bits_matter(base):
    singles = {("b1",): 3, ("b5",): -3, ("b9",): 2, ("b3",): 1.5, ("b7",): -1, ("b28",): 1, ("b14",): -1}
    numbers = {**singles, ("b12", "b17"): -3, ("b2", "b20"): 2, ("b22", "b29"): 1}

    def found(kind, **given):
        best = []
        for seed in range(4):
            search = kind(BITS, budget=150 * 9, max_steps=9, seed=seed, **given)
            played(search, lambda pull: height(pull.config, numbers) * pull.stop / 9)
            best.append(height(search.best().config, numbers))
        return np.mean(best)

    alone = found(RandomSearch if base == "random" else Hyperband)
    assert found(Harmonica, base=base) > alone + 0.5


def test_hyperband_comes_after_the_stages():
    space = Space(**{name: Float(0, 1) for name in "xabcdefgh"})
    search = Harmonica(space, budget=900, max_steps=9, base="hyperband", monomials=2, seed=0)
    pulls = played(search, lambda pull: pull.config["x"] * pull.stop)
    stages = search.stages * search.samples
    assert stages == 48
    assert {(pull.start, pull.stop) for pull in pulls[:stages]} == {(0, 9)}
    assert {(pull.start, pull.stop) for pull in pulls[stages:]} >= {(0, 1), (1, 3), (3, 9)}
    assert search.best().config["x"] > 0.9


@pytest.mark.parametrize("base", ["random", "hyperband"])
def test_a_worker_never_waits_for_the_end_of_a_stage(base):
    search = Harmonica(BITS, samples=20, max_steps=9, base=base, seed=0)
    waiting = [search.ask() for _ in range(100)]
    assert None not in waiting
    for pull in waiting[:20]:
        search.tell(pull, height(pull.config))
    assert len(search.polynomials()) == 1  # by those told: the other 80 are of an ended stage
    for pull in waiting[20:]:
        search.tell(pull, height(pull.config))
    assert len(search.polynomials()) == 1
    assert search.best() == max((pull.arm for pull in waiting), key=lambda arm: height(arm.config))


def test_the_search_leaves_where_pulls_fail():
    search = Harmonica(BITS, budget=200, seed=0)
    told = list(play(search, lambda pull: None if pull.config["b7"] > 0 else height(pull.config)))
    assert ("b7/1",) in search.polynomials()[0] and search.polynomials()[0]["b7/1",] < 0
    assert not any(reward is None for _, reward in told[-100:])
    failing = Harmonica(BITS, budget=100, seed=0)
    assert len(played(failing, lambda pull: None)) == 100
    assert failing.polynomials() == [{}, {}, {}]
    with pytest.raises(NoResult):
        failing.best()


def test_rewards_of_any_scale_are_searched_alike():
    configs = []
    for scale in (1.0, 1e-9, 1e100):
        search = Harmonica(BITS, budget=120, seed=0)
        configs.append([pull.config for pull in played(search, lambda pull, scale=scale: scale * height(pull.config))])
    assert configs[0] == configs[1] == configs[2]


def test_no_config_comes_twice_while_there_are_others():
    space = Space(**{f"b{i}": Choice(-1, 1) for i in range(6)})
    search = Harmonica(space, budget=44, keep=1, seed=0)
    configs = [tuple(pull.config.values()) for pull in played(search, lambda pull: sum(pull.config.values()))]
    assert len(set(configs)) == 44 and (1,) * 6 in configs


def test_a_small_budget_is_searched_at_random_and_says_so():
    search = Harmonica(LINE, budget=100, max_steps=9, seed=0)
    assert "too small for a stage" in search.warning()
    alone = RandomSearch(LINE, budget=100, max_steps=9, seed=0)
    assert played(search, lambda pull: pull.config["x"]) == played(alone, lambda pull: pull.config["x"])
    assert search.polynomials() == []


def test_noise_alone_may_fix_nothing_and_says_so():
    search = Harmonica(LINE, budget=90, seed=0)
    played(search, lambda pull: 0.5)
    assert search.polynomials() == [{}, {}, {}]
    assert "No product of bits" in search.warning()
    search = Harmonica(BITS, budget=300, seed=0)
    assert search.warning() is None
    played(search)
    assert search.warning() is None


def test_the_plan_has_the_stages_and_the_base():
    plan = Harmonica(LINE, budget=1000, max_steps=9, base="hyperband", seed=0).plan()
    assert [(phase.arms, phase.steps) for phase in plan[:3]] == [(18, 162)] * 3
    assert plan[0].name == "stage 1: random arms, fully trained" and "9 arms, cut at 1, 3 of 9" in plan[3].name
    assert sum(phase.steps for phase in plan) <= 1000
    given = Harmonica(LINE, budget=100, samples=60, seed=0).plan()
    assert [(phase.arms, phase.steps) for phase in given] == [(60, 60), (40, 40)]
    assert [phase.steps for phase in Harmonica(LINE, seed=0).plan()] == [15, 15, 15, None]


@pytest.mark.parametrize("base", ["random", "hyperband"])
def test_the_header_of_a_study_makes_it_again(base):
    original = Harmonica(BITS, budget=300, max_steps=3, base=base, keep=2, seed=5)
    again = restored_strategy(make_header(original, 5, "maximize", None))
    assert type(again) is Harmonica and again.settings == original.settings
    while (pull := original.ask()) is not None:
        assert again.ask() == pull
        original.tell(pull, height(pull.config))
        again.tell(pull, height(pull.config))


def test_a_study_goes_on_where_it_was(tmp_path):
    def search(budget):
        storage = str(tmp_path / "study.db")
        return ma.tune(height, BITS, budget=budget, strategy=Harmonica, storage=storage, seed=0, progress=False)

    with search(40) as study:
        known = list(study.pulls_dataframe()["reward"])
    with search(60) as study:
        assert list(study.pulls_dataframe()["reward"])[:40] == known
        assert study.counts.pulls == 60 and study.strategy.samples == 20  # which follow from the first budget


def test_it_is_a_child_of_a_cascade():
    children = {"one": Harmonica(BITS, samples=15), "two": RandomSearch(LINE)}
    search = ma.Cascade(children, ma.Uniform(), budget=200, seed=0)
    played(search, lambda pull: height(pull.config["config"]) if pull.config["algorithm"] == "one" else -9.0)
    assert search.best().config["algorithm"] == "one" and len(search.children["one"].polynomials()) == 3
