"""Scores, curves and thresholds of held-out rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    f1_score,
    log_loss,
    roc_auc_score,
)

from manyarms.tables.report.curves import calibration, ranking_curves, threshold_choices, threshold_curves
from manyarms.tables.report.metrics import ClassPredictions, class_metrics, number_metrics, per_class

RNG = np.random.default_rng(0)


def two(rows=400, share=0.3):
    truth = RNG.random(rows) < share
    chance = np.clip(0.3 * truth + RNG.uniform(0, 0.7, rows), 0, 1)
    labels = np.where(truth, "yes", "no")
    return ClassPredictions.of(labels, np.column_stack([1 - chance, chance]), np.array([0.7, 0.3]), ["no", "yes"])


def many(rows=600, classes=40):
    truth = RNG.integers(0, classes, rows)
    scores = RNG.random((rows, classes)) + 2 * np.eye(classes)[truth] * RNG.random((rows, 1))
    probabilities = scores / scores.sum(axis=1, keepdims=True)
    return ClassPredictions.of(truth, probabilities, np.full(classes, 1 / classes), list(range(classes)))


def test_scores_are_those_of_scikit_learn():
    rows = two()
    found = {metric.name: metric.model for metric in class_metrics(rows)}
    chance, predicted = rows.probabilities[:, 1], rows.predicted
    expected = {
        "balanced accuracy": balanced_accuracy_score(rows.actual, predicted),
        "F1": f1_score(rows.actual, predicted),
        "ROC AUC": roc_auc_score(rows.actual, chance),
        "average precision": average_precision_score(rows.actual, chance),
        "log loss": log_loss(rows.actual, rows.probabilities),
        "Brier score": brier_score_loss(rows.actual, chance),
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(value)


def test_the_baseline_predicts_class_frequencies():
    baseline = {metric.name: metric.baseline for metric in class_metrics(two())}
    assert baseline["balanced accuracy"] == 0.5 and baseline["ROC AUC"] == 0.5 and baseline["recall"] == 0


def test_many_classes_have_averaged_scores_and_a_few_curves():
    rows = many()
    names = [metric.name for metric in class_metrics(rows)]
    assert "F1" in names and "ROC AUC" not in names
    assert len(per_class(rows, 30)) == 30 and per_class(rows, 30)["rows"].min() >= 1
    roc, precision_recall = ranking_curves(rows)
    assert len(roc.panels[0].layers) == 6 and len(precision_recall.panels[0].layers) == 6


def test_labels_that_are_not_classes_are_left_out():
    rows = ClassPredictions.of(["a", "new", "b"], np.eye(3)[:, :2], np.array([0.5, 0.5]), ["a", "b"])
    assert rows.actual.tolist() == [0, 1] and len(rows.probabilities) == 2


def test_probabilities_that_come_true_are_calibrated():
    chance = RNG.random(20_000)
    labels = np.where(RNG.random(20_000) < chance, "yes", "no")
    rows = ClassPredictions.of(labels, np.column_stack([1 - chance, chance]), np.array([0.5, 0.5]), ["no", "yes"])
    assert calibration(rows).error < 0.02
    wrong = ClassPredictions.of(labels, np.column_stack([chance, 1 - chance]), np.array([0.5, 0.5]), ["no", "yes"])
    assert calibration(wrong).error > 0.4


def test_thresholds_reach_what_they_are_for():
    curves = threshold_curves(two())
    choices = threshold_choices(curves).set_index("goal")
    assert choices.loc["the default", "threshold"] == 0.5
    assert choices.loc["recall of at least 90%", "recall"] >= 0.9
    assert choices.loc["best F1", "F1"] == curves["F1"].max()
    assert (curves["recall"].diff().dropna() >= 0).all() and curves["recall"].iloc[-1] == 1


def test_a_threshold_that_no_row_reaches_is_left_out():
    rows = ClassPredictions.of(
        ["a", "b", "a"], np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]]), np.array([0.6, 0.4]), ["a", "b"]
    )
    goals = list(threshold_choices(threshold_curves(rows))["goal"])
    assert "the default" not in goals and "precision of at least 90%" not in goals


def test_numbers_are_scored_next_to_the_mean():
    actual = np.array([1.0, 2.0, 3.0, 10.0])
    found = {metric.name: metric for metric in number_metrics(actual, actual + 1.0, 4.0)}
    assert found["MAE"].model == 1 and found["RMSE"].model == 1 and found["bias"].model == 1
    assert found["R²"].model == pytest.approx(0.92) and found["R²"].baseline == 0 and found["MAE"].baseline == 3
    assert "R²" not in {metric.name for metric in number_metrics(np.ones(3), np.ones(3), 1.0)}
