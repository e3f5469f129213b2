"""The regression tree: gains about the mean, and growing it one reward at a time."""

import math

import numpy as np
import pytest

from manyarms.strategies.cube import regression_tree
from manyarms.strategies.cube.partition import Partition
from manyarms.strategies.cube.regression_tree import RegressionTree, deviations, split_gains

RNG = np.random.default_rng(0)


def error(values):
    """The mean absolute error about the mean."""
    return float(np.abs(values - values.mean()).mean())


def gain(points, values, side, at):
    """Equation 13."""
    below = points[:, side] < at
    share = below.mean()
    return error(values) - share * error(values[below]) - (1 - share) * error(values[~below])


def kinds(m):
    return (RNG.random(m), RNG.integers(3, size=m).astype(float), np.full(m, 0.1), RNG.random(m) ** 9)


@pytest.mark.parametrize("few", [0, 10**9], ids=["by bits", "by pairs"])
@pytest.mark.parametrize("m", [1, 2, 3, 7, 8, 9, 64, 130])
def test_deviations_are_about_the_mean_of_each_beginning(m, few, monkeypatch):
    monkeypatch.setattr(regression_tree, "_FEW", few)
    for values in kinds(m):
        orders = np.array([RNG.permutation(m) for _ in range(3)])
        ordered = values[orders]
        direct = [[np.abs(row[:k] - row[:k].mean()).sum() for k in range(1, m + 1)] for row in ordered]
        assert deviations(values, orders) == pytest.approx(np.array(direct), abs=1e-12)


def test_the_error_is_about_the_mean_and_not_the_median():
    points, values = np.array([[0.1], [0.2], [0.3], [0.4]]), np.array([0.0, 0.0, 0.0, 1.0])
    _, gains = split_gains(points, values)
    # MAE(N) = 3/8 about the mean 1/4 (1/4 about the median); after a split behind the third: 0
    assert gains[0] / 4 == pytest.approx([3 / 8 - 3 / 4 * 4 / 9, 3 / 8 - 1 / 2 * 1 / 2, 3 / 8])


def test_gains_are_those_of_equation_13_for_every_split_by_every_coordinate():
    points, values = RNG.random((40, 3)), RNG.random(40)
    points[:, 2] = RNG.integers(4, size=40) / 4
    ordered, gains = split_gains(points, values)
    for side in range(3):
        assert ordered[side].tolist() == sorted(points[:, side])
        for place in range(39):
            if ordered[side, place] == ordered[side, place + 1]:
                assert gains[side, place] == -math.inf
            else:
                at = ordered[side, place + 1]
                assert gains[side, place] / 40 == pytest.approx(gain(points, values, side, at), abs=1e-12)


def fed(points, values, min_gain=1e-4, min_leaf=3, min_split=None, refit=False):
    """A partition grown one reward at a time."""
    partition = Partition(points.shape[1])
    tree, rng = RegressionTree(partition, min_gain, min_leaf, min_split, refit), np.random.default_rng(1)
    for number, (point, value) in enumerate(zip(points, values, strict=True)):
        partition.add(int(partition.holding(point.tolist()).argmax()), point)
        partition.learn(number, value)
        tree.learn(number, rng)
    return partition


def could_be_split(partition, min_gain, min_leaf, min_split):
    """The boxes that have a split worth while, found by trying all."""
    found = []
    for box in range(len(partition)):
        points, values = partition.samples(box)
        cuts = [(side, at) for side in range(points.shape[1]) for at in points[:, side]]
        sizes = [min((points[:, side] < at).sum(), (points[:, side] >= at).sum()) for side, at in cuts]
        gains = [gain(points, values, *cut) for cut, size in zip(cuts, sizes, strict=True) if size >= min_leaf]
        if len(values) >= min_split and max(gains, default=-1.0) >= min_gain + 1e-9:
            found.append(box)
    return found


@pytest.mark.parametrize("refit", [False, True, "doubling"])
@pytest.mark.parametrize(
    ("min_gain", "min_leaf", "min_split"), [(1e-4, 3, 6), (1e-4, 3, 15), (0.02, 3, 6), (0.05, 2, 4), (0.1, 1, 2)]
)
def test_no_leaf_is_left_with_a_split_worth_while(min_gain, min_leaf, min_split, refit):
    """So the ceilings, by which most checks are left out, leave out none that matters: after any number of rewards."""
    points = RNG.random((150, 3))
    values = np.clip(1 - np.abs(points - 0.4).max(1) + 0.1 * RNG.standard_normal(150), 0, 1)
    for size in (0, 5, 40, 97, 150) if not refit else (64,):
        partition = fed(points[:size], values[:size], min_gain, min_leaf, min_split, refit)
        assert could_be_split(partition, min_gain, min_leaf, min_split) == []
        assert len(partition) == 1 or min(partition.valued(box) for box in range(len(partition))) >= min_leaf


def test_means_and_counts_are_those_of_the_points_in_the_leaves():
    points = RNG.random((200, 2))
    values = points[:, 0] * points[:, 1]
    partition = fed(points, values)
    assert len(partition) > 10
    for box in range(len(partition)):
        inside = np.array([partition.holds(box, point) for point in points])
        assert partition.counts[box] == inside.sum() == partition.valued(box)
        assert partition.means[box] == pytest.approx(values[inside].mean())
    assert np.prod(partition.high.all - partition.low.all, axis=1).sum() == pytest.approx(1)


def test_a_leaf_is_split_between_two_clusters():
    points = np.array([[0.1], [0.2], [0.25], [0.75], [0.8], [0.9]])
    partition = fed(points, np.array([0.1, 0.1, 0.1, 0.9, 0.9, 0.9]), min_split=6)
    assert partition.high.all[0].tolist() == [0.5] and partition.means.all == pytest.approx([0.1, 0.9])


def test_equal_rewards_are_not_split_and_a_leaf_that_stays_whole_is_not_searched_again(monkeypatch):
    searches = []
    monkeypatch.setattr(
        regression_tree, "split_gains", lambda points, values: searches.append(len(values)) or split_gains(points, values)
    )
    assert len(fed(RNG.random((300, 2)), np.full(300, 0.3))) == 1
    assert searches == []
    noise = 0.5 + 0.1 * RNG.standard_normal(400)
    assert len(fed(RNG.random((400, 2)), noise, min_gain=0.05)) == 1
    assert len(searches) < 60 and sum(size > 100 for size in searches) < 20  # not once a reward


def test_growing_keeps_cuts_and_refitting_makes_a_better_tree():
    points = RNG.random((120, 2))
    values = (points[:, 1] > 0.5) * 0.8 + 0.02 * RNG.random(120)
    grown, refitted = fed(points, values, min_split=6), fed(points, values, min_split=6, refit=True)
    crossing = [int(((p.low.all[:, 1] < 0.45) & (p.high.all[:, 1] > 0.55)).sum()) for p in (grown, refitted)]
    assert crossing[1] == 0 <= crossing[0]


def test_points_that_are_neighbours_among_floats_can_be_parted():
    at = 0.5
    points = np.array([[at]] * 3 + [[math.nextafter(at, 1)]] * 3)
    partition = fed(points, np.array([0.0] * 3 + [1.0] * 3), min_split=6)
    assert partition.means.all.tolist() == [0.0, 1.0]
