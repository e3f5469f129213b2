"""Scorers, and the scores of predictions."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import accuracy_score, f1_score, get_scorer, log_loss, make_scorer, recall_score, roc_auc_score

from manyarms.sklearn.automl.scoring import checked_constant_score, needs_probabilities, score_of, scorer_of
from manyarms.sklearn.automl.targets import class_target, number_target
from manyarms.sklearn.training.training import is_builtin

CLASSES = class_target(["a", "b", "b", "c", "a", "b"])
NUMBERS = number_target([1.0, 2.0, 3.0, 5.0])


def test_the_default_scoring_is_accuracy_or_r2():
    assert checked_constant_score(scorer_of(None, CLASSES), CLASSES) == 0.5
    assert checked_constant_score(scorer_of(None, NUMBERS), NUMBERS) == 0.0


@pytest.mark.parametrize(
    ("scoring", "needs"), [("accuracy", False), ("f1_macro", False), ("neg_log_loss", True), ("roc_auc_ovr", True)]
)
def test_some_scorers_need_probabilities(scoring, needs):
    assert needs_probabilities(get_scorer(scoring), CLASSES) == needs


def test_predictions_are_scored_like_a_model():
    predictions = np.random.default_rng(0).dirichlet(np.ones(3), size=6)
    rows = np.array([5, 4, 3, 2, 1, 0])
    truth = CLASSES.values[rows]
    assert score_of(predictions, get_scorer("accuracy"), CLASSES, rows) == (predictions.argmax(axis=1) == truth).mean()
    assert score_of(predictions, get_scorer("neg_log_loss"), CLASSES, rows) == pytest.approx(-log_loss(truth, predictions))
    assert score_of(predictions, get_scorer("roc_auc_ovr"), CLASSES, rows) == pytest.approx(
        roc_auc_score(truth, predictions, multi_class="ovr")
    )
    assert score_of(np.array([1.0, 2, 3, 6]), get_scorer("neg_mean_absolute_error"), NUMBERS, np.arange(4)) == -0.25


@pytest.mark.parametrize(
    ("scorer", "expected"),
    [
        (get_scorer("accuracy"), 0.5),
        (make_scorer(accuracy_score, normalize=False), 3.0),
        (make_scorer(accuracy_score, greater_is_better=False), -0.5),
    ],
    ids=["plain", "with an option", "negative"],
)
def test_options_of_an_accuracy_scorer_are_used(scorer, expected):
    predictions = np.eye(3)[[0, 1, 2, 2, 1, 2]]  # three of the six are right
    assert score_of(predictions, scorer, CLASSES, np.arange(6)) == expected


def recall_of_a(model, X, y):
    return recall_score(y, model.predict(X), pos_label="a")


@pytest.mark.parametrize(
    ("labels", "scoring", "expected"),
    [
        ([1, 2], "f1", 0.5),
        ([0, 1], "f1", 0.75),
        ([-1, 1], "recall", 1.0),
        ([False, True], "precision", 0.6),
        ([1, 2], "average_precision", 2 / 3),
        (["a", "b"], "f1", 0.75),
        (["a", "b"], make_scorer(f1_score, pos_label="a"), 0.5),
        (["a", "b"], make_scorer(f1_score, labels=["a"], pos_label=None, average="macro"), 0.5),
        (["a", "b"], recall_of_a, 1 / 3),
    ],
)
def test_the_positive_class_is_that_of_the_scorer(labels, scoring, expected):
    target = class_target(np.array(labels)[[0, 0, 1, 1, 1, 0]])
    predictions = np.eye(2)[[0, 1, 1, 1, 1, 1]]
    assert score_of(predictions, scorer_of(scoring, target), target, np.arange(6)) == pytest.approx(expected)


def test_a_scorer_of_labels_scores_models_without_probabilities_and_can_be_pickled():
    rows, places = np.arange(20.0).reshape(-1, 1), np.repeat([0, 1], [12, 8])
    target = class_target(places + 1)
    scorer = pickle.loads(pickle.dumps(scorer_of("average_precision", target)))
    model = RidgeClassifier().fit(rows, places)
    assert scorer(model, rows[::3], places[::3]) == get_scorer("average_precision")(
        RidgeClassifier().fit(rows, places + 1), rows[::3], places[::3] + 1
    )
    assert is_builtin(scorer) and not needs_probabilities(scorer, target)


def test_a_scorer_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="scoring must be the name of a scorer, such as r2.*, got 'accurate'"):
        scorer_of("accurate", NUMBERS)
    with pytest.raises(ValueError, match="scoring cannot be applied to this target"):
        checked_constant_score(get_scorer("roc_auc"), CLASSES)
