"""The forecast of untried arms is the kernel mean of those nearby, by hand."""

import math

import numpy as np
import pytest

from manyarms.strategies.neighbours import Neighbours


def neighbours(points):
    made = Neighbours(len(points[0]))
    for point in points:
        made.add(np.array(point))
    return made


def outlook(made, candidates, scores, arms=None, trainings=None, median=0.0, spread=1.0):
    arms = np.arange(len(scores)) if arms is None else np.array(arms)
    trainings = np.ones(len(arms)) if trainings is None else np.array(trainings)
    return made.outlook(np.array(candidates), arms, np.array(scores, dtype=float), trainings, median, spread)


def by_hand(points, candidate, scores, trainings, median, spread):
    reach = 0.25 * math.sqrt(len(candidate) / 7.5)
    distances = [math.dist(point, candidate) for point in points]
    weights = [math.exp(-(d**2) / (2 * reach**2)) * math.sqrt(n) for d, n in zip(distances, trainings, strict=True)]
    forecast = (np.dot(weights, scores) + median) / (sum(weights) + 1)
    return forecast + spread / math.sqrt(1 + sum(weights))


@pytest.mark.parametrize("dimension", [1, 2, 8])
def test_the_forecast_and_its_uncertainty_are_those_of_the_formula(dimension):
    rng = np.random.default_rng(dimension)
    points, candidates = rng.random((9, dimension)), rng.random((20, dimension))
    scores, trainings = rng.normal(5, 1, 9), rng.integers(1, 11, 9)
    found = outlook(neighbours(points), candidates, scores, trainings=trainings, median=4.5, spread=2.0)
    assert found == pytest.approx([by_hand(points, row, scores, trainings, 4.5, 2.0) for row in candidates])


def test_far_from_all_arms_anything_may_be():
    made = neighbours([[0.0, 0.0]])
    assert outlook(made, [[1.0, 1.0]], [-50.0], median=3.0, spread=0.5) == pytest.approx(3.5)


def test_near_good_arms_promises_more_than_far_and_near_bad_ones_less():
    made = neighbours([[0.1], [0.9]])
    good, unknown, bad = outlook(made, [[0.11], [0.5], [0.89]], [3.0, -3.0])
    assert good > unknown > bad


def test_what_is_known_is_no_longer_uncertain():
    made = neighbours([[0.2], [0.2], [0.2], [0.8]])
    crowded, lonely = outlook(made, [[0.2], [0.8]], [1.0, 1.0, 1.0, 1.0], median=1.0)
    assert crowded == pytest.approx(1.5) and lonely == pytest.approx(1 + math.sqrt(0.5))


def test_an_arm_that_was_trained_more_counts_more():
    made = neighbours([[0.4], [0.6]])
    young, old = outlook(made, [[0.4], [0.6]], [2.0, 2.0], trainings=[1, 9], spread=0.0)
    assert 1.0 < young < old < 2.0


def test_only_the_arms_named_are_looked_at():
    points = [[0.1], [0.2], [0.9]]
    found = outlook(neighbours(points), [[0.15]], [1.0, 5.0], arms=[0, 2])
    assert found == pytest.approx(outlook(neighbours([points[0], points[2]]), [[0.15]], [1.0, 5.0]))


def test_of_many_arms_the_best_and_the_newest_are_looked_at():
    rng = np.random.default_rng(0)
    points, scores, candidates = rng.random((2_000, 3)), rng.normal(size=2_000), rng.random((10, 3))
    best = set(np.argsort(-scores)[:256].tolist())
    some = sorted(best | set(range(2_000 - 256, 2_000)))
    found = outlook(neighbours(points), candidates, scores)
    assert found == pytest.approx(outlook(neighbours(points[some]), candidates, scores[some]))
    assert 256 < len(some) <= 512


def test_up_to_512_arms_all_are_looked_at():
    rng = np.random.default_rng(0)
    points, scores = rng.random((512, 2)), rng.normal(size=512)
    found = outlook(neighbours(points), [[0.5, 0.5]], scores, median=0.2)
    assert found == pytest.approx(by_hand(points, [0.5, 0.5], scores, [1] * 512, 0.2, 1.0))


@pytest.mark.parametrize(("scale", "shift"), [(1e-6, 0.0), (1e6, -3e7), (0.5, 100.0)])
def test_the_unit_of_scores_does_not_matter(scale, shift):
    rng = np.random.default_rng(0)
    points, scores, candidates = rng.random((30, 4)), rng.normal(size=30), rng.random((50, 4))
    plain = outlook(neighbours(points), candidates, scores)
    found = outlook(neighbours(points), candidates, scale * scores + shift, median=shift, spread=scale)
    assert found == pytest.approx(scale * plain + shift)


def test_a_space_of_no_dimensions_is_one_place():
    made = Neighbours(0)
    for _ in range(100):
        made.add(np.zeros(0))
    found = made.outlook(np.zeros((3, 0)), np.arange(100), np.arange(100.0), np.ones(100), 0.0, 1.0)
    assert found == pytest.approx([4950 / 101 + 1 / math.sqrt(101)] * 3)
