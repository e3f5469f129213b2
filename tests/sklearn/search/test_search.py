"""`BanditSearchCV` does what a search of scikit-learn does, and trains a slice at a time."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("pandas")

import pandas as pd
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import GroupKFold, KFold, RandomizedSearchCV, cross_val_score, cross_validate
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import manyarms as ma
from manyarms.sklearn import BanditSearchCV
from manyarms.sklearn.search.failures import FirstError, FitsFailed

X, y = make_classification(120, 6, n_informative=4, random_state=0)
TREES = GradientBoostingClassifier(n_estimators=20, max_depth=2, random_state=0)
RATES = {"learning_rate": loguniform(0.01, 1)}
QUICK = {"cv": 3, "max_steps": 4, "budget": 12, "random_state": 0}


@pytest.fixture(scope="module")
def boosted():
    return BanditSearchCV(TREES, RATES, **{**QUICK, "budget": 24}).fit(X, y)


def test_it_has_all_that_a_randomized_search_has(boosted):
    theirs = RandomizedSearchCV(TREES, RATES, n_iter=2, cv=3, random_state=0).fit(X, y)
    assert {name for name in vars(theirs) if name.endswith("_") and not name.startswith("_")} <= set(vars(boosted))
    assert set(theirs.cv_results_) <= set(boosted.cv_results_)
    for name, values in theirs.cv_results_.items():
        assert type(boosted.cv_results_[name]) is type(values), name
    assert boosted.n_splits_ == 3 and boosted.multimetric_ is False and boosted.refit_time_ > 0
    assert boosted.n_features_in_ == 6 and boosted.classes_.tolist() == [0, 1]
    missing = {name for name in dir(theirs) if not name.startswith("_")} - set(dir(boosted))
    assert missing <= {"n_iter", "param_distributions", "pre_dispatch"}


def test_the_row_of_an_arm_is_what_cross_validation_gives_with_its_parameters(boosted):
    results = boosted.cv_results_
    assert {1, 4} <= set(results["steps"]) <= {1, 2, 3, 4}
    for row in (boosted.best_index_, int(results["steps"].argmin())):
        params = results["params"][row]
        assert params["n_estimators"] == 5 * results["steps"][row] == results["param_n_estimators"][row]
        plain = cross_val_score(clone(TREES).set_params(**params), X, y, cv=3)
        assert [results[f"split{i}_test_score"][row] for i in range(3)] == pytest.approx(plain.tolist())
        assert results["mean_test_score"][row] == pytest.approx(plain.mean())
        assert results["std_test_score"][row] == pytest.approx(plain.std())


def test_the_best_is_the_arm_with_the_best_score_trained_on_all_rows_to_where_it_was(boosted):
    results = boosted.cv_results_
    assert boosted.best_score_ == results["mean_test_score"].max()
    assert results["rank_test_score"][boosted.best_index_] == 1
    assert boosted.best_params_ is results["params"][boosted.best_index_]
    plain = clone(TREES).set_params(**boosted.best_params_).fit(X, y)
    np.testing.assert_array_equal(boosted.predict_proba(X), plain.predict_proba(X))
    assert boosted.best_estimator_.get_params() == plain.get_params()
    assert boosted.score(X, y) == plain.score(X, y)


def test_the_budget_is_spent_and_never_exceeded(boosted):
    pulls = boosted.study_.pulls_dataframe()
    assert 20 < (pulls["stop"] - pulls["start"]).sum() <= 24
    assert boosted.cv_results_["steps"].tolist() == [record.best_step for record in boosted.study_.counts.arms.values()]


def test_fitted_again_it_begins_afresh():
    search = BanditSearchCV(TREES, RATES, **QUICK)
    first = search.fit(X, y).cv_results_
    second = search.fit(X, y).cv_results_
    assert first is not second and first["params"] == second["params"]
    assert first["mean_test_score"].tolist() == second["mean_test_score"].tolist()


def test_another_seed_searches_elsewhere_and_none_is_a_new_one_each_time():
    tried = [
        BanditSearchCV(TREES, RATES, cv=2, max_steps=1, budget=3, random_state=seed)
        .fit(X, y)
        .cv_results_["param_learning_rate"]
        for seed in (1, 1, 2, None, None, np.random.RandomState(1))
    ]
    assert len({tuple(rates) for rates in tried}) == 5
    assert tried[0].tolist() == tried[1].tolist()


def test_two_worker_processes_give_the_same_each_time(boosted):
    one, two = (BanditSearchCV(TREES, RATES, n_jobs=2, **QUICK).fit(X, y) for _ in range(2))
    assert one.cv_results_["params"] == two.cv_results_["params"]
    assert one.cv_results_["mean_test_score"].tolist() == two.cv_results_["mean_test_score"].tolist()
    assert one.cv_results_["param_learning_rate"][0] == boosted.cv_results_["param_learning_rate"][0]
    plain = cross_val_score(clone(TREES).set_params(**one.best_params_), X, y, cv=3)
    assert one.best_score_ == pytest.approx(plain.mean())


def test_pickled_it_predicts_and_can_still_be_looked_at(boosted):
    copy = pickle.loads(pickle.dumps(boosted))
    np.testing.assert_array_equal(copy.predict(X), boosted.predict(X))
    assert len(copy.study_.arms_dataframe()) == len(copy.cv_results_["params"])
    assert copy.study_.best().id == boosted.study_.best().id
    unfitted = pickle.loads(pickle.dumps(BanditSearchCV(TREES, RATES, **QUICK)))
    with pytest.raises(NotFittedError):
        unfitted.predict(X)


def test_parameters_are_got_and_set_through_it():
    search = BanditSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1]}, cv=2)
    assert search.get_params()["estimator__svc__C"] == 1.0
    assert search.set_params(estimator__svc__C=3, budget=7).estimator["svc"].C == 3
    assert "budget=7" in repr(search) and "SVC" in search._repr_html_()


# -- what grows


@pytest.mark.parametrize(("resource", "steps"), [("auto", 4), ("n_samples", 4), (None, 1), ("folds", 3)])
def test_an_estimator_that_cannot_go_on_is_searched_by_rows_folds_or_at_once(resource, steps):
    search = BanditSearchCV(SVC(), {"C": loguniform(0.1, 10)}, resource=resource, cv=3, max_steps=4, budget=12, random_state=0)
    search.fit(X, y)
    results = search.cv_results_
    assert results["steps"].max() == steps
    assert results["steps"][search.best_index_] == steps
    assert search.best_score_ == results["mean_test_score"][results["steps"] == steps].max()
    whole = int(results["steps"].argmax())
    plain = cross_val_score(SVC(**results["params"][whole]), X, y, cv=3)
    assert results["mean_test_score"][whole] == pytest.approx(plain.mean())
    np.testing.assert_array_equal(search.predict(X), SVC(**search.best_params_).fit(X, y).predict(X))


def test_a_network_in_a_pipeline_continues_by_epochs():
    network = make_pipeline(StandardScaler(), MLPClassifier((8,), max_iter=20, random_state=0))
    space = {"mlpclassifier__alpha": loguniform(1e-4, 1), "mlpclassifier__learning_rate_init": loguniform(1e-3, 1e-1)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that training has not converged is no news
        search = BanditSearchCV(network, space, **QUICK).fit(X, y)
    assert search.best_params_["mlpclassifier__max_iter"] == 5 * search.cv_results_["steps"][search.best_index_]
    assert len(search.best_estimator_["mlpclassifier"].loss_curve_) == search.best_params_["mlpclassifier__max_iter"]


def test_where_more_training_makes_it_worse_less_is_taken():
    search = BanditSearchCV(TREES, RATES, scoring=lambda model, X, y: 1 / model.n_estimators_, **QUICK).fit(X, y)
    results = search.cv_results_
    trained = [record.steps for record in search.study_.counts.arms.values()]
    assert results["steps"].tolist() == [1] * len(trained) and max(trained) > 1
    assert search.best_estimator_.n_estimators_ == search.best_params_["n_estimators"] == 5


def test_at_a_tie_the_arm_with_the_most_steps_is_taken():
    search = BanditSearchCV(TREES, RATES, scoring=lambda model, X, y: 0.5, **QUICK).fit(X, y)
    assert search.cv_results_["steps"][search.best_index_] == search.cv_results_["steps"].max() == 4


def test_a_finite_space_ends_when_all_of_it_is_trained():
    search = BanditSearchCV(TREES, {"max_depth": [1, 2], "learning_rate": [0.1, 0.3]}, cv=2, max_steps=2, random_state=0)
    search.fit(X, y)
    assert [record.steps for record in search.study_.counts.arms.values()] == [2, 2, 2, 2]
    assert len({str(params) for params in search.cv_results_["params"]}) == 4
    alone = BanditSearchCV(TREES, cv=2, max_steps=2).fit(X, y)  # nothing to search
    assert alone.best_params_ == {"n_estimators": 20}


def test_a_budget_may_be_a_time():
    search = BanditSearchCV(SVC(), {"C": loguniform(0.1, 10)}, budget="0.2s", cv=2, random_state=0).fit(X, y)
    assert search.study_.counts.seconds >= 0.2


@pytest.mark.parametrize("strategy", [ma.ASHA, "asha"])
def test_any_strategy_may_search(strategy):
    search = BanditSearchCV(TREES, RATES, strategy=strategy, **QUICK).fit(X, y)
    assert search.study_.header["strategy"] == "ASHA"


# -- several estimators

MODELS = {
    "trees": (TREES, RATES),
    "vectors": (make_pipeline(StandardScaler(), SVC()), {"svc__C": loguniform(0.1, 100)}),
}


def test_several_estimators_compete_for_the_steps():
    search = BanditSearchCV(MODELS, **{**QUICK, "budget": 30}).fit(X, y)
    names = search.cv_results_["param_algorithm"]
    assert set(names) == {"trees", "vectors"}
    assert np.ma.getmaskarray(search.cv_results_["param_svc__C"]).tolist() == (names == "trees").tolist()
    name = search.best_params_["algorithm"]
    assert isinstance(search.best_estimator_, type(MODELS[name][0]))
    params = {key: value for key, value in search.best_params_.items() if key != "algorithm"}
    np.testing.assert_array_equal(search.predict(X), clone(MODELS[name][0]).set_params(**params).fit(X, y).predict(X))


def test_several_estimators_have_their_common_methods_before_and_those_of_the_best_after_fitting():
    search = BanditSearchCV(MODELS, **QUICK)
    assert hasattr(search, "predict") and not hasattr(search, "predict_proba") and not hasattr(search, "transform")
    assert clone(search).get_params()["estimator"]["trees"][0].n_estimators == 20
    assert search._repr_html_()
    search.fit(X, y)
    assert hasattr(search, "predict_proba") == (search.best_params_["algorithm"] == "trees")


# -- metrics


def test_several_metrics_are_recorded_and_the_named_one_is_optimized():
    scoring = {
        "auc": "roc_auc",
        "precision": make_scorer(lambda truth, predictions: (truth == predictions)[predictions == 1].mean()),
    }
    search = BanditSearchCV(TREES, RATES, scoring=scoring, refit="auc", return_train_score=True, **QUICK).fit(X, y)
    results = search.cv_results_
    assert search.multimetric_ and set(search.scorer_) == {"auc", "precision"}
    assert search.best_score_ == results["mean_test_auc"][search.best_index_] == results["mean_test_auc"].max()
    plain = cross_validate(clone(TREES).set_params(**search.best_params_), X, y, cv=3, scoring=scoring, return_train_score=True)
    for name in ("test_auc", "train_auc", "test_precision"):
        assert results[f"mean_{name}"][search.best_index_] == pytest.approx(plain[name].mean())
    assert search.score(X, y) == get_scorer("roc_auc")(search.best_estimator_, X, y)


def test_a_function_may_choose_the_row_and_nothing_need_be_trained():
    search = BanditSearchCV(TREES, RATES, scoring=["accuracy", "roc_auc"], refit=lambda results: 1, **QUICK).fit(X, y)
    assert search.best_index_ == 1 and not hasattr(search, "best_score_") and search.predict(X).shape == y.shape
    search = BanditSearchCV(TREES, RATES, scoring=["accuracy", "roc_auc"], refit=False, **QUICK).fit(X, y)
    assert not hasattr(search, "best_params_") and not hasattr(search, "predict")
    search = BanditSearchCV(TREES, RATES, refit=False, **QUICK).fit(X, y)
    assert search.best_params_["n_estimators"] and not hasattr(search, "best_estimator_")


def test_a_function_that_gives_several_metrics_is_searched_for_the_one_named():
    def scoring(model, X, y):
        return {"size": -model.n_estimators_, "accuracy": model.score(X, y)}

    search = BanditSearchCV(TREES, RATES, scoring=scoring, refit="size", **QUICK).fit(X, y)
    assert search.multimetric_ and search.best_score_ == search.cv_results_["mean_test_size"].max() < 0
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        BanditSearchCV(TREES, RATES, scoring=scoring, refit=True, **QUICK).fit(X, y)


# -- tables, targets and groups


def test_tables_go_in_and_come_out():
    table, target = load_iris(return_X_y=True, as_frame=True)
    table = table.assign(colour=np.where(target > 0, "red", "blue"))
    first = make_column_transformer((OneHotEncoder(sparse_output=False), ["colour"]), remainder=StandardScaler())
    model = make_pipeline(first, LogisticRegression()).set_output(transform="pandas")
    search = BanditSearchCV(model, {"logisticregression__C": loguniform(0.01, 10)}, **QUICK).fit(table, target)
    assert search.feature_names_in_.tolist() == table.columns.tolist()
    assert isinstance(search.best_estimator_[:-1].transform(table), pd.DataFrame)
    assert search.score(table, target) > 0.9


def test_a_search_may_transform_and_need_no_targets():
    search = BanditSearchCV(KMeans(n_init=1, random_state=0), {"n_clusters": [2, 3, 4]}, cv=3, max_steps=2, random_state=0)
    assert search.fit(X).transform(X).shape == (120, search.best_params_["n_clusters"])
    selected = Pipeline([("select", SelectKBest()), ("model", Ridge())])
    BanditSearchCV(selected, {"select__k": [1, 2]}, cv=2, max_steps=1).fit(X, y)


def test_groups_reach_the_splitter():
    groups = np.arange(len(y)) % 4
    search = BanditSearchCV(TREES, RATES, **{**QUICK, "cv": GroupKFold(4)}).fit(X, y, groups=groups)
    assert search.n_splits_ == 4
    with pytest.raises(ValueError, match="groups"):
        BanditSearchCV(TREES, RATES, **{**QUICK, "cv": GroupKFold(4)}).fit(X, y)


def test_splits_may_be_a_generator_or_shuffled():
    splits = KFold(3, shuffle=True).split(X)
    search = BanditSearchCV(TREES, RATES, **{**QUICK, "cv": splits}).fit(X, y)
    assert search.n_splits_ == 3


# -- failures


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails where it is told to."""

    def __init__(self, level=0.5):
        self.level = level

    def fit(self, X, y):
        if self.level > 0.6:
            raise ArithmeticError(f"level {self.level}")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


LEVELS = {"level": [0.1, 0.2, 0.9, 0.95]}


@pytest.mark.parametrize("error_score", [np.nan, -1.0, 2.0])
def test_arms_that_fail_have_the_error_score_and_the_lowest_rank(error_score):
    search = BanditSearchCV(Fragile(), LEVELS, resource=None, cv=2, error_score=error_score, random_state=0)
    with pytest.warns(FitFailedWarning, match="of 4 pulls failed.*ArithmeticError: level 0.9"):
        search.fit(X, y)
    results = search.cv_results_
    failed = np.array([params["level"] > 0.6 for params in results["params"]])
    assert failed.sum() == 2 and search.best_params_["level"] < 0.6
    for name in ("mean_test_score", "split0_test_score", "split1_test_score"):
        np.testing.assert_array_equal(results[name][failed], error_score)
    np.testing.assert_array_equal(results["std_test_score"][failed], 0 * error_score)
    assert results["rank_test_score"][failed].tolist() == [3, 3]
    assert results["steps"][failed].tolist() == [0, 0]


def test_the_first_error_is_raised_where_that_is_asked_for():
    search = BanditSearchCV(Fragile(), LEVELS, resource=None, cv=2, error_score="raise", random_state=0)
    with pytest.raises(ArithmeticError, match="level 0.9"):
        search.fit(X, y)
    assert not hasattr(search, "cv_results_")


@pytest.mark.parametrize(
    ("reason", "kind"),
    [("KeyError: 'C'", KeyError), ("LinAlgError: singular", ma.ManyarmsError), ("out of memory", ma.ManyarmsError)],
)
def test_an_error_in_a_worker_process_is_raised_as_one_like_it(reason, kind):
    first_error, stopped = FirstError(None), []
    outcome = ma.Outcome(ma.Pull(ma.Arm(0, {}), 0, 1), reason=reason, details="Traceback of the worker")
    first_error.stop_at_failure(type("Study", (), {"stop": lambda self: stopped.append(1)})(), outcome)
    with pytest.raises(kind) as caught:
        first_error.raise_it()
    assert stopped and "Traceback of the worker" in caught.value.__notes__[0]
    FirstError(None).raise_it()  # there was none


def test_if_all_fits_fail_the_error_has_the_reason():
    with pytest.raises(FitsFailed, match="all 4 pulls failed.*ArithmeticError: level 1") as caught:
        BanditSearchCV(Fragile(), {"level": [1.0, 1.1, 1.2, 1.3]}, resource=None, cv=2).fit(X, y)
    assert isinstance(caught.value, (ma.NoResult, ValueError))


def test_fits_that_all_fail_with_the_same_error_do_not_end_the_search_early():
    levels = {"level": [1 + number / 100 for number in range(60)]}
    with pytest.raises(FitsFailed, match="all 60 pulls failed.*test_search.py, line [0-9]+[)]. Use error_score="):
        BanditSearchCV(Fragile(), levels, resource=None, cv=2, budget=60, strategy="random").fit(X, y)


def test_a_metric_that_fails_beside_the_one_searched_for_is_left_out():
    scoring = {"accuracy": "accuracy", "broken": make_scorer(lambda truth, predictions: 1 / 0)}
    search = BanditSearchCV(TREES, RATES, scoring=scoring, refit="accuracy", **QUICK).fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_broken"]).all() and search.best_score_ > 0.5


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"space": {"rate": [1]}}, "Invalid parameter 'rate'"),
        ({"space": 3}, "space must be a Space"),
        ({"resource": "trees"}, "'trees'"),
        ({"max_steps": 0}, "max_steps"),
        ({"budget": 3}, "budget must be at least 4"),
        ({"budget": "soon"}, "budget must be a number of seconds"),
        ({"strategy": 3}, "strategy"),
        ({"scoring": "beauty"}, "scoring"),
        ({"cv": 500}, "n_splits=500"),
        ({"estimator": {}, "space": None}, "at least one"),
        ({"estimator": {"a": TREES}, "space": None}, r"estimator\['a'\] must be \(estimator, space\)"),
        ({"estimator": {"a": (TREES, None)}}, "space must be None"),
        ({"estimator": {"a": (TREES, None), "b": (Ridge(), None)}, "space": None}, "must not mix"),
        ({"scoring": ["accuracy", "f1"]}, "refit must be set"),
    ],
)
def test_wrong_arguments_are_refused_by_fit_with_a_clear_message(changed, message):
    search = BanditSearchCV(**{"estimator": TREES, "space": RATES, **QUICK, **changed})
    with pytest.raises((TypeError, ValueError), match=message):
        search.fit(X, y)
