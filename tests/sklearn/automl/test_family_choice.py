"""The families of models for tables."""

import numpy as np
import pytest
from sklearn.base import clone

from manyarms.sklearn.automl import family_choice as module
from manyarms.sklearn.automl.family_choice import Task, families

RNG = np.random.default_rng(0)
X = np.where(RNG.random((90, 4)) < 0.05, np.nan, RNG.normal(size=(90, 4)))
ALL = sorted({*families(classes=2), "boosting"})
OF_NUMBERS = {*families(classes=0), "boosting"}


@pytest.mark.filterwarnings("ignore:.*the optimization hasn't converged yet:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "classes"), [(name, n) for name in ALL for n in (2, 3, 0) if n or name in OF_NUMBERS])
def test_the_default_and_random_configs_of_a_family_can_be_trained(name, classes):
    family = families([name], classes=classes, rows=90)[name]
    y = np.arange(90) % classes if classes else X[:, 0] ** 2 + np.arange(90)
    y = np.nan_to_num(y)
    for config in (*family.space.firsts, family.space.sample(np.random.default_rng(1))):
        model = clone(family.estimator).set_params(**config).fit(X, y)
        assert model.predict(X).shape == (90,)


def test_a_family_knows_whether_whole_numbers_are_classes():
    for classes, kind in ((0, "continuous"), (2, "binary"), (7, "multiclass")):
        for family in families(classes=classes).values():
            assert family.estimator.get_params()["prepare__target_type"] == kind


@pytest.mark.parametrize("name", ALL)
def test_a_family_begins_with_a_default_and_has_plain_parameters(name):
    family = families([name], classes=2)[name]
    assert len(family.space.firsts) == 1
    assert all(parameter.split("__")[0] in ("prepare", "model") for parameter in family.space.parameters)
    assert family.max_steps == 1 or family.resource is not None


def test_what_is_not_installed_is_left_out_or_named(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    found = families(classes=2)
    assert "lightgbm" not in found and "xgboost" not in found and "boosting" in found
    with pytest.raises(ValueError, match="family 'xgboost' needs xgboost: pip install xgboost"):
        families(["xgboost"], classes=2)


def test_slow_families_are_left_out_where_there_are_many_rows_unless_named():
    assert "svm" not in families(classes=2, rows=50_000)
    assert "svm" in families(["svm"], classes=2, rows=50_000)


@pytest.mark.parametrize(
    ("size", "slow"),
    [
        ({"classes": 1_279, "rows": 20_000}, {"svm", "lightgbm", "xgboost", "discriminant"}),
        ({"classes": 2, "rows": 400, "columns": 20_000}, {"discriminant"}),
        ({"classes": 2, "rows": 200_000, "columns": 30}, {"neighbors", "svm"}),
        ({"classes": 3, "rows": 5_000, "columns": 30}, set()),
        ({"classes": 7_000, "rows": 8_000, "columns": 30}, {"linear", "forest", "tree", "network", "svm", "naive_bayes"}),
    ],
)
def test_families_whose_pieces_take_long_are_left_out_unless_named(size, slow):
    found = set(families(**size))
    assert not slow & found and found >= {"linear", "forest", "tree", "naive_bayes"} - slow
    assert set(families(sorted(slow) or None, **size)) >= slow


def test_there_is_always_a_family_to_try():
    assert set(families(classes=10**6, rows=10**8, columns=10**5)) == {"neighbors"}


def test_a_forest_of_very_many_classes_or_rows_stays_within_memory():
    assert Task(classes=2, rows=10_000).leaves(100) is None and Task(classes=2, rows=10_000).trees == 100
    many = Task(classes=1_279, rows=20_000)
    assert many.trees == 20 and many.trees * 2 * many.leaves(many.trees) * 8 * 1_279 < 500_000_000
    forest = families(["forest"], classes=0, rows=1_000_000)["forest"]
    assert forest.estimator[-1].max_leaf_nodes < 100_000 and forest.space.firsts[0]["model__min_samples_leaf"] > 1


def test_a_regression_needs_a_family_that_supports_it():
    assert "naive_bayes" not in families(classes=0)
    with pytest.raises(ValueError, match="families must include one for regression, got naive_bayes"):
        families(["naive_bayes"], classes=0)


def test_many_classes_and_rows_get_fewer_rounds_and_epochs():
    assert (
        Task(classes=2, rows=100).rounds == 150 > Task(classes=10, rows=100).rounds > Task(classes=100, rows=100).rounds == 50
    )
    assert (
        Task(classes=2, rows=100).epochs == 100 > Task(classes=2, rows=3_000).epochs > Task(classes=2, rows=10**6).epochs == 20
    )
