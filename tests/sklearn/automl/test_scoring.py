"""What models are judged by."""

import numpy as np
import pytest
from sklearn.metrics import get_scorer, log_loss, roc_auc_score

from manyarms.sklearn.automl.metrics import baseline_of, needs_probabilities, score_of, scorer_of
from manyarms.sklearn.automl.targets import class_target, number_target

CLASSES = class_target(["a", "b", "b", "c", "a", "b"])
NUMBERS = number_target([1.0, 2.0, 3.0, 5.0])


def test_the_usual_metric_is_accuracy_or_the_share_of_variance():
    assert baseline_of(scorer_of(None, CLASSES), CLASSES) == 0.5
    assert baseline_of(scorer_of(None, NUMBERS), NUMBERS) == 0.0


@pytest.mark.parametrize(
    ("metric", "needs"), [("accuracy", False), ("f1_macro", False), ("neg_log_loss", True), ("roc_auc_ovr", True)]
)
def test_some_metrics_need_probabilities(metric, needs):
    assert needs_probabilities(get_scorer(metric), CLASSES) == needs


def test_what_was_said_is_scored_as_a_model_would_be():
    said = np.random.default_rng(0).dirichlet(np.ones(3), size=6)
    rows = np.array([5, 4, 3, 2, 1, 0])
    truth = CLASSES.values[rows]
    assert score_of(said, get_scorer("accuracy"), CLASSES, rows) == (said.argmax(axis=1) == truth).mean()
    assert score_of(said, get_scorer("neg_log_loss"), CLASSES, rows) == pytest.approx(-log_loss(truth, said))
    assert score_of(said, get_scorer("roc_auc_ovr"), CLASSES, rows) == pytest.approx(
        roc_auc_score(truth, said, multi_class="ovr")
    )
    assert score_of(np.array([1.0, 2, 3, 6]), get_scorer("neg_mean_absolute_error"), NUMBERS, np.arange(4)) == -0.25


def test_a_metric_that_does_not_suit_is_said():
    with pytest.raises(ValueError, match="metric must be the name of a scorer, such as r2.*, got 'accurate'"):
        scorer_of("accurate", NUMBERS)
    with pytest.raises(ValueError, match="metric cannot score this target"):
        baseline_of(get_scorer("roc_auc"), CLASSES)
