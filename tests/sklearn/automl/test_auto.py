"""A table in, a good trained model out."""

import os
import pickle
import subprocess
import sys
import textwrap
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.utils.estimator_checks import parametrize_with_checks
from waiting import wait_until

import manyarms as ma
from manyarms.journal import Event
from manyarms.sklearn import AutoClassifier, AutoRegressor
from manyarms.sklearn.automl import auto_study, plan
from manyarms.sklearn.automl.auto_study import training_time
from manyarms.sklearn.automl.settings import Data
from manyarms.sklearn.automl.targets import class_target
from manyarms.sklearn.training.prepared_folds import Preparations
from manyarms.sklearn.training.training import Training

QUICK = ["linear", "neighbors", "tree"]
BUDGET = 8
IRIS = load_iris(return_X_y=True, as_frame=True)


def quick(kind=AutoClassifier, **options):
    return kind(**{"budget": BUDGET, "families": QUICK, "random_state": 0, "cv": 3, **options})


@pytest.fixture(scope="module")
def fitted():
    """A model of the irises."""
    return quick().fit(*IRIS)


def expected_failures(estimator):
    reason = "weights are for training: folds, scores and preparation see each row once"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


@pytest.mark.filterwarnings("ignore:No model reached the score of the constant baseline:manyarms.ManyarmsWarning")
@parametrize_with_checks(
    [quick(cv=2, budget=3, families=["tree"]), quick(AutoRegressor, cv=2, budget=3, families=["tree"])],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_it_learns_a_table_and_reports_the_search():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = quick().fit(X.iloc[::2], y.iloc[::2])
    assert model.score(X.iloc[1::2], y.iloc[1::2]) > 0.93
    predictions = model.predict_proba(X)
    assert predictions.shape == (len(X), 2) and np.allclose(predictions.sum(axis=1), 1)
    board = model.leaderboard_
    assert board["score"].is_monotonic_decreasing and set(board["family"]) == set(QUICK)
    assert board["weight"].sum() == pytest.approx(1) == sum(member.weight for member in model.members_)
    assert model.best_score_ == board["score"].iloc[0] <= model.ensemble_score_ + 0.02
    assert model.baseline_score_ < model.best_score_
    assert len(model.pulls_) == BUDGET and (model.pulls_["status"] == "told").all()
    assert model.columns_["kind"].eq("number").all()


def test_numbers_are_predicted_too():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = quick(AutoRegressor).fit(X.iloc[::2], y.iloc[::2])
    assert model.score(X.iloc[1::2], y.iloc[1::2]) > 0.3
    assert model.predict(X).shape == (len(X),)


def test_whole_numbers_and_a_column_of_codes_are_a_regression_as_good_as_without_the_column():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    codes = np.random.default_rng(0).choice([f"code{i}" for i in range(60)], len(X))
    model = quick(AutoRegressor, families=["linear"], budget=2).fit(X.assign(code=codes), y)
    assert (y % 1 == 0).all() and model.best_score_ > 0.4


def test_the_same_seed_and_steps_give_the_same_model(fitted):
    X, y = IRIS
    again, other = (quick(random_state=seed).fit(X, y) for seed in (0, 1))
    assert np.array_equal(fitted.predict_proba(X), again.predict_proba(X))
    assert not np.array_equal(fitted.predict_proba(X), other.predict_proba(X))


def test_labels_of_any_kind_come_back_as_they_were():
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = quick(budget=2, families=["tree"])
    assert set(model.fit(X, names).predict(X)) == set(names)
    assert model.fit(X, names == "setosa").predict(X).dtype == bool
    assert set(model.fit(X, y / 2).predict(X)) == {0.0, 0.5, 1.0}
    assert set(model.fit(X, pd.Categorical(y)).predict(X)) == {0, 1, 2}


def test_a_fitted_model_is_pickled_and_cloned(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict(IRIS[0]), fitted.predict(IRIS[0]))
    assert not hasattr(clone(fitted), "members_")


def test_weights_reach_the_models_and_leave_out_those_that_know_none():
    X, y = IRIS
    model = quick().fit(X.iloc[:, :2], y, sample_weight=np.where(y == 1, 1e-3, 1.0))
    assert "neighbors" not in set(model.leaderboard_["family"])
    plain = quick().fit(X.iloc[:, :2], y)
    assert (model.predict(X.iloc[:, :2]) == 1).sum() < 0.7 * (plain.predict(X.iloc[:, :2]) == 1).sum()


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc_ovr", "f1_macro", "balanced_accuracy"])
def test_any_scikit_learn_scorer_can_be_optimized(scoring):
    X, y = IRIS
    model = quick(scoring=scoring, budget=8, families=[*QUICK, "svm"]).fit(X, y)
    assert model.baseline_score_ < model.best_score_
    assert ("svm" in set(model.leaderboard_["family"])) == (scoring in ("f1_macro", "balanced_accuracy"))


def test_with_a_holdout_models_are_trained_completely_and_then_on_all_rows():
    X, y = load_breast_cancer(return_X_y=True)
    model = quick(cv=1, budget=8, families=["forest", "linear"]).fit(X, y)
    assert (model.leaderboard_["steps"] == model.leaderboard_["max_steps"]).all()
    assert all(len(member.models) == 1 for member in model.members_)
    forests = [member.models[0][-1] for member in model.members_ if member.family == "forest"]
    assert all(tree.tree_.n_node_samples[0] > 0.8 * len(X) * 0.6 for forest in forests for tree in forest.estimators_)


def test_with_a_single_validation_set_boosting_is_stopped_early():
    X, y = load_breast_cancer(return_X_y=True)
    model = quick(cv=1, budget=2, families=["lightgbm"]).fit(X, y)
    boosted = [member.models[0][-1] for member in model.members_]
    assert boosted and all(0 < one.booster_.current_iteration() < 500 for one in boosted)


@pytest.mark.parametrize("family", ["lightgbm", "catboost"])
@pytest.mark.parametrize("cv", [1, 3])
def test_native_categories_are_used_and_unknown_ones_accepted(family, cv):
    pytest.importorskip(family)
    rng = np.random.default_rng(0)
    effects, codes = rng.normal(size=200), rng.integers(0, 200, 3_000)
    table = pd.DataFrame({"code": [f"c{code}" for code in codes], "size": rng.normal(size=3_000)})
    target = 3 * effects[codes] + table["size"].to_numpy() + 0.1 * rng.normal(size=3_000)
    model = AutoRegressor(budget=1, cv=cv, families=[family], random_state=0).fit(table, target)
    assert model.score(table, target) > 0.5
    new = pd.DataFrame({"code": ["never seen", None, "c1"], "size": [0.0, 1.0, np.nan]})
    assert np.isfinite(model.predict(new)).all()


def test_an_ensemble_stays_within_its_limits():
    X, y = load_breast_cancer(return_X_y=True)
    free = quick(budget=12, families=["forest", "linear", "discriminant"]).fit(X, y)
    assert free.model_mb_ == pytest.approx(sum(member.model_mb for member in free.members_)) and free.predict_ms_ > 0
    small = quick(budget=12, families=["forest", "linear", "discriminant"], max_model_mb=0.1).fit(X, y)
    assert small.model_mb_ <= 0.1 and "forest" not in {member.family for member in small.members_}


def test_limits_that_no_model_meets_give_the_smallest_model_and_a_note():
    with pytest.warns(ma.ManyarmsWarning, match="Every model exceeds max_predict_ms or max_model_mb"):
        model = quick(max_model_mb=1e-6).fit(*IRIS)
    assert len(model.members_) == 1


def test_a_better_model_beyond_the_limits_is_noted():
    X = np.random.default_rng(0).normal(size=(300, 2))
    with pytest.warns(ma.ManyarmsWarning, match="A better model exceeds max_predict_ms or max_model_mb: it scores 0"):
        model = quick(families=["forest", "linear"], max_model_mb=0.02).fit(X, X[:, 0] * X[:, 1] + X[:, 0] > 0)
    assert {member.family for member in model.members_} == {"linear"}


def test_the_requested_score_decides_which_models_form_the_ensemble():
    X, y = load_breast_cancer(return_X_y=True)
    model = quick(budget=12, families=["linear", "tree", "naive_bayes"]).fit(X, y)
    assert model.ensemble_score_ >= model.best_score_ - 0.01


def test_one_model_without_the_ensemble():
    model = quick(ensemble=False).fit(*IRIS)
    assert [member.weight for member in model.members_] == [1.0]
    assert model.members_[0].arm == model.leaderboard_["arm"].iloc[0]


def test_worker_processes_train_too():
    assert quick(n_jobs=2, time_budget=None).fit(*IRIS).score(*IRIS) > 0.9


def test_a_search_without_a_budget_of_steps_ends_when_its_time_is_over():
    assert len(quick(budget=None, time_budget="2s").fit(*IRIS).leaderboard_) >= 1


@pytest.mark.timeout(600)  # a hang; it takes a while on a busy machine
def test_a_killed_fit_resumes_where_it_was(tmp_path):
    script = textwrap.dedent(
        f"""
        from sklearn.datasets import load_iris
        from manyarms.sklearn import AutoClassifier
        X, y = load_iris(return_X_y=True, as_frame=True)
        AutoClassifier(budget=100_000, families={QUICK}, random_state=0, cv=3, storage={str(tmp_path / "fit.db")!r}).fit(X, y)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", script])
    assert wait_until(lambda: pulls_in(tmp_path / "fit.db") >= 5)
    process.kill()
    process.wait()
    before = pulls_in(tmp_path / "fit.db")
    storage = str(tmp_path / "fit.db")
    again = quick(budget=before + 6, storage=storage).fit(*IRIS)
    straight = quick(budget=before + 6).fit(*IRIS)
    assert len(again.pulls_) == before + 6
    assert again.pulls_["reward"].tolist()[:before] == straight.pulls_["reward"].tolist()[:before]


def test_a_storage_with_leaks_excluded_is_not_resumed_without_excluding_them(tmp_path):
    table, classes = pd.DataFrame({"row": range(90), "x": np.arange(90) % 7}), np.repeat(["a", "b"], 45)
    storage = str(tmp_path / "fit.db")
    with pytest.warns(ma.ManyarmsWarning, match="Excluded the column 'row'"):
        quick(storage=storage).fit(table, classes)
    with pytest.raises(ma.StudyMismatch, match=r"was started with different settings \(columns\)"):
        quick(storage=storage, exclude_leaks=False).fit(table, classes)


def test_both_classes_are_in_each_fold_even_if_one_has_few_rows():
    table = pd.DataFrame({"x": np.r_[np.arange(57.0), 90, 91, 92]})
    model = quick(cv="auto", scoring="roc_auc").fit(table, np.repeat(["common", "rare"], [57, 3]))
    assert len(model.members_[0].models) == 3 and model.best_score_ > 0.9


def pulls_in(storage):
    try:
        with ma.load_study(storage, "auto") as study:
            return study.counts.pulls
    except ma.ManyarmsError:
        return 0


def test_other_data_in_the_same_storage_is_refused(tmp_path):
    X, y = IRIS
    storage = str(tmp_path / "fit.db")
    quick(storage=storage).fit(X, y)
    with pytest.raises(ma.StudyMismatch, match=r"was started with different settings \(data\)"):
        quick(storage=storage).fit(X.iloc[1:], y.iloc[1:])
    with pytest.raises(ma.StudyMismatch, match=r"was started with different settings \(scoring\)"):
        quick(storage=storage, scoring="f1_macro").fit(X, y)
    with pytest.raises(ma.StudyMismatch, match=r"was started with different settings \(cv\)"):
        quick(storage=storage, cv=4).fit(X, y)
    assert quick(storage=storage).fit(X, y).score(X, y) > 0.9


def test_the_time_of_earlier_runs_does_not_depend_on_their_number_of_workers():
    def pull(ended, seconds):
        return Event("told", 0, 0, 1, 0.5, seconds, {"ended": ended})

    assert training_time([]) == 0 and training_time([Event("asked", 0, 0, 1)]) == 0
    assert training_time([pull(110.0, 10.0), pull(111.0, 10.0), pull(120.0, 9.0), pull(205.0, 5.0)]) == 25


def test_a_search_with_a_function_as_scorer_is_resumed_by_another_process(tmp_path):
    def scorer():  # a new object each time, as in another process
        def share_of_correct(model, X, y):
            return float(np.mean(model.predict(X) == y))

        return share_of_correct

    kept = scorer()
    storage = str(tmp_path / "fit.db")
    assert len(quick(storage=storage, scoring=kept, budget=3).fit(*IRIS).pulls_) == 3
    assert len(quick(storage=storage, scoring=scorer(), budget=5).fit(*IRIS).pulls_) == 5


ODD = pd.DataFrame(
    {
        "empty": [None] * 60,
        "constant": [1] * 60,
        "mixed": [1, "x", 2.5] * 20,
        "infinite": [np.inf, -np.inf, *range(58)],
        "when": pd.date_range("2020-01-01", periods=60),
        "[odd] {name}": [f"c{i % 25}" for i in range(60)],
        "text": [f"some words about {i} and {i % 2}" for i in range(60)],
        "signal": [i % 2 for i in range(60)],
    }
)


def test_irregular_columns_are_handled():
    table = ODD.set_axis([*ODD.columns[:-1], "empty"], axis=1)  # a name twice
    model = quick(families=["linear", "forest", "svm", "lightgbm"]).fit(table, [i % 2 for i in range(60)])
    assert model.score(table, [i % 2 for i in range(60)]) > 0.9


def test_classes_of_one_row_are_learned_with_the_others():
    X, y = IRIS
    rare = y.copy()
    rare.iloc[0] = 7
    assert 7 in quick().fit(X, rare).classes_


def test_without_any_time_a_small_tree_is_used():
    with pytest.warns(
        ma.ManyarmsWarning, match="a small decision tree trained on a few rows is used .no pull finished in time"
    ):
        model = AutoClassifier(1e-6, random_state=0).fit(*IRIS)
    assert model.best_family_ == "tree" and len(model.pulls_) == 0
    assert model.score(*IRIS) > 0.8 and model.predict_proba(IRIS[0]).shape == (150, 3)
    assert model.baseline_score_ < model.ensemble_score_ == model.best_score_


def process_of(estimator, X, y):
    """A score that tells where it was made."""
    return float(os.getpid())


@pytest.mark.parametrize("apart", [True, False])
def test_what_may_take_long_is_trained_in_a_process_that_can_be_ended(apart, monkeypatch):
    monkeypatch.setattr(plan, "_SMALL", 0 if apart else 10**9)
    model = quick(time_budget=600, budget=3, scoring=process_of, ensemble=False).fit(*IRIS)
    assert len(model.pulls_) == 3 and (model.best_score_ != os.getpid()) == apart
    assert model.score(*IRIS) > 0.9


def test_a_search_on_some_of_the_rows_notes_it_and_knows_every_class(monkeypatch):
    monkeypatch.setattr(auto_study, "plan_of", lambda *arguments, **options: plan.Plan(1, 60))
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    rare = y.copy()
    rare.iloc[[7, 8]] = 5
    with pytest.warns(ma.ManyarmsWarning, match="The search used 60 of 569 rows, because the time was short"):
        model = quick(time_budget=600, budget=4, cv="auto").fit(X, rare)
    assert model.classes_.tolist() == [0, 1, 5] and model.score(X, rare) > 0.85
    for member in model.members_:
        assert member.models[0][0].n_features_in_ == 30


def test_a_search_that_is_resumed_keeps_to_the_plan_it_began_with(tmp_path, monkeypatch):
    storage = tmp_path / "fit.db"
    with monkeypatch.context() as patched:
        patched.setattr(auto_study, "plan_of", lambda *arguments, **options: plan.Plan(1, 90))
        with pytest.warns(ma.ManyarmsWarning, match="90 of 150 rows"):
            quick(time_budget=600, budget=3, cv="auto", storage=storage).fit(*IRIS)
    with pytest.warns(ma.ManyarmsWarning, match="90 of 150 rows"):
        model = quick(budget=6, cv="auto", storage=storage).fit(*IRIS)
    assert len(model.pulls_) == 6


class Hands:
    """A clock that each pull moves by some seconds."""

    def __init__(self, monkeypatch, seconds):
        self.now, train = 0.0, Training.__call__

        def slow(training, pull):
            self.now += seconds
            return train(training, pull)

        monkeypatch.setattr(Training, "__call__", slow)

    def __call__(self):
        return self.now


def test_pulls_are_begun_only_while_there_is_time(monkeypatch):
    X, y = IRIS
    clock = Hands(monkeypatch, 1_000.0)
    settings = quick(budget=None, time_budget=10_000.0)._settings()
    data = Data(X.set_axis(range(4), axis=1), class_target(y), None)
    with closing(auto_study.AutoStudy(data, ["number"] * 4, settings, clock)) as search:
        search.run()
        assert search.study.counts.pulls == 9
        assert search.left() == 1_000.0


def test_pulls_that_ran_at_the_same_time_leave_time_for_others(monkeypatch):
    X, y = IRIS
    clock = Hands(monkeypatch, 1_000.0)
    settings = quick(budget=None, time_budget=10_000.0)._settings()
    data = Data(X.set_axis(range(4), axis=1), class_target(y), None)
    with closing(auto_study.AutoStudy(data, ["number"] * 4, settings, clock)) as search:
        for pull in [search.study.ask(), search.study.ask()]:  # as by two workers
            search.study.tell(pull, 0.5, seconds=5_000.0)
        search.run()
        assert search.study.counts.pulls > 2


def test_a_pull_that_can_not_end_in_time_is_abandoned_between_its_folds(monkeypatch):
    X, y = IRIS
    settings = quick(budget=None, time_budget=10_000.0)._settings()
    now = [0.0]
    data = Data(X.set_axis(range(4), axis=1), class_target(y), None)
    with closing(auto_study.AutoStudy(data, ["number"] * 4, settings, lambda: now[0])) as search:
        prepare = Preparations.fold

        def slow(preparations, *arguments):
            now[0] += 6_000.0
            return prepare(preparations, *arguments)

        monkeypatch.setattr(Preparations, "fold", slow)
        search.run()
        counts = search.study.counts
        assert (counts.pulls, counts.failures, len(counts.in_flight)) == (0, 0, 1)
        assert search.fallback()[0].family == "tree"


@pytest.mark.parametrize(
    ("kind", "y", "words"),
    [
        (AutoClassifier, [f"id{i // 1.5:.0f}" for i in range(150)], "'y' looks like an identifier: .* distinct values in 150"),
        (AutoClassifier, [f"a long text {i % 90}" for i in range(150)], "'y' is free text: 90 distinct values in 150 rows, of"),
        (AutoRegressor, range(150), "'y' numbers the rows"),
    ],
)
def test_names_of_rows_and_free_text_are_learned_only_by_force(kind, y, words):
    X = IRIS[0]
    with pytest.raises(ValueError, match=f"Nothing useful can be predicted: {words}.*set force=True"):
        quick(kind).fit(X, list(y))
    assert len(quick(kind, budget=2, families=["tree"], force=True).fit(X, list(y)).predict(X)) == 150


@pytest.mark.parametrize(
    ("kind", "family", "options"),
    [
        (AutoClassifier, "tree", {}),
        (AutoClassifier, "tree", {"scoring": "neg_log_loss", "ensemble": False}),
        (AutoClassifier, "tree", {"cv": 1}),
        (AutoRegressor, "neighbors", {}),
        (AutoRegressor, "neighbors", {"scoring": "neg_mean_absolute_error", "cv": 1}),
    ],
)
def test_if_no_model_reaches_the_constant_baseline_the_prediction_is_constant(kind, family, options):
    X = np.repeat(np.random.default_rng(0).normal(size=(60, 3)), 2, axis=0)
    y = np.tile([0, 1], 60)  # two equal rows have different classes: what is learned from one is wrong for the other
    with pytest.warns(ma.ManyarmsWarning, match="No model reached the score of the constant baseline"):
        model = quick(kind, budget=6, families=[family], **options).fit(X, y)
    assert len(np.unique(model.predict(X))) == 1
    best, *others = model.leaderboard_.itertuples()
    assert (best.rank, best.family, best.weight) == (1, "constant", 1.0) and model.best_family_ == "constant"
    assert others and all((arm.family, arm.weight) == (family, 0.0) and arm.score < best.score for arm in others)
    assert model.ensemble_score_ == model.baseline_score_ == pytest.approx(model.best_score_, abs=0.05)


def test_the_constant_baseline_is_scored_on_the_folds_of_the_search():
    X, y = load_diabetes(return_X_y=True)
    model = quick(AutoRegressor, budget=3, families=["linear"], cv=KFold(5)).fit(X, y)
    predictions = cross_val_predict(DummyRegressor(), X, y, cv=KFold(5))
    assert model.baseline_score_ == pytest.approx(r2_score(y, predictions))


@pytest.mark.filterwarnings("ignore:.*pulls failed, so it was no longer picked:manyarms.ManyarmsWarning")
@pytest.mark.parametrize("kind", [AutoClassifier, AutoRegressor])
def test_where_every_pull_fails_there_is_still_a_model(kind, monkeypatch):
    def fail(*arguments):
        raise OverflowError("a number too large")

    monkeypatch.setattr(Training, "__call__", fail)
    X, y = IRIS
    with pytest.warns(
        ma.ManyarmsWarning, match=f"the same for every row .all {BUDGET} pulls failed, most often with: OverflowError: a num"
    ):
        model = quick(kind).fit(X, y)
    assert len(np.unique(model.predict(X))) == 1 and model.best_family_ == "constant"
    assert model.leaderboard_["weight"].tolist() == [1.0] and model.ensemble_score_ == model.baseline_score_
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"families": ["forests"]}, "families must be one of .*, got 'forests'"),
        ({"families": "linear"}, "families must be a list of names, got 'linear'"),
        ({"scoring": "precision!"}, "scoring must be the name of a scorer, such as accuracy.*, got 'precision!'"),
        ({"scoring": "roc_auc"}, "scoring cannot be applied to this target: multi_class must be"),
        ({"cv": 0}, "cv must be at least 1, got 0"),
        ({"budget": 0}, "budget must be at least 1, got 0"),
        ({"time_budget": "soon"}, "time_budget must be"),
        ({"n_jobs": 0}, "n_jobs must be at least 1, got 0"),
        ({"max_model_mb": -1}, "max_model_mb must be above 0, got -1"),
        ({"progress": "no"}, "progress must be True or False, got 'no'"),
    ],
)
def test_wrong_settings_are_refused_before_anything_runs(options, message):
    with pytest.raises((ValueError, TypeError, ma.ManyarmsError), match=message):
        quick(**options).fit(*IRIS)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
def test_other_columns_are_refused_in_predict(fitted):
    X = IRIS[0]
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(X.iloc[:, ::-1])
    with pytest.raises(ValueError, match="X has 2 features, but AutoClassifier is expecting 4"):
        fitted.predict(X.to_numpy()[:, :2])


def test_logarithms_of_probabilities(fitted):
    chances = fitted.predict_proba(IRIS[0])
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(fitted.predict_log_proba(IRIS[0]), np.log(chances))


def test_the_importances_of_the_columns_sum_to_one():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"noise": rng.normal(size=200), "constant": 1.0, "signal": rng.normal(size=200)})
    with pytest.raises(AttributeError):
        _ = quick().feature_importances_
    for kind, target in ((AutoClassifier, table["signal"] > 0), (AutoRegressor, 3 * table["signal"])):
        model = quick(kind, budget=4).fit(table, target)
        found = model.feature_importances_
        assert found.sum() == pytest.approx(1.0) and found[1] == 0 and found.argmax() == 2 and found[2] > 0.8
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).feature_importances_, found)


@pytest.mark.parametrize(("n_jobs", "workers"), [(None, 1), (3, 3), (-1, 8), (-2, 7), (-100, 1)])
def test_negative_numbers_of_jobs_count_from_the_number_of_cores(monkeypatch, n_jobs, workers):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert quick(n_jobs=n_jobs)._settings().workers == workers


def test_a_categorical_of_numbers_stays_a_category():
    codes = np.tile([10, 20, 30, 40], 30)
    table = pd.DataFrame({"code": pd.Categorical(codes), "x": np.random.default_rng(0).normal(size=120)})
    model = quick(families=["linear"], budget=2).fit(table, np.isin(codes, [10, 30]))
    assert list(model.columns_["kind"]) == ["category", "number"]
    assert model.score(table, np.isin(codes, [10, 30])) == 1.0  # no threshold on a number could do that


def test_rows_of_a_group_are_validated_together():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    table, labels = pd.DataFrame({"place": groups + rng.normal(scale=0.01, size=200)}), rng.integers(0, 2, 40)[groups]
    with pytest.warns(ma.ManyarmsWarning, match="No model reached the score of the constant baseline"):
        apart = quick(AutoClassifier, cv="auto", families=["neighbors"], budget=3).fit(table, labels, groups=groups)
    mixed = quick(AutoClassifier, cv="auto", families=["neighbors"], budget=3).fit(table, labels)
    assert mixed.ensemble_score_ > apart.ensemble_score_ + 0.1
