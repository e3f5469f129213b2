"""One pull trains a candidate a slice further on every fold, and tells all that there is to tell."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn")

import cloudpickle
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import check_scoring, make_scorer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from manyarms.core import Arm
from manyarms.sklearn.training.candidate import FOLDS, Candidate, Metadata
from manyarms.sklearn.training.training import Trained, Training, is_builtin

X, y = make_classification(120, 6, random_state=0)
FOLDS_OF_ROWS = list(KFold(3).split(X))
ACCURACY = check_scoring(SVC(), "accuracy")
TREES = GradientBoostingClassifier(n_estimators=10, random_state=0)


class Saved:
    """What is left of an arm between pulls, as files would keep it."""

    def __init__(self):
        self.state = None

    def pull(self, config, start, stop, arm=0):
        return FakePull(self, config, start, stop, arm)


class FakePull:
    def __init__(self, saved, config, start, stop, arm):
        self._saved, self.config, self.start, self.stop, self.arm = saved, config, start, stop, Arm(arm, config)

    def load(self):
        return pickle.loads(self._saved.state) if self._saved.state is not None else None

    def save(self, state):
        self._saved.state = pickle.dumps(state)


def training(candidates, scorer=ACCURACY, **options):
    return Training(candidates, X, y, FOLDS_OF_ROWS, scorer, **options)


def test_a_pull_gives_the_mean_of_the_folds_and_each_of_them_with_times():
    train, saved = training(Candidate(TREES, max_steps=5)), Saved()
    metrics = train(saved.pull({"max_depth": 2}, 0, 5))
    plain = cross_val_score(clone(TREES).set_params(max_depth=2), X, y, cv=KFold(3))
    assert [metrics[f"split{i}_test_score"] for i in range(3)] == plain.tolist()
    assert metrics["reward"] == pytest.approx(plain.mean())
    assert all(metrics[f"split{i}_{name}"] > 0 for i in range(3) for name in ("fit_time", "score_time"))
    assert "split0_train_score" not in metrics


@pytest.mark.parametrize("forgetful", [False, True])
def test_slices_go_on_from_what_was_saved_or_is_still_there(forgetful):
    train, saved = training(Candidate(TREES, max_steps=5)), Saved()
    for start, stop in ((0, 1), (1, 3), (3, 5)):
        metrics = train(saved.pull({"max_depth": 2}, start, stop))
        train = pickle.loads(pickle.dumps(train)) if forgetful else train  # another process
    assert metrics["reward"] == training(Candidate(TREES, max_steps=5))(Saved().pull({"max_depth": 2}, 0, 5))["reward"]


def test_a_failed_pull_leaves_what_was_saved_for_the_next_attempt():
    train, saved = training(Candidate(TREES, max_steps=5)), Saved()
    train(saved.pull({}, 0, 2))
    train.scorer = lambda *_: 1 / 0
    with pytest.raises(ZeroDivisionError):
        train(saved.pull({}, 2, 4))
    train.scorer = ACCURACY
    assert train(saved.pull({}, 2, 4))["reward"] == training(Candidate(TREES, max_steps=5))(Saved().pull({}, 0, 4))["reward"]
    assert [model.n_estimators_ for model in pickle.loads(saved.state).models.values()] == [8, 8, 8]


def test_only_what_can_go_on_is_saved():
    saved = Saved()
    training(Candidate(LogisticRegression()))(saved.pull({}, 0, 5))
    assert saved.state is None
    training(Candidate(TREES))(saved.pull({}, 0, 10))
    assert saved.state is None  # trained to the end
    training(Candidate(TREES), keeps=True)(saved.pull({}, 0, 10))
    assert len(pickle.loads(saved.state).models) == 3


def test_by_folds_each_step_is_one_fold_more():
    train, saved = training(Candidate(LogisticRegression(), FOLDS, 3)), Saved()
    first, second = train(saved.pull({}, 0, 1)), train(saved.pull({}, 1, 3))
    plain = cross_val_score(LogisticRegression(), X, y, cv=KFold(3))
    assert first["reward"] == plain[0] and second["reward"] == pytest.approx(plain.mean())
    assert "split0_fit_time" not in second and second["split0_test_score"] == plain[0]


FITTED = []


class Counting(StandardScaler):
    def fit(self, X, y=None, sample_weight=None):
        FITTED.append(len(X))
        return super().fit(X, y, sample_weight)


def test_the_first_steps_of_a_pipeline_are_fitted_once_for_all_arms_that_share_them():
    train = training(Candidate(make_pipeline(Counting(), LogisticRegression()), max_steps=2))
    for arm, C in enumerate((0.1, 1.0, 10.0)):
        train(Saved().pull({"logisticregression__C": C}, 0, 2, arm))
    assert FITTED == [80, 80, 80]
    train(Saved().pull({"counting__with_mean": False}, 0, 2, 3))
    assert FITTED == [80] * 6


def test_a_pipeline_scores_as_scikit_learn_scores_it():
    pipeline = make_pipeline(SelectKBest(k=3), FunctionTransformer(lambda X: X * 2), TREES)
    metrics = training(Candidate(pipeline, "gradientboostingclassifier__n_estimators"))(Saved().pull({}, 0, 10))
    assert metrics["reward"] == cross_val_score(pipeline, X, y, cv=KFold(3)).mean()


def test_a_scorer_of_the_user_gets_the_whole_pipeline_and_the_rows_as_they_were():
    seen = []

    def scorer(model, X, y):
        seen.append((type(model), X.shape))
        return model.score(X, y)

    pipeline = make_pipeline(SelectKBest(k=3), LogisticRegression())
    metrics = training(Candidate(pipeline, None, 1), scorer)(Saved().pull({}, 0, 1))
    assert set(seen) == {(Pipeline, (40, 6))}
    assert metrics["reward"] == cross_val_score(pipeline, X, y, cv=KFold(3)).mean()
    assert is_builtin(ACCURACY) and is_builtin(make_scorer(lambda a, b: 0)) and not is_builtin(scorer)


def test_several_metrics_are_recorded_and_the_named_one_is_the_reward():
    scorer = lambda model, X, y: {"first": 0.25, "second": 0.75}  # noqa: E731
    metrics = training(Candidate(LogisticRegression()), scorer, metric="second")(Saved().pull({}, 0, 1))
    assert metrics["reward"] == 0.75 and metrics["split2_test_first"] == 0.25
    assert training(Candidate(LogisticRegression()), scorer)(Saved().pull({}, 0, 1))["reward"] == 0.25


def test_train_scores_are_recorded_on_request():
    metrics = training(Candidate(RandomForestClassifier(10)), train_scores=True)(Saved().pull({}, 0, 10))
    assert metrics["split0_train_score"] > 0.95


def test_a_precomputed_kernel_is_cut_by_rows_and_columns():
    kernel = rbf_kernel(X)
    train = Training(Candidate(SVC(kernel="precomputed"), max_steps=1), kernel, y, FOLDS_OF_ROWS, ACCURACY)
    metrics = train(Saved().pull({}, 0, 1))
    assert metrics["reward"] == cross_val_score(SVC(kernel="precomputed"), kernel, y, cv=KFold(3)).mean()


@pytest.mark.parametrize("estimator", [TREES, make_pipeline(StandardScaler(), TREES)], ids=["alone", "in a pipeline"])
def test_the_winner_is_trained_on_all_rows_as_one_fit_would(estimator):
    train = training(Candidate(estimator, max_steps=5))
    name = "" if estimator is TREES else "gradientboostingclassifier__"
    config = {f"{name}max_depth": 2}
    assert train.params(config, 2) == {f"{name}max_depth": 2, f"{name}n_estimators": 4}
    model, plain = train.refit(config, 2), clone(estimator).set_params(**train.params(config, 2)).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert str(model.get_params()) == str(plain.get_params())


def test_a_winner_on_growing_rows_gets_all_of_them():
    train = training(Candidate(LogisticRegression(), max_steps=5))
    assert train.params({"C": 2.0}, 1) == {"C": 2.0}
    np.testing.assert_array_equal(train.refit({"C": 2.0}, 1).coef_, LogisticRegression(C=2.0).fit(X, y).coef_)


def test_models_of_the_folds_are_whole_pipelines():
    pipeline = make_pipeline(StandardScaler(), TREES)
    train, saved = training(Candidate(pipeline, max_steps=2), keeps=True), Saved()
    metrics = train(saved.pull({}, 0, 2))
    models = train.models({}, pickle.loads(saved.state))
    scores = [model.score(X[test], y[test]) for model, (_, test) in zip(models, FOLDS_OF_ROWS, strict=True)]
    assert scores == [metrics[f"split{i}_test_score"] for i in range(3)]


WEIGHTS = np.where(y == 1, 0.0, 1.0)


def test_weights_reach_the_last_step_by_its_name():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    metadata = Metadata({"logisticregression__sample_weight": WEIGHTS}, {})
    assert 1 not in training(Candidate(pipeline), metadata=metadata).refit({}, 10).predict(X)


def test_weights_are_routed_to_the_steps_that_ask_for_them():
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(scaler, LogisticRegression().set_fit_request(sample_weight=True))
        model = training(Candidate(pipeline), metadata=Metadata({"sample_weight": WEIGHTS}, {})).refit({}, 10)
        plain = clone(pipeline).fit(X, y, sample_weight=WEIGHTS)
        np.testing.assert_array_equal(model[0].mean_, plain[0].mean_)
        assert 1 not in model.predict(X)


def test_candidates_may_have_arguments_of_their_own():
    candidates = {
        "weighted": Candidate(LogisticRegression(), fit_params={"sample_weight": WEIGHTS}),
        "plain": Candidate(LogisticRegression()),
    }
    train = training(candidates)
    for name, classes in (("plain", {0, 1}), ("weighted", {0})):
        metrics = train(Saved().pull({"algorithm": name, "config": {}}, 0, 10))
        assert (metrics["reward"] < 0.7) == (len(classes) == 1)
        assert set(train.refit({"algorithm": name, "config": {}}, 10).predict(X)) == classes


def test_models_made_in_a_script_are_saved_so_that_a_worker_can_read_them(monkeypatch):
    class Mine(LogisticRegression):
        pass

    Mine.__module__, Mine.__qualname__ = "__main__", "Mine"
    with monkeypatch.context() as script:
        script.setattr(sys.modules["__main__"], "Mine", Mine, raising=False)
        made = Trained()
        made.models[0] = Mine(C=3)
        written = cloudpickle.dumps(made)
    state = pickle.loads(written)  # where __main__ is another
    assert isinstance(state, Trained) and state.models[0].C == 3
