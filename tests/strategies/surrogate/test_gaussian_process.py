"""The process is a Gaussian process: checked by hand, by scikit-learn, and by what it is for."""

import json

import numpy as np
import pytest

from manyarms.strategies.surrogate.gaussian_process import GaussianProcess, ScoredArms, kernel, likelihood, predictions


def with_arms(points):
    made = GaussianProcess(len(points[0]))
    for point in points:
        made.add(np.array(point))
    return made


def bounds(made, candidates, scores, arms=None, slices=None, median=0.0, spread=1.0):
    arms = np.arange(len(scores)) if arms is None else np.array(arms)
    slices = np.full(len(arms), 10) if slices is None else np.array(slices)
    known = ScoredArms(arms, np.array(scores, dtype=float), median, spread)
    return made.upper_confidence_bounds(np.array(candidates), known, slices)


def sines(n, dimension=3, seed=0):
    """Points, and scores that only the first coordinate matters for."""
    rng = np.random.default_rng(seed)
    points = rng.random((n, dimension))
    return points, np.sin(6 * points[:, 0])


def test_nothing_is_nearer_than_the_point_itself():
    points = np.random.default_rng(0).random((50, 4))
    assert kernel(points, points).max() <= 1.0 and np.diag(kernel(points, points)) == pytest.approx(1.0)
    assert kernel(np.array([[0.0]]), np.array([[2.0]]))[0, 0] == pytest.approx(np.exp(-2.0))


def test_the_likelihood_is_that_of_the_normal_law():
    from scipy.stats import multivariate_normal

    rng = np.random.default_rng(1)
    points, noise = rng.random((12, 2)) * 3, rng.uniform(0.05, 0.3, 12)
    scores = [rng.normal(size=12) for _ in range(2)]
    covariance = kernel(points, points) + np.diag(noise)

    def at_its_best_variance(values):
        variance = values @ np.linalg.solve(covariance, values) / 12
        return multivariate_normal(cov=variance * covariance).logpdf(values)

    ours, theirs = ([function(values) for values in scores] for function in (
        lambda values: likelihood(points, values, noise)[0], at_its_best_variance))  # fmt: skip
    assert ours[0] - ours[1] == pytest.approx(theirs[0] - theirs[1], rel=1e-6)


def test_the_slopes_are_those_of_the_likelihood():
    rng = np.random.default_rng(0)
    points, scores, noise = rng.random((20, 3)), rng.normal(size=20), rng.uniform(0.05, 0.2, 20)

    def at(logs):
        return likelihood(points / np.exp(logs[:3]), scores, noise * np.exp(logs[3]))

    logs, h = np.array([-0.5, -0.2, 0.3, 0.1]), 1e-5
    by_differences = [(at(logs + h * e)[0] - at(logs - h * e)[0]) / (2 * h) for e in np.eye(4)]
    assert at(logs)[1] == pytest.approx(by_differences, rel=1e-4)


def test_mean_and_doubt_are_those_of_scikit_learns_process():
    sklearn = pytest.importorskip("sklearn.gaussian_process")
    points, scores = sines(6)  # too few to learn lengths from
    candidates = np.random.default_rng(1).random((5, 3))
    slices = np.array([1, 2, 3, 4, 5, 10])
    noise = 0.1 * (0.1 + 1 / slices)
    length = 0.3 * np.sqrt(3)
    process = sklearn.GaussianProcessRegressor(sklearn.kernels.RBF(length), alpha=noise + 1e-8, optimizer=None)
    mean, doubt = process.fit(points, scores).predict(candidates, return_std=True)
    covariance = kernel(points / length, points / length) + np.diag(noise)
    variance = scores @ np.linalg.solve(covariance, scores) / 6
    found = bounds(with_arms(points), candidates, scores, slices=slices)
    assert found == pytest.approx(mean + doubt * np.sqrt(variance), rel=1e-4)


def test_it_learns_which_coordinates_matter():
    points, scores = sines(60, dimension=4)
    made = with_arms(points)
    for _ in range(4):
        made._learned = 0  # as if the arms had doubled
        bounds(made, points[:1], scores)
    lengths = made.state()["lengths"]
    assert lengths[0] < 0.5 * lengths[1:].min()


def test_what_it_learned_makes_its_processs_better():
    points, scores = sines(40, dimension=6)
    unseen, truth = sines(200, dimension=6, seed=1)
    made = with_arms(points)
    naive = bounds(with_arms(points[:7]), unseen, scores[:7])
    found = bounds(made, unseen, scores)
    assert np.corrcoef(found, truth)[0, 1] > max(0.8, np.corrcoef(naive, truth)[0, 1])


def test_far_from_all_arms_there_is_doubt_and_on_them_little():
    points = [[0.0, 0.0], [0.1, 0.0], [0.0, 0.1]]
    here, far = bounds(with_arms(points), [[0.0, 0.0], [1.0, 1.0]], [0.5, 0.4, 0.6])
    assert far < here + 1.0 and here == pytest.approx(0.5, abs=0.15)
    assert far > 0.1  # the median is 0: what is hoped for is doubt


def test_near_good_arms_promises_more_than_near_bad_ones():
    good, bad = bounds(with_arms([[0.1], [0.9]]), [[0.15], [0.85]], [1.0, -1.0])
    assert good > bad


def test_an_arm_that_was_trained_more_counts_more():
    young, old = (bounds(with_arms([[0.5]]), [[0.5]], [1.0], slices=[n])[0] for n in (1, 10))
    mean_young, mean_old = 1 / (1 + 0.1 * 1.1), 1 / (1 + 0.1 * 0.2)
    assert young > mean_young and old > mean_old and young - mean_young > old - mean_old  # less doubt about the old


def test_only_the_arms_named_are_looked_at():
    points = [[0.1], [0.2], [0.9]]
    found = bounds(with_arms(points), [[0.15]], [1.0, 0.5], arms=[0, 2])
    assert found == pytest.approx(bounds(with_arms([points[0], points[2]]), [[0.15]], [1.0, 0.5]))


def test_of_many_arms_the_best_and_the_newest_are_looked_at():
    rng = np.random.default_rng(0)
    points, scores, candidates = rng.random((2_000, 3)), rng.normal(size=2_000), rng.random((10, 3))
    some = sorted(set(np.argsort(-scores)[:64].tolist()) | set(range(2_000 - 64, 2_000)))
    found = bounds(with_arms(points), candidates, scores)
    assert found == pytest.approx(bounds(with_arms(points[some]), candidates, scores[some]))
    assert 64 < len(some) <= 128


@pytest.mark.parametrize(("scale", "shift"), [(1e-6, 0.0), (1e6, -3e7), (0.5, 100.0)])
def test_the_unit_of_scores_does_not_matter(scale, shift):
    rng = np.random.default_rng(0)
    points, scores, candidates = rng.random((30, 4)), rng.normal(size=30), rng.random((50, 4))
    plain = bounds(with_arms(points), candidates, scores)
    found = bounds(with_arms(points), candidates, scale * scores + shift, median=shift, spread=scale)
    assert found == pytest.approx(plain, rel=1e-4)


def test_how_bad_a_diverged_arm_is_does_not_matter():
    points, candidates = [[0.1], [0.5], [0.9]], [[0.3], [0.6], [0.95]]
    bad, worse = (bounds(with_arms(points), candidates, [0.5, 0.7, low]) for low in (-10.0, -1e300))
    assert bad == pytest.approx(worse)


@pytest.mark.parametrize(
    "scores", [np.zeros(40), np.full(40, 1e300), np.r_[np.zeros(39), 1e300]], ids=["flat", "huge", "one huge"]
)
def test_odd_scores_and_equal_points_give_finite_processs(scores):
    points = np.repeat(np.random.default_rng(0).random((4, 2)), 10, axis=0)
    made = with_arms(points)
    for _ in range(3):
        made._learned = 0
        with np.errstate(over="ignore"):
            assert np.isfinite(bounds(made, points[:3], scores, median=float(np.median(scores)), spread=0.0)).all()


def test_a_space_of_no_dimensions_is_one_place():
    made = GaussianProcess(0)
    for _ in range(100):
        made.add(np.zeros(0))
    found = bounds(made, np.zeros((3, 0)), np.linspace(0, 1, 100), slices=np.ones(100))
    assert np.isfinite(found).all() and np.ptp(found) < 1e-9


def test_what_it_learned_can_be_taken_back():
    points, scores = sines(50)
    made, other = with_arms(points), with_arms(points)
    bounds(made, points[:5], scores)
    state = made.state()
    assert json.loads(json.dumps({name: np.asarray(part).tolist() for name, part in state.items()}))
    other.load(state)
    candidates = np.random.default_rng(2).random((20, 3))
    assert bounds(other, candidates, scores).tolist() == bounds(made, candidates, scores).tolist()


def test_a_result_to_come_counts_as_predicted_so_it_changes_what_is_uncertain_and_no_mean():
    points, scores = sines(12)
    rng = np.random.default_rng(1)
    awaited, candidates, noise = rng.random((3, 3)), rng.random((40, 3)), np.full(15, 0.05)
    nothing = np.zeros((0, 3))
    means, before, variance = predictions(points, nothing, candidates, scores, noise[:12])
    same, after, same_variance = predictions(points, awaited, candidates, scores, noise)
    assert same == pytest.approx(means) and same_variance == pytest.approx(variance)
    assert (after < before).all()
    predicted = predictions(points, nothing, awaited, scores, noise[:12])[0]
    told = predictions(np.concatenate([points, awaited]), nothing, candidates, np.append(scores, predicted), noise)
    assert told[0] == pytest.approx(means) and told[1] == pytest.approx(after)


def test_a_candidate_next_to_a_pending_arm_is_less_promising():
    made = with_arms([[0.1], [0.5], [0.9], [0.7]])
    candidates, scores = [[0.7], [0.3]], [0.0, 1.0, 0.0]
    known = [ScoredArms(np.arange(3), np.array(scores), 0.0, 1.0, pending) for pending in ((), (3,))]
    alone, awaited = (made.upper_confidence_bounds(np.array(candidates), one, np.full(3, 10)) for one in known)
    assert alone[0] == pytest.approx(alone[1]) and awaited[0] < awaited[1] <= alone[1]
