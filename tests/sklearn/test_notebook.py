"""Estimators in notebooks: the diagram of scikit-learn and, once fitted, what the search found."""

from __future__ import annotations

import re
import warnings

import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

from manyarms.sklearn import AutoClassifier, BanditSearchCV

X, Y = load_iris(return_X_y=True)


def text(html):
    return " ".join(re.sub("<[^>]*>", " ", html).split())


def added(model):
    """What follows the diagram of scikit-learn."""
    html = model._repr_mimebundle_()["text/html"]
    assert html.startswith("<style>") and "sk-container-id" in html
    assert model._repr_html_().count("<style>") == html.count("<style>") == 1
    return text(html.rpartition("</script>")[2].partition("</body>")[2])


@pytest.fixture(scope="module")
def search():
    return BanditSearchCV(LogisticRegression(max_iter=50), {"C": [0.1, 10.0]}, budget=20, cv=3, random_state=0).fit(X, Y)


def test_an_estimator_that_is_not_fitted_is_the_diagram_alone(search):
    for model in (clone(search), AutoClassifier()):
        assert added(model) == ""


def test_a_fitted_search_adds_its_best_score_and_parameters(search):
    shown = added(search)
    assert re.fullmatch(
        rf"Search · \d+ of 20 steps · 2 arms best score {search.best_score_:.6g} \(mean of 3 folds\) "
        r"best arm arm \d, \d+ steps? Best parameters C (0\.1|10).*",
        shown,
    )


def test_a_search_in_a_pipeline_is_part_of_its_diagram(search):
    assert "BanditSearchCV" in estimator_html_repr(make_pipeline(search))


def test_without_diagrams_there_is_no_html(search):
    with config_context(display="text"):
        assert not hasattr(search, "_repr_html_") and "text/html" not in search._repr_mimebundle_()


def test_a_search_that_chose_none_and_one_with_failures_say_so():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        several = BanditSearchCV(
            LogisticRegression(),
            {"C": [0.1, -1.0]},
            budget=20,
            cv=3,
            refit=False,
            scoring=["accuracy", "f1_macro"],
            random_state=0,
        ).fit(X, Y)
    shown = added(several)
    assert "none was chosen, because refit=False" in shown
    assert "failed pull" in shown and "most often: InvalidParameterError" in shown


def test_the_summary_never_keeps_an_estimator_from_being_shown(search):
    broken = BanditSearchCV(LogisticRegression(), {"C": [0.1]})
    broken.cv_results_ = None
    assert added(broken) == ""


def test_a_fitted_automatic_model_adds_its_scores_and_the_models_it_uses():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AutoClassifier(budget=8, families=["linear", "naive_bayes"], random_state=0).fit(X, Y)
    shown = added(model)
    assert re.match(r"Search · \d+ models · \d+ pulls score of \d+ models? together 0\.9\d* constant baseline 0\.3", shown)
    first = shown.partition("rank family score std steps weight ")[2].split()
    assert first[1] in ("linear", "naive_bayes") and float(first[5]) == pytest.approx(
        model.leaderboard_["weight"].max(), rel=1e-5
    )
