"""A constant model, which is always available. It predicts the same for every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline

from .ensemble import Array, Member
from .scoring import score_of
from .targets import Target

CONSTANT = "constant"
"""Name of its family."""

NO_ARM = -1
"""Arm id of models that are not arms of the study."""


def constant_member(target: Target, weights: Any = None) -> Member:
    """An ensemble of one model that predicts the class frequencies or the mean.

    Args:
        target: What to predict.
        weights: Sample weights, or None.
    """
    model = DummyClassifier(strategy="prior") if target.n_classes else DummyRegressor()
    model.fit(np.zeros((len(target.values), 1)), target.values, sample_weight=weights)
    return Member(1.0, CONSTANT, NO_ARM, [Pipeline([("prepare", _NoColumns()), ("model", model)])])


@dataclass(frozen=True, slots=True)
class Baseline:
    """The scores of constant predictions for the validation rows.

    Args:
        score: The score of the predictions for all validation rows together.
        fold_scores: The score of each fold.
    """

    score: float
    fold_scores: list[float]


def constant_baseline(target: Target, folds: Sequence[tuple[Any, Any]], weights: Any, scorer: Any) -> Baseline:
    """The cross-validated score of constant predictions. Errors of the scorer are passed on.

    Args:
        target: What to predict.
        folds: The training rows and the validation rows of each fold.
        weights: Sample weights, or None.
        scorer: The scorer of the search.
    """
    outputs = [_constant_predictions(target, train, len(test), weights) for train, test in folds]
    tests = [np.asarray(test) for _, test in folds]
    fold_scores = [score_of(output, scorer, target, test) for output, test in zip(outputs, tests, strict=True)]
    if len(folds) == 1:
        return Baseline(fold_scores[0], fold_scores)
    return Baseline(score_of(np.concatenate(outputs), scorer, target, np.concatenate(tests)), fold_scores)


def _constant_predictions(target: Target, train: Any, n: int, weights: Any) -> Array:
    """The class frequencies or the mean of the training rows, for each of n rows."""
    values = target.values[train]
    weights = None if weights is None else np.asarray(weights, dtype=float)[train]
    if not target.n_classes:
        return np.full(n, np.average(values, weights=weights))
    counts = np.bincount(values, weights=weights, minlength=target.n_classes)
    return np.broadcast_to(counts / counts.sum(), (n, target.n_classes))


class _NoColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Ignores all columns; only the number of rows matters."""

    def fit(self, X: Any, y: Any = None) -> _NoColumns:
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        return np.zeros((X.shape[0], 1))

    def __sklearn_is_fitted__(self) -> bool:
        return True
