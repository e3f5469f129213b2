"""Scorers of scikit-learn by name: whether one exists and fits a target, and the scores of models and predictions."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import accuracy_score, get_scorer, get_scorer_names

from ... import checks
from .stored_predictions import Array, LabelsOnly, StoredNumbers, StoredProbabilities
from .targets import Target
from .task import CLASSIFICATION, REGRESSION
from .wording import one_line

DEFAULT_SCORING = {CLASSIFICATION: "accuracy", REGRESSION: "r2"}
EXAMPLES = {
    CLASSIFICATION: "accuracy, balanced_accuracy, f1_macro, neg_log_loss or roc_auc_ovr",
    REGRESSION: "r2, neg_root_mean_squared_error or neg_mean_absolute_error",
}
_ENOUGH_ROWS = 10_000  # to check whether a scorer fits a target
_OF_NUMBERS = re.compile(
    r"r2|explained_variance|(neg_)?max_error|neg_(mean|median|root_mean)_.*|d2_(absolute|pinball|tweedie).*"
)


def check_scoring(scoring: str) -> str:
    """The name of a scorer. Raises an error that suggests similar names if there is no such scorer."""
    if scoring in get_scorer_names():
        return scoring
    close = checks.closest(scoring, get_scorer_names())
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"such as {' or '.join(DEFAULT_SCORING.values())}"
    raise ValueError(f"scoring must be the name of a scikit-learn scorer, got {scoring!r}: {hint}")


def check_fits(scoring: str, task: str, target: pd.Series[Any]) -> None:
    """Raise an error if a scorer cannot score predictions of this target, before anything is trained."""
    if (_OF_NUMBERS.fullmatch(scoring) is not None) != (task == REGRESSION):
        raise ValueError(f"scoring must be a scorer for {task}, such as {EXAMPLES[task]}, got {scoring!r}")
    some = _some(target, task)
    values = some.factorize(sort=True)[0] if task == CLASSIFICATION and are_fractions(some) else some
    try:
        constant_score(lambda model, *test: score(model, scoring, *test), task, values)
    except ValueError as error:
        raise ValueError(
            f"scoring={scoring!r} does not fit the target {target.name!r} ({one_line(error)}). Try {EXAMPLES[task]}."
        ) from None


def _some(target: pd.Series[Any], task: str) -> pd.Series[Any]:
    """Enough rows to check a scorer: they include every class, or the smallest and largest number."""
    if len(target) <= _ENOUGH_ROWS:
        return target
    first = target.drop_duplicates() if task == CLASSIFICATION else target.sort_values().iloc[[0, -1]]
    return pd.concat([first, target.iloc[:_ENOUGH_ROWS]], ignore_index=True)


def scorer_of(scoring: Any, target: Target) -> Any:
    """The scorer with this name, the default one for the target, or the given scorer; for targets with class positions."""
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        raise ValueError(f"scoring must be the name of a scorer, such as {EXAMPLES[target.task]}, got {scoring!r}")
    scorer = get_scorer(DEFAULT_SCORING[target.task] if scoring is None else scoring)
    if target.classes is None or not _depends_on_labels(scorer, target.classes):
        return scorer
    of_labels = LabelScorer(scorer, target.classes)
    try:
        constant_score(of_labels, target.task, target.values)
    except Exception:  # for example, "f1" of text classes, which has no positive class: the last class is used
        return scorer
    return of_labels


def _depends_on_labels(scorer: Any, classes: NDArray[Any]) -> bool:
    """Whether a scorer may give another score if classes are replaced by their positions."""
    if np.array_equal(classes, np.arange(len(classes))):
        return False
    metric, options = getattr(scorer, "_score_func", None), getattr(scorer, "_kwargs", {})
    if metric is None or not str(metric.__module__).startswith("sklearn."):
        return True
    if any(options.get(name) is not None for name in ("labels", "pos_label")):
        return True
    return len(classes) == 2 and "pos_label" in inspect.signature(metric).parameters  # it is 1 by default


class LabelScorer:
    """A scorer for classes, called with a classifier and a target whose classes are replaced by their positions.

    Args:
        scorer: The scorer.
        classes: The classes.
    """

    def __init__(self, scorer: Any, classes: Any) -> None:
        self.scorer, self.classes = scorer, np.asarray(classes)
        if hasattr(scorer, "_accept_sample_weight"):  # made by scikit-learn: see `is_builtin`
            self._accept_sample_weight = scorer._accept_sample_weight

    def __call__(self, model: Any, rows: Any, places: Any) -> float:
        return float(self.scorer(_Labeled(model, self.classes), rows, self.classes[np.asarray(places, dtype=np.int64)]))


class _Labeled:
    """A fitted classifier with its classes, which are positions, replaced by the classes at these positions."""

    _estimator_type = "classifier"

    def __init__(self, model: Any, classes: Any) -> None:
        self._model, self._all = model, classes
        self.classes_ = classes[np.asarray(model.classes_, dtype=np.int64)]

    def predict(self, rows: Any) -> Any:
        return self._all[np.asarray(self._model.predict(rows), dtype=np.int64).ravel()]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def checked_constant_score(scorer: Any, target: Target) -> float:
    """The score of constant predictions for all rows; an error if the scorer does not fit the target."""
    try:
        return constant_score(scorer, target.task, target.values)
    except Exception as error:
        raise ValueError(f"scoring cannot be applied to this target: {one_line(error)}") from None


def constant_score(scorer: Callable[..., float], task: str, target: Any) -> float:
    """The score of a constant baseline. Errors of the scorer are passed on."""
    dummy = DummyClassifier(strategy="prior") if task == CLASSIFICATION else DummyRegressor()
    rows = np.zeros((len(target), 1))
    return float(scorer(dummy.fit(rows, target), rows, target))


def needs_probabilities(scorer: Any, target: Target) -> bool:
    """Whether the scorer fails for a classifier that only predicts labels."""
    try:
        scorer(LabelsOnly(target.n_classes), np.zeros((len(target.values), 1)), target.values)
    except Exception:
        return True
    return False


def score_of(predictions: Array, scorer: Any, target: Target, rows: NDArray[np.int64]) -> float:
    """The score of predictions for these rows. The predictions are class probabilities, or numbers for regression."""
    if target.n_classes and _is_plain(scorer, accuracy_score):
        return float(np.mean(predictions.argmax(axis=1) == target.values[rows]))  # like the scorer, without its slow checks
    model: Any = StoredNumbers(predictions)
    if target.n_classes:
        model = StoredProbabilities(predictions / predictions.sum(axis=1, keepdims=True), np.arange(predictions.shape[1]))
    return float(scorer(model, predictions, target.values[rows]))


def _is_plain(scorer: Any, metric: Callable[..., Any]) -> bool:
    """Whether a scorer is scikit-learn's for this metric of predicted labels, without any options."""
    same = getattr(scorer, "_score_func", None) is metric and getattr(scorer, "_response_method", None) == "predict"
    return same and scorer._sign == 1 and not scorer._kwargs


def score(model: Any, scoring: str, rows: Any, target: Any) -> float:
    """The score of a fitted model on these rows; larger is better."""
    if hasattr(model, "classes_") and are_fractions(model.classes_):
        model, target = _Numbered(model), _places(model.classes_, target)
    with warnings.catch_warnings(action="ignore"):  # for example, that a class was never predicted
        return float(get_scorer(scoring)(model, rows, target))


def are_fractions(classes: Any) -> bool:
    """Whether classes are numbers such as 0.5, which scorers would mistake for a regression."""
    values = np.asarray(classes)
    return values.dtype.kind == "f" and bool((values % 1 != 0).any())


def _places(classes: Any, labels: Any) -> Any:
    """The position of each label among the classes; -1 for unknown labels."""
    known = {label: place for place, label in enumerate(np.asarray(classes).tolist())}
    return np.array([known.get(label, -1) for label in np.asarray(labels).tolist()])


class _Numbered:
    """A fitted classifier with its classes replaced by their positions."""

    _estimator_type = "classifier"

    def __init__(self, model: Any) -> None:
        self._model, self.classes_ = model, np.arange(len(model.classes_))

    def predict(self, rows: Any) -> Any:
        return _places(self._model.classes_, self._model.predict(rows))

    def predict_proba(self, rows: Any) -> Any:
        return self._model.predict_proba(rows)

    def __sklearn_tags__(self) -> Any:
        return self._model.__sklearn_tags__()
