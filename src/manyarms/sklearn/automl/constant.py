"""A constant model, which is always available: it gives every row the same prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline

from .ensemble import Member
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


class _NoColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Ignores all columns; only the number of rows matters."""

    def fit(self, X: Any, y: Any = None) -> _NoColumns:
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        return np.zeros((len(X), 1))

    def __sklearn_is_fitted__(self) -> bool:
        return True
