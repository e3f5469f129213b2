"""A stored search goes on where it was: after kill -9, after Ctrl-C, and with a larger budget; but not on other data."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.svm import SVC

import manyarms as ma
from manyarms.sklearn import BanditSearchCV

X, y = make_classification(120, 6, random_state=0)


class Mortal(GradientBoostingClassifier):
    """Kills its process when it is fitted once more than it may be."""

    lives = float("inf")

    def fit(self, X, y, sample_weight=None):
        Mortal.lives -= 1
        if Mortal.lives < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y, sample_weight)


def search(storage, **changed):
    trees = Mortal(n_estimators=8, random_state=0)
    options = {"cv": 2, "max_steps": 4, "budget": 32, "random_state": 0, "storage": storage, **changed}
    return BanditSearchCV(trees, {"learning_rate": loguniform(0.01, 1)}, **options)


def told(found):
    return found.cv_results_["params"], found.cv_results_["mean_test_score"].tolist(), found.predict_proba(X).tolist()


def pulls_until_killed(storage, fits):
    """How many pulls are written once a process that searches was killed, in the fit after so many."""
    child = os.fork()
    if child == 0:
        Mortal.lives = fits
        search(storage).fit(X, y)
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    with ma.load_study(storage, "search") as study:
        return study.counts.pulls


def test_killed_and_fitted_again_it_ends_as_if_it_had_never_been(tmp_path):
    whole = search(None).fit(X, y)
    broken = f"sqlite:///{tmp_path}/broken.db"
    assert [pulls_until_killed(broken, fits) for fits in (7, 12)] == [3, 9]  # a fit for each of two folds
    assert told(search(broken).fit(X, y)) == told(whole)


def test_a_larger_budget_continues_the_search(tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    first = search(storage, budget=16).fit(X, y)
    second = search(storage, budget=32).fit(X, y)
    assert second.study_.counts.steps > first.study_.counts.steps
    common = len(first.cv_results_["params"])
    rates = [found.cv_results_["param_learning_rate"][:common].tolist() for found in (first, second)]
    assert rates[0] == rates[1]
    again = search(storage, budget=32).fit(X, y)  # nothing is left to do
    assert told(again) == told(second)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"cv": 3}, "folds"),
        ({"scoring": "roc_auc"}, "scoring"),
        ({"estimator": Mortal(n_estimators=8, random_state=1)}, "estimator"),
        ({"resource": "n_samples"}, "stop_turned"),
        ({"space": {"learning_rate": loguniform(0.01, 2)}}, "space"),
        ({"random_state": 1}, "seed"),
        ({"max_steps": 5}, "max_steps"),
    ],
)
def test_other_arguments_are_refused(tmp_path, changed, what):
    storage = f"sqlite:///{tmp_path}/search.db"
    search(storage, budget=4).fit(X, y)
    with pytest.raises(ma.StudyMismatch, match=what):
        search(storage, budget=8).set_params(**changed).fit(X, y)


def test_other_data_is_refused_and_the_same_is_not(tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    search(storage, budget=4).fit(X, y)
    for other in ((X + 1e-9, y), (X, 1 - y)):
        with pytest.raises(ma.StudyMismatch, match=r"different settings \(data\)"):
            search(storage, budget=8).fit(*other)
    with pytest.raises(ma.StudyMismatch, match=r"different settings \(data\)"):
        search(storage, budget=8).fit(X, y, sample_weight=np.ones(len(y)))
    search(storage, budget=8).fit(X.copy(), y.copy())
    search(storage, budget=8, name="another").fit(X + 1e-9, y)


def test_the_study_can_be_looked_at_from_outside(tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    found = search(storage, budget=8).fit(X, y)
    with ma.load_study(storage, "search") as study:
        assert study.pulls_dataframe().equals(found.study_.pulls_dataframe())


def test_ctrl_c_ends_the_search_and_gives_what_was_found():
    scores = []

    def interrupting(model, X, y):
        scores.append(model.score(X, y))
        if len(scores) == 10:
            os.kill(os.getpid(), signal.SIGINT)
        return scores[-1]

    space = {"C": loguniform(0.1, 10)}
    found = BanditSearchCV(SVC(), space, budget=10**6, cv=2, scoring=interrupting, random_state=0).fit(X, y)
    assert found.study_.counts.steps == 5  # of two folds each
    assert found.predict(X).shape == y.shape


@pytest.mark.parametrize(
    ("name", "value"), [("pull_timeout", "soon"), ("pull_timeout", 0), ("pull_timeout", "remaining"), ("n_jobs", 0)]
)
def test_a_wrong_argument_of_how_to_run_leaves_no_study_behind(tmp_path, name, value):
    with pytest.raises(ValueError, match=name):
        search(f"{tmp_path}/study.db", **{name: value}).fit(X, y)
    assert not list(tmp_path.iterdir())
