"""Scorers, and the scores of predictions."""

import numpy as np
import pytest
from sklearn.metrics import get_scorer, log_loss, roc_auc_score

from manyarms.sklearn.automl.scoring import baseline_of, needs_probabilities, score_of, scorer_of
from manyarms.sklearn.automl.targets import class_target, number_target

CLASSES = class_target(["a", "b", "b", "c", "a", "b"])
NUMBERS = number_target([1.0, 2.0, 3.0, 5.0])


def test_the_default_scoring_is_accuracy_or_r2():
    assert baseline_of(scorer_of(None, CLASSES), CLASSES) == 0.5
    assert baseline_of(scorer_of(None, NUMBERS), NUMBERS) == 0.0


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


def test_a_scorer_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="scoring must be the name of a scorer, such as r2.*, got 'accurate'"):
        scorer_of("accurate", NUMBERS)
    with pytest.raises(ValueError, match="scoring cannot be applied to this target"):
        baseline_of(get_scorer("roc_auc"), CLASSES)
