"""A training cut into slices ends where one training ends."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone, is_classifier
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from manyarms.sklearn.training.candidate import unfitted
from manyarms.sklearn.training.fitting import row_order
from manyarms.sklearn.training.resources import slices_of
from manyarms.sklearn.training.slices import (
    BoostedRounds,
    Epochs,
    Refits,
    Rows,
    Span,
    WarmRounds,
    Whole,
    has_converged,
    share,
)

X, y = make_classification(200, 6, n_classes=3, n_informative=4, random_state=0)


def sliced(estimator, stops, of, resource="auto", **fit_params):
    """The estimator trained from stop to stop."""
    model, slices, start = clone(estimator), slices_of(estimator, resource), 0
    for stop in stops:
        model = model if slices.continues else clone(estimator)
        slices.advance(model, X, y, Span(start, stop, of), fit_params)
        start = stop
    return model


def predicted(model):
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


def boosted(library, kind, **params):
    return getattr(pytest.importorskip(library), kind)(**params)


@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingClassifier(n_estimators=13, subsample=0.7, random_state=0),
        RandomForestClassifier(n_estimators=13, random_state=0),
        ExtraTreesRegressor(n_estimators=13, random_state=0),
        HistGradientBoostingRegressor(max_iter=13, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("stops", [(10,), (1, 2, 10), (4, 7)])
def test_trees_added_by_slices_are_those_of_one_fit(estimator, stops):
    slices = slices_of(estimator)
    trees = slices.spent(stops[-1], 10)
    whole = clone(estimator).set_params(**trees).fit(X, y)
    np.testing.assert_allclose(predicted(sliced(estimator, stops, 10)), predicted(whole))
    assert slices.continues and list(trees.values()) == [share(13, stops[-1], 10)]


@pytest.mark.parametrize(("library", "kind"), [("lightgbm", "LGBMClassifier"), ("xgboost", "XGBClassifier")])
def test_rounds_of_boosting_libraries_are_added_to_the_ones_so_far(library, kind):
    estimator = boosted(library, kind, n_estimators=9, n_jobs=1, **({"verbose": -1} if library == "lightgbm" else {}))
    assert isinstance(slices_of(estimator), BoostedRounds)
    model = sliced(estimator, (1, 4, 7), 10)
    whole = clone(estimator).set_params(n_estimators=share(9, 7, 10)).fit(X, y)
    np.testing.assert_allclose(predicted(model), predicted(whole), rtol=1e-4)
    assert model.get_params()["n_estimators"] == 7


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_epochs_are_the_same_however_they_are_cut():
    network = MLPClassifier((8,), max_iter=6, random_state=0)
    at_once, by_slices = sliced(network, (3,), 3), sliced(network, (1, 2, 3), 3)
    np.testing.assert_array_equal(predicted(at_once), predicted(by_slices))
    assert len(by_slices.loss_curve_) == 6
    assert slices_of(network).spent(2, 3) == {"max_iter": 4}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_network_whose_loss_no_longer_falls_is_left_as_it_is():
    network = MLPClassifier((8,), max_iter=50, tol=10.0, n_iter_no_change=2, random_state=0)
    assert len(sliced(network, (1, 2, 10), 10).loss_curve_) == 4  # the first, and the three that it waits in vain
    assert not has_converged([1.0, 1.0, 1.0], None, 1) and not has_converged([3.0, 2.0, 1.0], 0.1, 1)


def test_epochs_where_there_is_no_number_of_them_are_one_a_step():
    slices = slices_of(GaussianNB(), "partial_fit")
    assert slices.spent(2, 4) == {}
    model = sliced(GaussianNB(), (1, 3), 4, "partial_fit")
    assert model.class_count_.sum() == 3 * len(X)


def test_epochs_need_no_targets():
    model = MiniBatchKMeans(3, max_iter=4, random_state=0, n_init=1)
    slices_of(model).advance(model, X, None, Span(0, 1, 2), {})
    assert model.cluster_centers_.shape == (3, 6)


def test_epochs_take_the_weights_of_their_rows():
    weights = np.where(y == 2, 0.0, 1.0)
    model = sliced(SGDClassifier(max_iter=20, random_state=0), (1, 4), 4, sample_weight=weights)
    assert 2 not in model.predict(X)


def test_rows_grow_to_all_of_them_and_hold_every_class():
    seen = []

    class Counting(LogisticRegression):
        def fit(self, X, y):
            seen.append((len(X), len(set(y))))
            return super().fit(X, y)

    estimator = Counting()
    slices = slices_of(estimator)
    assert slices == Rows(0) and not slices.continues
    for stop in range(1, 11):
        slices.advance(estimator, X, y, Span(stop - 1, stop, 10), {})
    assert [rows for rows, _ in seen] == [50, 50, 60, 80, 100, 120, 140, 160, 180, 200]
    assert {classes for _, classes in seen} == {3}


def test_the_first_rows_hold_the_classes_in_their_shares():
    labels = np.repeat(["often", "rare"], [95, 5])
    order, classes = row_order(labels, 100, seed=1)
    assert classes == 2 and sorted(order) == list(range(100))
    assert [(labels[order[:n]] == "rare").sum() for n in (20, 40, 60, 100)] == [1, 2, 3, 5]
    assert row_order(None, 5, seed=1)[1] == 0 and row_order(np.zeros((5, 2)), 5, seed=1)[1] == 0


def test_rows_are_cut_with_their_weights():
    weights = np.where(y == 2, 0.0, 1.0)
    assert 2 not in sliced(LogisticRegression(), (3,), 10, sample_weight=weights).predict(X)


def test_a_parameter_without_warm_start_is_fitted_again_with_more_of_it():
    estimator = AdaBoostClassifier(n_estimators=10, random_state=0)
    assert slices_of(estimator, "n_estimators") == Refits("n_estimators", 10)
    model = sliced(estimator, (1, 2), 2, "n_estimators")
    np.testing.assert_array_equal(predicted(model), predicted(clone(estimator).fit(X, y)))


@pytest.mark.parametrize(
    ("estimator", "kind"),
    [
        (RandomForestClassifier(), WarmRounds),
        (HistGradientBoostingRegressor(), WarmRounds),
        (MLPClassifier(), Epochs),
        (MLPClassifier(solver="lbfgs"), Rows),
        (MLPClassifier(early_stopping=True), Rows),
        (SGDClassifier(class_weight="balanced"), Rows),
        (LogisticRegression(), Rows),
        (GaussianNB(), Rows),
        (KNeighborsClassifier(), Rows),
        (AdaBoostClassifier(), Rows),
        (SVC(kernel="precomputed"), Whole),
    ],
    ids=str,
)
def test_what_grows_by_itself_is_what_the_estimator_can_go_on_with(estimator, kind):
    assert type(slices_of(estimator)) is kind
    assert slices_of(estimator, None) == Whole()


def test_a_wrong_resource_is_refused_with_its_name():
    with pytest.raises(ValueError, match="n_trees"):
        slices_of(RandomForestClassifier(), "n_trees")
    with pytest.raises(ValueError, match="partial_fit"):
        slices_of(SVC(), "partial_fit")
    with pytest.raises(ValueError, match="max_iter.*-1"):
        slices_of(SVC(), "max_iter")
    with pytest.raises(ValueError, match="n_samples"):
        slices_of(SVC(kernel="precomputed"), "n_samples")
    with pytest.raises(TypeError, match="resource must be a string or None, got 3"):
        slices_of(SVC(), 3)


def test_only_models_without_a_seed_get_one():
    assert unfitted(SVC(), {"C": 2.0}, 5).get_params()["random_state"] == 5
    assert unfitted(SVC(random_state=1), {}, 5).random_state == 1
    assert unfitted(SVC(), {"random_state": 3}, 5).random_state == 3
    assert unfitted(SVC(), {}, None).random_state is None
