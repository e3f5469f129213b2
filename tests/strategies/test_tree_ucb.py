"""TreeUCB: its bound, its traps, and that it beats random search."""

import math

import numpy as np
import pytest

from manyarms import Choice, ContextualTreeUCB, Float, Int, NoResult, PartitionUCB, RandomSearch, Space, TreeUCB
from manyarms.strategies.contextual_tree_ucb import contextual_confidence
from manyarms.strategies.tree_ucb import tree_confidence
from manyarms.testing import play

LINE = Space(x=Float(0, 1))
FOUR = Space(**{name: Float(0, 1) for name in "abcd"})

WRONG = {
    "negative gain": ({"min_gain": -1e-4}, ValueError, "min_gain must be at least 0, got -0.0001"),
    "no leaf": ({"min_leaf": 0}, ValueError, "min_leaf must be at least 1, got 0"),
    "half a leaf": ({"min_leaf": 2.5}, TypeError, "min_leaf must be a whole number, got 2.5"),
    "leaves that cannot be split": ({"min_leaf": 3, "min_split": 5}, ValueError, "min_split must be at least 6, got 5"),
    "refit in words": ({"refit": "often"}, ValueError, "refit must be True, False or 'doubling', got 'often'"),
    "less than one training": ({"budget": 9, "max_steps": 10}, ValueError, "budget must be at least 10, one full training"),
}


def noisy(config, noise):
    """1 at the point where all are 0.3, less by the mean distance to it."""
    return min(1.0, max(0.0, height(config) + 0.05 * noise.standard_normal()))


def height(config):
    return 1 - 1.5 * float(np.mean([abs(value - 0.3) for value in config.values()]))


@pytest.mark.parametrize("kind", [TreeUCB, ContextualTreeUCB])
@pytest.mark.parametrize(("arguments", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(kind, arguments, error, message):
    with pytest.raises(error) as raised:
        kind(LINE, **arguments)
    assert message in str(raised.value)


@pytest.mark.parametrize(("kind", "name"), [(TreeUCB, "v"), (ContextualTreeUCB, "v1"), (ContextualTreeUCB, "v2")])
def test_a_negative_bonus_is_refused(kind, name):
    with pytest.raises(ValueError, match=f"{name} must be at least 0, got -1"):
        kind(LINE, **{name: -1})


def test_the_confidences_are_those_of_the_paper():
    assert tree_confidence(1, 0.1) == 0
    assert tree_confidence(100, 0.1) == pytest.approx(0.1 * math.sqrt(math.log(100)))
    assert contextual_confidence(100, 4, 0.1, 1, -2) == pytest.approx(0.1 * math.sqrt(math.log(100)) + 1 / 16)


def test_a_leaf_is_a_region_whose_bound_follows_from_its_mean_and_count():
    search = TreeUCB(LINE, budget=100, seed=0)
    for pull, _ in play(search, lambda pull: height(pull.config)):
        regions = search.regions()
        beta = tree_confidence(pull.arm.id + 2, 0.1)
        assert all(r.bound == pytest.approx(r.mean + beta / math.sqrt(max(1, r.count))) for r in regions)
        assert sum(region.count for region in regions) == pull.arm.id + 1
        assert len(regions) == 1 or min(region.count for region in regions) >= 3
    assert len(regions) > 5


def test_the_partition_only_grows_finer():
    search, before = TreeUCB(FOUR, budget=200, seed=0), None
    for _ in play(search, lambda pull: height(pull.config), workers=4):
        regions = search.regions()
        for region in regions if before else ():
            assert any(np.all(np.less_equal(r.low, region.low) & np.less_equal(region.high, r.high)) for r in before)
        before = regions


def test_pulls_in_flight_spread_over_leaves():
    search = TreeUCB(LINE, budget=1_000, seed=0)
    noise = np.random.default_rng(0)
    for _, _ in zip(range(200), play(search, lambda pull: noisy(pull.config, noise)), strict=False):
        pass
    before = [region.count for region in search.regions()]
    for _ in range(50):
        search.ask()
    more = np.subtract([region.count for region in search.regions()], before)
    assert (more > 0).sum() >= 3 and more.max() < 40


def test_the_search_leaves_where_pulls_fail():
    search = TreeUCB(LINE, budget=300, seed=0)
    told = list(play(search, lambda pull: None if pull.config["x"] < 0.5 else 0.5 + 0.4 * pull.config["x"]))
    assert sum(reward is None for _, reward in told[150:]) < 15
    with pytest.raises(NoResult):
        failing = TreeUCB(LINE, budget=20, seed=0)
        for _ in play(failing, lambda pull: None):
            pass
        failing.best()


@pytest.mark.parametrize("space", [LINE, FOUR], ids=["1-d", "4-d"])
def test_it_beats_random_search_in_what_it_plays_and_in_what_it_finds(space):
    played, found = [], []
    for kind in (RandomSearch, TreeUCB):
        searches = []
        for seed in range(5):
            search, noise = kind(space, budget=400, seed=seed), np.random.default_rng(seed)
            mean = np.mean(
                [height(pull.config) for pull, _ in play(search, lambda pull, noise=noise: noisy(pull.config, noise))]
            )
            searches.append((mean, height(search.best().config)))
        played.append(np.mean([mean for mean, _ in searches]))
        found.append(np.mean([best for _, best in searches]))
    assert played[1] > played[0] + 0.2
    assert found[1] > found[0]


def test_small_leaves_are_greedy():
    """The trap: leaves of one reward all have the same bonus."""
    means = []
    for leaf in ({"min_leaf": 1, "min_split": 2}, {}):
        rewards = []
        for seed in range(5):
            search, noise = TreeUCB(LINE, budget=300, seed=seed, **leaf), np.random.default_rng(seed)
            rewards += [height(pull.config) for pull, _ in play(search, lambda pull, noise=noise: noisy(pull.config, noise))]
        means.append(np.mean(rewards))
    assert means[1] > means[0] + 0.04


def test_an_option_is_told_from_the_others_by_one_cut():
    space = Space(kind=Choice("a", "b", "c", "d"), x=Float(0, 1))
    search = TreeUCB(space, budget=150, seed=0)
    kinds = [pull.config["kind"] for pull, _ in play(search, lambda pull: 0.9 if pull.config["kind"] == "c" else 0.1)]
    assert kinds[-50:].count("c") >= 48


def test_conditional_and_whole_parameters_are_searched():
    space = Space(
        model=Choice(Space(kind="svm", C=Float(1e-3, 1e3, log=True)), Space(kind="forest", trees=Int(1, 64, log=True)))
    )
    search = TreeUCB(space, budget=200, seed=0)
    quality = lambda pull: pull.config["model"].get("trees", 8) / 64  # noqa: E731
    rewards = [reward for _, reward in play(search, quality)]
    assert np.mean(rewards[:60]) > 0.25 and np.mean(rewards[:60]) > np.mean(rewards[60:])  # no number of trees comes twice
    assert search.best().config["model"]["trees"] >= 60


def test_other_leaves_come_of_growing_on_and_of_growing_anew():
    made = {}
    for refit in (False, True, "doubling"):
        search, noise = TreeUCB(FOUR, budget=70, min_split=6, refit=refit, seed=0), np.random.default_rng(0)
        for _ in play(search, lambda pull, noise=noise: noisy(pull.config, noise)):
            pass
        made[refit] = search.regions()
        assert sum(np.prod(np.subtract(r.high, r.low)) for r in made[refit]) == pytest.approx(1)
    assert made[False] != made[True] != made["doubling"] != made[False]


@pytest.mark.parametrize("kind", [TreeUCB, PartitionUCB])
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_rewards_of_any_scale_find_the_best_and_are_all_brought_to_the_scale_of_the_day(kind, scale):
    search = kind(Space(x=Float(-10, 10)), budget=120, seed=2)
    rewards = []
    while (pull := search.ask()) is not None:
        rewards.append(-scale * (pull.config["x"] - 3) ** 2)
        search.tell(pull, rewards[-1])
    assert abs(search.best().config["x"] - 3) < 0.5
    values = search.observations()[1]
    assert values.min() >= 0 and values.max() <= 1
    assert np.argsort(values, kind="stable").tolist() == np.argsort(rewards, kind="stable").tolist()
    assert all(0 <= region.mean <= 1 for region in search.regions())
