"""Weights and other metadata reach those who ask for them, with and without scikit-learn's routing."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

import sklearn
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from manyarms.sklearn import BanditSearchCV

X, y = make_classification(120, 6, random_state=0)
ONLY_ZEROS = np.where(y == 1, 0.0, 1.0)  # weights that leave a single class
SPACE = {"C": loguniform(0.1, 10)}
QUICK = {"cv": 3, "max_steps": 2, "budget": 6, "random_state": 0}


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("estimator", [LogisticRegression(), RandomForestClassifier(n_estimators=4)], ids=["rows", "trees"])
def test_weights_reach_every_fit_and_the_scores(estimator):
    space = {"class_weight": [{0: 1, 1: 1}, {0: 1, 1: 2}]}
    search = BanditSearchCV(estimator, space, **QUICK).fit(X, y, sample_weight=ONLY_ZEROS + 1e-9)
    assert 1 not in search.predict(X)
    assert search.best_score_ > 0.99  # the rows that are wrong do not count
    assert BanditSearchCV(estimator, space, **QUICK).fit(X, y).best_score_ < 0.99


def test_the_scores_are_those_of_a_grid_search_with_weights():
    weights = np.random.default_rng(0).uniform(size=len(y))
    ours = BanditSearchCV(LogisticRegression(), {"C": [0.1, 10]}, resource=None, cv=3).fit(X, y, sample_weight=weights)
    theirs = GridSearchCV(LogisticRegression(), {"C": [0.1, 10]}, cv=3).fit(X, y, sample_weight=weights)
    assert sorted(ours.cv_results_["mean_test_score"]) == pytest.approx(sorted(theirs.cv_results_["mean_test_score"]))


def test_without_routing_a_step_of_a_pipeline_gets_what_has_its_name():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    search = BanditSearchCV(pipeline, {"logisticregression__C": [1.0]}, **QUICK)
    search.fit(X, y, logisticregression__sample_weight=ONLY_ZEROS + 1e-9)
    assert 1 not in search.predict(X)


@pytest.mark.usefixtures("routing")
def test_with_routing_only_those_get_weights_who_ask_for_them():
    def weighted_share(truth, said, sample_weight=None):
        return accuracy_score(truth, said, sample_weight=sample_weight)

    asking = LogisticRegression().set_fit_request(sample_weight=True)
    scorer = make_scorer(weighted_share).set_score_request(sample_weight=False)
    search = BanditSearchCV(asking, SPACE, scoring=scorer, **QUICK).fit(X, y, sample_weight=ONLY_ZEROS + 1e-9)
    assert 1 not in search.predict(X) and search.best_score_ == pytest.approx(0.5, abs=0.05)
    scorer = make_scorer(weighted_share).set_score_request(sample_weight=True)
    not_asking = LogisticRegression().set_fit_request(sample_weight=False)
    search = BanditSearchCV(not_asking, SPACE, scoring=scorer, **QUICK).fit(X, y, sample_weight=ONLY_ZEROS + 1e-9)
    assert 1 in search.predict(X)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        BanditSearchCV(LogisticRegression(), SPACE, **QUICK).fit(X, y, sample_weight=ONLY_ZEROS)


@pytest.mark.usefixtures("routing")
def test_with_routing_groups_reach_the_splitter():
    search = BanditSearchCV(LogisticRegression(), SPACE, **{**QUICK, "cv": GroupKFold(4)})
    assert search.fit(X, y, groups=np.arange(len(y)) % 4).n_splits_ == 4


@pytest.mark.usefixtures("routing")
def test_with_routing_each_of_several_estimators_gets_what_it_asks_for():
    asking = LogisticRegression().set_fit_request(sample_weight=True)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    pipeline = make_pipeline(scaler, clone(asking).set_fit_request(sample_weight="weights"))
    scorer = make_scorer(accuracy_score).set_score_request(sample_weight=False)
    models = {"asking": (asking, SPACE), "other": (pipeline, {"logisticregression__C": [1.0, 2.0]})}
    search = BanditSearchCV(models, scoring=scorer, **{**QUICK, "budget": 12})
    search.fit(X, y, sample_weight=np.ones(len(y)), weights=ONLY_ZEROS + 1e-9)
    names, scores = search.cv_results_["param_algorithm"], search.cv_results_["mean_test_score"]
    assert (scores[names == "asking"] > 0.7).all() and (scores[names == "other"] < 0.6).all()
