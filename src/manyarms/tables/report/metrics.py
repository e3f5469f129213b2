"""The scores of predictions for held-out rows, next to those of a constant prediction."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import metrics

_CONFIDENCE = 1.96  # standard deviations around a share, for 95%
_MEANINGS = {
    "accuracy": "share of correct predictions",
    "balanced accuracy": "recall, averaged over the classes",
    "precision": "share of correct predictions{}",
    "recall": "share of correctly predicted rows{}",
    "F1": "harmonic mean of precision and recall{}",
    "ROC AUC": "chance that a row{} gets a higher probability than another row",
    "average precision": "area under the precision-recall curve{}",
    "log loss": "how well the probabilities fit; smaller is better",
    "Brier score": "squared error of the probabilities; smaller is better",
}
"""What each score means; {} is replaced by the class."""

_IMBALANCED = 0.8  # accuracy is misleading if the largest class has at least this share

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Metric:
    """A score of the model and of a constant prediction.

    Args:
        name: Its name.
        model: The score of the model.
        baseline: The score of a constant prediction.
        meaning: What it measures, and which direction is better.
    """

    name: str
    model: float
    baseline: float
    meaning: str


@dataclass(frozen=True, slots=True)
class ClassPredictions:
    """Predicted probabilities for held-out rows.

    Args:
        actual: The position of the actual class of each row.
        probabilities: Predicted probabilities, one row for each row and one column for each class.
        frequencies: Share of each class in the training rows: the constant prediction.
        classes: Names of the classes.
    """

    actual: NDArray[np.int64]
    probabilities: Floats
    frequencies: Floats
    classes: Sequence[str]

    @classmethod
    def of(cls, actual: Any, probabilities: Floats, frequencies: Floats, classes: Sequence[Any]) -> ClassPredictions:
        """From labels. Rows whose label is not among the classes are left out."""
        places = pd.Series(list(actual)).map({label: place for place, label in enumerate(classes)})
        known = places.notna().to_numpy()
        return cls(places[known].to_numpy(dtype=np.int64), probabilities[known], frequencies, [str(name) for name in classes])

    @property
    def predicted(self) -> NDArray[np.int64]:
        """The position of the most probable class of each row."""
        return np.asarray(self.probabilities.argmax(axis=1))

    @property
    def positive(self) -> int:
        """For two classes, the positive class of the curves and thresholds."""
        return positive_class(self.classes, self.frequencies)


def positive_class(classes: Sequence[str], frequencies: Floats) -> int:
    """The position of the positive class of two: the one that means yes, or else the rarer one.

    >>> positive_class(["no", "yes"], np.array([0.2, 0.8])), positive_class(["bad", "good"], np.array([0.3, 0.7]))
    (1, 0)
    """
    usual = ({"0", "1"}, {"false", "true"}, {"no", "yes"}, {"n", "y"}, {"f", "t"}, {"-1", "1"}, {"0.0", "1.0"})
    if {name.strip().casefold() for name in classes} in usual:
        return 1
    return int(np.argmin(frequencies))


def class_metrics(rows: ClassPredictions) -> list[Metric]:
    """The scores of a classification, without those that are undefined for these rows."""
    constant = ClassPredictions(
        rows.actual, np.broadcast_to(rows.frequencies, rows.probabilities.shape), rows.frequencies, rows.classes
    )
    with warnings.catch_warnings(action="ignore"):  # for example, about a missing class
        model, baseline = _class_scores(rows), _class_scores(constant)
    of_class = f" of {rows.classes[rows.positive]!r}" if len(rows.classes) == 2 else ", averaged over the classes"
    return [
        Metric(name, model[name], baseline[name], meaning.format(of_class))
        for name, meaning in _MEANINGS.items()
        if name in model and np.isfinite(model[name])
    ]


def _class_scores(rows: ClassPredictions) -> dict[str, float]:
    actual, predicted = rows.actual, rows.predicted
    two = len(rows.classes) == 2
    options: dict[str, Any] = {"average": "binary", "pos_label": rows.positive} if two else {"average": "macro"}
    scores = {
        "accuracy": np.mean(predicted == actual),
        "balanced accuracy": _balanced(actual, predicted),
        "precision": metrics.precision_score(actual, predicted, zero_division=0, **options),
        "recall": metrics.recall_score(actual, predicted, zero_division=0, **options),
        "F1": metrics.f1_score(actual, predicted, zero_division=0, **options),
        "log loss": _log_loss(actual, rows.probabilities),
        "Brier score": _brier(actual, rows.probabilities),
    }
    truth = actual == rows.positive
    if two and 0 < truth.sum() < len(truth):
        scores["ROC AUC"] = metrics.roc_auc_score(truth, rows.probabilities[:, rows.positive])
        scores["average precision"] = metrics.average_precision_score(truth, rows.probabilities[:, rows.positive])
    return {name: float(score) for name, score in scores.items()}


def _balanced(actual: NDArray[np.int64], predicted: NDArray[np.int64]) -> float:
    return float(np.mean([np.mean(predicted[actual == place] == place) for place in np.unique(actual)]))


def _log_loss(actual: NDArray[np.int64], probabilities: Floats) -> float:
    """The same as in scikit-learn, whose function takes seconds for a thousand classes."""
    likely = probabilities[np.arange(len(actual)), actual]
    return -float(np.log(np.clip(likely, np.finfo(float).eps, 1.0)).mean())


def _brier(actual: NDArray[np.int64], probabilities: Floats) -> float:
    """The squared distance to the actual class, halved, so that two classes give the usual Brier score."""
    likely = probabilities[np.arange(len(actual)), actual]
    return float(np.mean(np.einsum("ij,ij->i", probabilities, probabilities) - likely**2 + (1.0 - likely) ** 2) / 2.0)


def number_metrics(actual: Floats, predicted: Floats, mean: float) -> list[Metric]:
    """The scores of a regression, and those of predicting the mean of the training rows."""
    constant = np.full(len(actual), mean)

    def both(name: str, score: Callable[[Any], float], meaning: str) -> Metric:
        return Metric(name, float(score(predicted)), float(score(constant)), meaning)

    found = [
        both("R²", lambda p: _r2(actual, p), "share of the variance that is explained; 1 is perfect"),
        both("MAE", lambda p: float(np.abs(p - actual).mean()), "average absolute error, in units of the target"),
        both("RMSE", lambda p: float(np.sqrt(np.mean((p - actual) ** 2))), "like MAE, but large errors count more"),
        both("median error", lambda p: float(np.median(np.abs(p - actual))), "half of the absolute errors are smaller"),
        both("bias", lambda p: float(np.mean(p - actual)), "average of predicted minus actual; 0 is best"),
    ]
    return [metric for metric in found if np.isfinite(metric.model)]


def _r2(actual: Floats, predicted: Floats) -> float:
    spread = float(np.sum((actual - actual.mean()) ** 2))
    return float("nan") if spread == 0 else 1.0 - float(np.sum((actual - predicted) ** 2)) / spread


def share_interval(share: float, n: int) -> tuple[float, float]:
    """The 95% interval of a share that was measured on n rows (Wilson, 1927).

    >>> [round(end, 2) for end in share_interval(0.9, 20)]
    [0.7, 0.97]
    """
    z2 = _CONFIDENCE**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _CONFIDENCE * np.sqrt(share * (1 - share) / n + z2 / (4 * n**2)) / (1 + z2 / n)
    return float(max(0.0, middle - half)), float(min(1.0, middle + half))


def accuracy_hint(classes: Sequence[str], frequencies: Floats, scoring: str) -> str | None:
    """A hint if nearly all rows have the same class, which makes accuracy misleading; None otherwise.

    >>> accuracy_hint(["no", "yes"], np.array([0.97, 0.03]), "roc_auc") is None
    True
    """
    largest = int(np.argmax(frequencies))
    if scoring != "accuracy" or frequencies[largest] < _IMBALANCED:
        return None
    share = f"{frequencies[largest]:.0%}" if frequencies[largest] < 0.995 else f"{frequencies[largest]:.1%}"
    others = "balanced_accuracy or roc_auc" if len(classes) == 2 else "balanced_accuracy or f1_macro"
    return (
        f"Accuracy is misleading here: {share} of the rows are {classes[largest]!r}, so always predicting {classes[largest]!r} "
        f"is right {share} of the time. Judge the model by balanced accuracy, recall and precision, and set the scoring of the "
        f"search to {others}."
    )


def per_class(rows: ClassPredictions, most: int) -> pd.DataFrame:
    """Precision, recall, F1 and the number of rows of the most frequent classes, in the order of the classes."""
    n = len(rows.classes)
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        rows.actual, rows.predicted, labels=list(range(n)), zero_division=0
    )
    frequent = np.sort(np.argsort(-support, kind="stable")[:most])
    table = {"class": [rows.classes[place] for place in frequent]}
    columns = {"precision": precision, "recall": recall, "F1": f1, "rows": support}
    return pd.DataFrame(table | {name: values[frequent] for name, values in columns.items()})
