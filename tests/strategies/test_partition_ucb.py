"""PartitionUCB: its formulas, its legal partitions, and what it does with configs that come again."""

import math

import numpy as np
import pytest

from manyarms import Choice, ContextualPartitionUCB, Float, Int, NoResult, PartitionUCB, Space, TreeUCB
from manyarms.strategies.cube.box_sizes import LegalSplits, confidence, due, smallest
from manyarms.strategies.cube.partition import Partition
from manyarms.testing import play

LINE = Space(x=Float(0, 1))
PLANE = Space(x=Float(0, 1), y=Float(0, 1))

WRONG = {
    "no alpha": ({"alpha": 0}, ValueError, "alpha must be above 0, got 0"),
    "negative l": ({"l": -1.0}, ValueError, "l must be above 0, got -1.0"),
    "negative c": ({"c": -1}, ValueError, "c must be at least 0, got -1"),
    "noise of NaN": ({"s": math.nan}, ValueError, "s must be at least 0, got nan"),
    "factor in words": ({"factor": "one"}, TypeError, "factor must be a number, got 'one'"),
    "less than one training": ({"budget": 9, "max_steps": 10}, ValueError, "budget must be at least 10, one full training"),
    "no steps": ({"max_steps": 0}, ValueError, "max_steps must be at least 1, got 0"),
}


class Graphs:
    """A space that cannot encode."""

    def sample(self, rng):
        return int(rng.integers(9))

    def mutate(self, config, rng):
        return (config + 1) % 9


class Mixed(Graphs):
    """A space that shows its parameters, one of which has no encoding."""

    def __init__(self):
        self.parameters = {"rate": Float(0, 1), "network": Graphs()}


def quality(pull):
    return 1 - abs(pull.config["x"] - 0.3)


@pytest.mark.parametrize("kind", [PartitionUCB, ContextualPartitionUCB])
@pytest.mark.parametrize(("arguments", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(kind, arguments, error, message):
    with pytest.raises(error) as raised:
        kind(LINE, **arguments)
    assert message in str(raised.value)


@pytest.mark.parametrize("kind", [PartitionUCB, ContextualPartitionUCB, TreeUCB])
def test_a_space_that_cannot_encode_is_refused_with_the_reason(kind):
    with pytest.raises(TypeError, match=r"space must map its configs to the unit cube.* it has no encode"):
        kind(Graphs())
    with pytest.raises(TypeError, match="its parameter 'network' has no encoding"):
        kind(Mixed())


def test_the_confidence_is_that_of_algorithm_1():
    assert confidence(1, alpha=1, c=2, s=0.5) == pytest.approx(2 + math.sqrt((0.5 + 0.5) * math.log(2)))
    assert confidence(10, 0.5, 1, 0.1) == pytest.approx(0.5 + math.sqrt(0.52 * (4 * math.log(10) + math.log(2))))


def test_the_smallest_diameter_shrinks_with_the_rounds():
    assert smallest(7, dimension=1, l=2.0) == pytest.approx(1.0)
    assert smallest(15, dimension=2, l=1.0) == pytest.approx(0.5)


def test_a_box_is_split_if_it_is_too_large_for_its_pulls_and_its_halves_are_not_too_small():
    diameters, halved = np.array([1.0, 1.0, 1.0, 0.4, 1.0]), np.array([1.0, 1.0, 0.5, 0.2, 1.0])
    counts = np.array([4.0, 3.0, 9.0, 9.0, 0.0])
    # bounds for alpha = 1 and a floor of 0.45: 0.95, 1.03, 0.78, 0.78, 1.45
    assert due(diameters, halved, counts, floor=0.45, alpha=1.0).tolist() == [0, 2]
    assert due(diameters, halved, counts, floor=0.55, alpha=0.1).tolist() == [0, 1]  # the halves of 2 would be too small
    assert due(diameters, halved, counts, floor=0.1, alpha=0.1).tolist() == [0, 1, 2, 3]  # an empty one is left whole


def test_a_box_that_is_not_pulled_is_split_later_since_the_bound_moves_with_the_rounds():
    partition = Partition(1)
    for at in (0.1, 0.4, 0.6, 0.9):
        partition.add(0, np.array([at]))
    splits, rng = LegalSplits(partition, alpha=1.0, l=1.0), np.random.default_rng(0)
    splits.refine(6, rng)  # 7^(-1/3) + 1/2 > 1
    assert len(partition) == 1
    splits.refine(9, rng)  # 10^(-1/3) + 1/2 = 0.96
    assert len(partition) == 2 and partition.counts.all.tolist() == [2, 2]


def test_the_longest_side_is_halved_and_of_equal_ones_any():
    sides = set()
    for seed in range(20):
        partition = Partition(2)
        partition.add(0, np.array([0.1, 0.1]))
        LegalSplits(partition, alpha=0.3, l=0.5).refine(1, np.random.default_rng(seed))
        first = tuple((partition.high.all[0] - partition.low.all[0]).tolist())
        sides.add(first)
        assert sorted(first) in ([0.5, 0.5], [0.5, 1.0])
    partition = Partition(2)
    partition.split(0, 0, 0.5)
    partition.add(1, np.array([0.9, 0.9]))
    LegalSplits(partition, alpha=0.3, l=0.55).refine(1, np.random.default_rng(0))
    assert partition.high.all.tolist()[1] == [1.0, 0.5]  # not the short side


@pytest.mark.parametrize("workers", [1, 8])
def test_the_partition_stays_legal_grows_finer_and_covers_the_cube(workers):
    search, before = PartitionUCB(PLANE, budget=300, alpha=0.7, l=0.6, seed=0), []
    for number, _ in enumerate(play(search, quality, workers)):
        regions = search.regions()
        t = len(search.ledger.arms)
        floor = smallest(t, 2, 0.6)
        assert sum(np.prod(np.subtract(r.high, r.low)) for r in regions) == pytest.approx(1)
        for region in regions:
            sides = sorted(np.subtract(region.high, region.low))
            assert sides[-1] >= floor - 1e-12
            small_enough = sides[-1] <= floor + 0.7 / math.sqrt(max(1, region.count))
            assert small_enough or not region.count or max(sides[0], sides[-1] / 2) < floor
        if number % 20 == 0:
            for region in regions:
                assert any(
                    np.all(np.less_equal(r.low, region.low) & np.less_equal(region.high, r.high)) for r in before or [region]
                )
            before = regions
    assert len(before) > 8


def test_it_plays_the_region_with_the_largest_bound():
    search = PartitionUCB(LINE, budget=200, seed=3)
    for _ in range(150):
        best = max(region.bound for region in search.regions())
        among = [region for region in search.regions() if region.bound == best]
        pull = search.ask()
        assert any(region.low[0] <= pull.config["x"] <= region.high[0] for region in among)
        search.tell(pull, quality(pull))


def test_pulls_in_flight_spread_over_regions():
    search = PartitionUCB(LINE, budget=1_000, factor=1, seed=0)
    for _, _ in zip(range(100), play(search, quality), strict=False):
        pass
    asked = [search.ask().config["x"] for _ in range(60)]
    low, high = zip(*((r.low[0], r.high[0]) for r in search.regions()), strict=True)
    homes = {int(np.flatnonzero((np.array(low) <= x) & (x <= np.array(high)))[0]) for x in asked}
    assert len(homes) >= 3
    assert sum(region.count for region in search.regions()) == len(search.ledger.arms)


def test_the_search_leaves_where_pulls_fail_and_a_failure_counts_as_the_worst_so_far():
    search = PartitionUCB(LINE, budget=200, seed=0)
    told = list(play(search, lambda pull: None if pull.config["x"] < 0.5 else 0.7 + 0.1 * pull.config["x"]))
    failed = [number for number, (_, reward) in enumerate(told) if reward is None]
    assert len(failed) < 60 and sum(number >= 100 for number in failed) < 20
    values = search.observations()[1]
    worst = math.inf
    for (_, reward), value in zip(told, values, strict=True):
        worst = worst if reward is None else min(worst, reward)
        assert value == (reward if reward is not None else 0.0 if worst == math.inf else worst)


@pytest.mark.parametrize("kind", [PartitionUCB, TreeUCB])
def test_of_rewards_with_the_same_rounded_value_the_larger_one_is_recommended(kind):
    search = kind(Space(x=Float(0, 1)), budget=40, seed=0)
    rewards = {}
    for pull, reward in play(search, lambda pull: -1e20 if pull.arm.id % 3 else -pull.config["x"]):
        rewards[pull.arm.id] = reward
    assert rewards[search.best().id] == max(rewards.values()) > -1


def test_the_largest_reward_is_recommended_and_of_equal_ones_that_of_the_best_region():
    search = PartitionUCB(LINE, budget=100, seed=0)
    with pytest.raises(NoResult):
        search.best()
    told = list(play(search, quality))
    assert search.best() == max(told, key=lambda row: row[1])[0].arm
    flat = PartitionUCB(LINE, budget=200, seed=0)
    rewards = lambda pull: 1.0 if abs(pull.config["x"] - 0.3) < 0.05 or pull.arm.id == 0 else 0.2  # noqa: E731
    first = next(iter(play(flat, rewards)))[0]
    for _ in play(flat, rewards):
        pass
    assert abs(first.config["x"] - 0.3) > 0.05 and abs(flat.best().config["x"] - 0.3) < 0.05


def test_a_finite_space_is_gone_through_before_a_config_comes_again():
    space = Space(a=Int(1, 6), b=Choice("u", "v", "w"))
    search = PartitionUCB(space, budget=60, seed=0)
    configs = [(pull.config["a"], pull.config["b"]) for pull, _ in play(search, lambda pull: pull.config["a"] / 6)]
    assert len(set(configs[:18])) >= 16 and len(set(configs)) == 18
    assert [pull.arm.id for pull, _ in play(PartitionUCB(space, budget=60, seed=0), lambda pull: 0.5)] == list(range(60))


def test_a_space_with_one_config_is_no_trouble():
    search = PartitionUCB(Space(x=3), budget=5, seed=0)
    assert [pull.config for pull, _ in play(search, lambda pull: 0.5)] == [{"x": 3}] * 5


def test_it_does_better_than_random_on_average():
    search = PartitionUCB(PLANE, budget=300, seed=0)
    rewards = [reward for _, reward in play(search, lambda pull: 1 - max(abs(pull.config[k] - 0.7) for k in "xy"))]
    assert np.mean(rewards[100:]) > 0.75  # random: 0.56


def test_the_plan_says_what_is_spent():
    (phase,) = PartitionUCB(LINE, budget=25, max_steps=10).plan()
    assert (phase.arms, phase.steps) == (2, 20)
    (phase,) = PartitionUCB(LINE, max_steps=10).plan()
    assert (phase.arms, phase.steps) == (None, None)
