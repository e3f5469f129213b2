"""The model that there always is: it gives every row the same prediction."""

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
"""The name of its family."""

NO_ARM = -1
"""The number of its arm: it is none of the study's."""


def constant_member(target: Target, weights: Any = None) -> Member:
    """An ensemble of one model that predicts the shares of the classes, or the mean, whatever the row.

    Args:
        target: What to predict.
        weights: Sample weights, or None.
    """
    model = DummyClassifier(strategy="prior") if target.n_classes else DummyRegressor()
    model.fit(np.zeros((len(target.values), 1)), target.values, sample_weight=weights)
    return Member(1.0, CONSTANT, NO_ARM, [Pipeline([("prepare", _Nothing()), ("model", model)])])


class _Nothing(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows of which nothing is used but how many there are."""

    def fit(self, X: Any, y: Any = None) -> _Nothing:
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        return np.zeros((len(X), 1))

    def __sklearn_is_fitted__(self) -> bool:
        return True
