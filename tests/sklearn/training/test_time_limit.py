"""A training that has little time is cut short, by what its beginning cost."""

from __future__ import annotations

import math
from itertools import count

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from manyarms.sklearn.training.fitting import fit_until, rounds_of
from manyarms.sklearn.training.resources import SOLVER, slices_of
from manyarms.sklearn.training.slices import Span
from manyarms.sklearn.training.time_limit import (
    NO_LIMIT,
    UNLIMITED,
    Deadline,
    TimeLimit,
    first_rows,
    next_rounds,
    next_rows,
    predicted_seconds,
)

X, y = make_classification(300, 6, n_classes=3, n_informative=4, random_state=0)


class Hands:
    """A clock that is moved by hand."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def deadline(self, seconds):
        return Deadline(self.now + seconds, self)


@pytest.mark.parametrize("each", [0.001, 0.3, 1.0, 7.0, 100.0])
@pytest.mark.parametrize("left", [0.5, 10.0, 60.0])
def test_rounds_end_in_time_but_for_the_first_however_much_each_takes(each, left):
    done, now = 0, 0.0
    while more := next_rounds(done, 100, now, left - now):
        done, now = done + more, now + more * each
    assert 1 <= done <= 100 and now <= max(left, each)
    assert done == 100 or (100 - done) * each > 0.2 * (left - now)


@pytest.mark.parametrize("power", [1.0, 2.0])
@pytest.mark.parametrize("left", [0.5, 10.0, 600.0])
def test_rows_are_added_as_long_as_a_fit_on_more_of_them_ends_in_time(power, left):
    def seconds(rows):
        return 0.1 * (rows / 1_000) ** power

    measured, now = [(1_000, seconds(1_000))], seconds(1_000)
    while rows := next_rows(measured, 500_000, left - now):
        measured.append((rows, seconds(rows)))
        now += seconds(rows)
    assert now <= max(left, 0.1) * 1.3
    assert (measured[-1][0] == 500_000) == (seconds(500_000) < 0.4 * left)


def test_a_prediction_never_is_below_that_of_a_straight_line():
    assert predicted_seconds([(100, 5.0), (200, 1.0)], 400) == 2.0
    assert predicted_seconds([(100, 0.0), (200, 0.0)], 400) == 0.0
    assert first_rows(50, 10**6) == 50


def test_a_pull_has_its_own_limit_and_that_of_all_and_parts_share_it():
    clock = Hands()
    limit = TimeLimit(pull=10.0, until=100.0, clock=clock)
    stop = limit.stop()
    assert stop == 10.0 and limit.deadline(stop, 5).left() == 2.0
    clock.now = 8.0
    assert limit.deadline(stop, 2).left() == 1.0
    clock.now = 95.0
    assert limit.stop() == 100.0 and limit.deadline(stop, 1).left() == 0.0
    assert NO_LIMIT.deadline(NO_LIMIT.stop(), 3) is UNLIMITED and not UNLIMITED.is_limited


class Costly(ClassifierMixin, BaseEstimator):
    """A classifier that takes a second for so many rows."""

    def __init__(self, clock=None, rows_a_second=1_000):
        self.clock, self.rows_a_second = clock, rows_a_second

    def fit(self, X, y):
        self.seen_ = [*getattr(self, "seen_", []), len(X)]
        self.classes_ = np.unique(y)
        self.clock.now += len(X) / self.rows_a_second
        return self


@pytest.mark.parametrize(("seconds", "seen"), [(1e6, [1_000, 40_000]), (30.0, [1_000, 4_000, 16_000]), (0.1, [1_000])])
def test_a_model_is_fitted_on_the_rows_there_is_time_for(seconds, seen):
    clock, rows = Hands(), np.zeros((40_000, 3))
    model = Costly(clock)
    fit_until(model, rows, np.arange(40_000) % 7, {}, clock.deadline(seconds), seed=0)
    assert model.seen_ == seen and len(model.classes_) == 7
    whole = Costly(clock)
    fit_until(whole, rows, np.arange(40_000) % 7, {}, UNLIMITED, seed=0)
    assert whole.seen_ == [40_000]


def ticking(seconds):
    """A deadline by a clock that moves a second each time it is read."""
    return Deadline(seconds, count().__next__)


def predicted(model):
    return model.predict_proba(X)


ROUNDS = {
    "forest": (RandomForestClassifier(n_estimators=40, random_state=0), lambda model: len(model.estimators_)),
    "boosting": (
        HistGradientBoostingClassifier(max_iter=40, early_stopping=False, random_state=0),
        lambda model: model.n_iter_,
    ),
}


@pytest.mark.parametrize("name", ROUNDS)
def test_rounds_that_there_was_no_time_for_are_trained_by_the_next_slice(name):
    estimator, rounds = ROUNDS[name]
    slices = slices_of(estimator, "max_iter" if name == "boosting" else "n_estimators")
    slices.advance(estimator, X, y, Span(0, 1, 2), {}, ticking(8))
    assert 1 <= rounds(estimator) < 20
    slices.advance(estimator, X, y, Span(1, 2, 2), {})
    assert rounds(estimator) == 40


@pytest.mark.parametrize(("library", "kind"), [("lightgbm", "LGBMClassifier"), ("xgboost", "XGBClassifier")])
def test_boosting_ends_after_the_round_in_which_its_time_is_over(library, kind):
    params = {"verbosity": -1} if library == "lightgbm" else {}
    model = getattr(pytest.importorskip(library), kind)(n_estimators=40, n_jobs=1, **params)
    slices = slices_of(model)
    slices.advance(model, X, y, Span(0, 1, 2), {}, ticking(5))
    assert 1 <= rounds_of(model) <= 10
    slices.advance(model, X, y, Span(1, 2, 2), {}, ticking(10_000))
    assert rounds_of(model) == 40 and predicted(model).shape == (300, 3)
    assert model.get_params()["n_estimators"] == 40 and not model.get_params().get("callbacks")


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
def test_a_solver_is_cut_short_and_converges_where_it_has_the_time():
    whole = LogisticRegression(max_iter=200).fit(X, y)
    solver = slices_of(whole, SOLVER)
    ended = LogisticRegression(max_iter=200)
    solver.advance(ended, X, y, Span(0, 1, 1), {}, ticking(10_000))
    assert np.allclose(predicted(ended), predicted(whole), atol=1e-2)
    assert ended.get_params()["max_iter"] == 200 and ended.get_params()["warm_start"] is False
    cut = LogisticRegression(max_iter=200)
    solver.advance(cut, X, y, Span(0, 1, 1), {}, ticking(1))
    assert np.max(cut.n_iter_) <= 5
    unlimited = LogisticRegression(max_iter=200)
    solver.advance(unlimited, X, y, Span(0, 1, 1), {})
    assert np.array_equal(predicted(unlimited), predicted(whole))


def test_epochs_end_when_the_time_is_over():
    network = MLPClassifier([4], max_iter=30, random_state=0)
    slices_of(network, "partial_fit").advance(network, X, y, Span(0, 1, 1), {}, ticking(3))
    assert 1 <= network.n_iter_ < 10
    assert math.isfinite(network.loss_)
