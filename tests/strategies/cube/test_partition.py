"""Partitions of the unit cube: which box is chosen, what is drawn from it, and what is counted."""

import math

import numpy as np
import pytest

from manyarms.strategies.cube.partition import Partition, Region


def halves(given=0, dimension=1):
    """The unit cube cut in two across its last side: box 0 below, box 1 above."""
    partition = Partition(dimension, given)
    partition.split(0, dimension - 1, 0.5)
    return partition


def put(partition, box, point, value=None):
    partition.add(box, np.array(point, dtype=float))
    if value is not None:
        partition.learn(len(partition.values.all) - 1, value)


def test_the_bound_is_the_mean_and_a_bonus_that_shrinks_with_the_count():
    partition = halves()
    assert partition.upper_bounds(0.5).tolist() == [1.5, 1.5]  # empty: mean 1, count 1
    for value in (0.2, 0.4, 0.3, 0.7):
        put(partition, 0, [0.1], value)
    assert partition.upper_bounds(0.5) == pytest.approx([0.4 + 0.5 / 2, 1.5])


def test_a_pull_in_flight_counts_but_has_no_value_yet():
    partition = halves()
    put(partition, 0, [0.1], 0.8)
    put(partition, 0, [0.2])
    assert partition.upper_bounds(1.0)[0] == pytest.approx(0.8 + 1 / math.sqrt(2))
    put(partition, 1, [0.9])
    put(partition, 1, [0.8])
    assert partition.upper_bounds(1.0)[1] == pytest.approx(1 + 1 / math.sqrt(2))
    partition.learn(3, 0.5)
    assert partition.upper_bounds(1.0)[1] == pytest.approx(0.5 + 1 / math.sqrt(2))


def test_of_equal_bounds_the_draw_is_uniform_in_their_union():
    partition = Partition(1)
    partition.split(0, 0, 0.9)  # volumes 0.9 and 0.1
    rng = np.random.default_rng(0)
    boxes = [partition.pick(1.0, (), rng) for _ in range(2_000)]
    assert np.mean(boxes) == pytest.approx(0.1, abs=0.03)


def test_only_boxes_that_hold_the_context_are_compared_and_their_volume_is_without_it():
    partition = Partition(2, given=1)
    partition.split(0, 0, 0.5)  # box 0: contexts below 0.5, box 1: above
    for _ in range(9):
        put(partition, 1, [0.75, 0.5], 0.0)
    rng = np.random.default_rng(0)
    assert {partition.pick(0.1, (0.75,), rng) for _ in range(20)} == {1}
    assert {partition.pick(0.1, (0.25,), rng) for _ in range(20)} == {0}
    partition = Partition(2, given=1)
    partition.split(0, 1, 0.5)  # box 0: arms below, box 1: above
    partition.split(1, 0, 0.01)  # box 1: a thin slice of contexts, box 2: the rest
    boxes = [partition.pick(1.0, (0.005,), rng) for _ in range(1_000)]
    assert np.mean(boxes) == pytest.approx(0.5, abs=0.05)


def test_a_point_is_drawn_from_its_box_at_the_context():
    partition = halves(given=1, dimension=3)
    points = np.array([partition.draw(1, (0.3,), np.random.default_rng(seed)) for seed in range(200)])
    assert set(points[:, 0]) == {0.3}
    assert 0.5 <= points[:, 2].min() < 0.51 and 0.99 < points[:, 2].max() < 1
    assert points[:, 1].min() < 0.02


def test_every_point_is_in_one_box_ends_of_the_cube_included():
    partition = halves()
    for point, box in (([0.0], 0), ([0.4999], 0), ([0.5], 1), ([1.0], 1)):
        assert np.flatnonzero(partition.holding(point)).tolist() == [box]
        assert partition.holds(box, np.array(point)) and not partition.holds(1 - box, np.array(point))


def test_a_split_deals_out_the_points_told_and_in_flight():
    partition = Partition(1)
    for at, value in ((0.1, 0.2), (0.2, None), (0.6, 0.6), (0.7, 0.8)):
        put(partition, 0, [at], value)
    assert partition.split(0, 0, 0.5) == 1
    assert partition.counts.all.tolist() == [2, 2] and partition.homes.all.tolist() == [0, 0, 1, 1]
    assert partition.means.all == pytest.approx([0.2, 0.7])
    partition.learn(1, 0.4)
    assert partition.means.all == pytest.approx([0.3, 0.7])
    assert partition.regions(0.1) == [
        Region((0.0,), (0.5,), pytest.approx(0.3), 2, pytest.approx(0.3 + 0.1 / math.sqrt(2))),
        Region((0.5,), (1.0,), pytest.approx(0.7), 2, pytest.approx(0.7 + 0.1 / math.sqrt(2))),
    ]


def test_merging_forgets_the_boxes_and_keeps_the_points():
    partition = halves()
    put(partition, 0, [0.1], 0.2)
    put(partition, 1, [0.9])
    partition.merge()
    assert len(partition) == 1 and partition.rewards == 1
    assert partition.counts.all.tolist() == [2] and partition.means.all.tolist() == [0.2]


def test_all_values_can_change_at_once_and_those_in_flight_stay_unknown():
    partition = halves()
    for box, point, value in ((0, 0.1, 0.2), (0, 0.2, 0.4), (1, 0.9, None), (1, 0.8, 0.6)):
        put(partition, box, [point], value)
    partition.revalue(np.array([0.0, 0.5, 0.9, 1.0]))
    assert partition.means.all.tolist() == [0.25, 1.0] and np.isnan(partition.values[2]) and partition.revisions == 1
    partition.learn(2, 0.5)
    assert partition.means.all.tolist() == [0.25, 0.75]
