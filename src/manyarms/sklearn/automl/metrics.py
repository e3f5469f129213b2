"""What models are judged by: scorers by name, and scores of what was said already."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names

from ...tables.metrics import DEFAULT, EXAMPLES, constant_score
from .targets import Target

Array = NDArray[np.float64]


def scorer_of(metric: Any, target: Target) -> Any:
    """The scorer of this name, or the usual one; one itself stays."""
    if isinstance(metric, str) and metric not in get_scorer_names():
        raise ValueError(f"metric must be the name of a scorer, such as {EXAMPLES[target.task]}, got {metric!r}")
    return get_scorer(DEFAULT[target.task] if metric is None else metric)


def baseline_of(scorer: Any, target: Target) -> float:
    """The score of a model that always says the same; tells early whether the metric suits the target."""
    try:
        return constant_score(scorer, target.task, target.values)
    except Exception as error:
        raise ValueError(f"metric cannot score this target: {' '.join(str(error).split())}") from None


def needs_probabilities(scorer: Any, target: Target) -> bool:
    """Whether a classifier that only decides cannot be scored."""
    try:
        scorer(_Decides(target.n_classes), np.zeros((len(target.values), 1)), target.values)
    except Exception:
        return True
    return False


def score_of(said: Array, scorer: Any, target: Target, rows: NDArray[np.int64]) -> float:
    """The score of what was said of these rows: probabilities of classes, or numbers."""
    repeats = _RepeatsProbabilities(said.shape[1]) if target.n_classes else _RepeatsNumbers()
    return float(scorer(repeats, said, target.values[rows]))


class _Fitted:
    """Scorers ask for it."""

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _Decides(_Fitted, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier without probabilities."""

    def __init__(self, classes: int) -> None:
        self.classes, self.classes_ = classes, np.arange(classes)

    def decision_function(self, X: Array) -> Array:
        return np.zeros(len(X) if self.classes == 2 else (len(X), self.classes))

    def predict(self, X: Array) -> NDArray[np.int64]:
        return np.zeros(len(X), dtype=np.int64)


class _RepeatsProbabilities(_Fitted, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that says what it is given as rows."""

    def __init__(self, classes: int) -> None:
        self.classes, self.classes_ = classes, np.arange(classes)

    def predict_proba(self, X: Array) -> Array:
        return np.asarray(X / X.sum(axis=1, keepdims=True))

    def predict(self, X: Array) -> NDArray[np.int64]:
        return np.asarray(X.argmax(axis=1))


class _RepeatsNumbers(_Fitted, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """The same for numbers."""

    def predict(self, X: Array) -> Array:
        return X
