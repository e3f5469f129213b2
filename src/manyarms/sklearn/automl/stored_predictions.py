"""Fitted estimators that return stored predictions, so that a scorer can score them without predicting again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

Array = NDArray[np.float64]


class _Fitted:
    """Scorers require a fitted estimator."""

    def __sklearn_is_fitted__(self) -> bool:
        return True


class StoredProbabilities(_Fitted, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that returns stored probabilities and ignores the rows it is given.

    Args:
        probabilities: A row for each row of the table, a column for each class.
        classes: The classes, in the order of the columns.
    """

    def __init__(self, probabilities: Array, classes: Any) -> None:
        self.probabilities, self.classes, self.classes_ = probabilities, classes, classes

    def predict_proba(self, X: Any) -> Array:
        return self.probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.classes_[self.probabilities.argmax(axis=1)])


class StoredNumbers(_Fitted, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor that returns stored predictions and ignores the rows it is given."""

    def __init__(self, predictions: Array) -> None:
        self.predictions = predictions

    def predict(self, X: Any) -> Array:
        return self.predictions


class LabelsOnly(_Fitted, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier without probabilities, which always predicts the first class."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes, self.classes_ = n_classes, np.arange(n_classes)

    def decision_function(self, X: Any) -> Array:
        return np.zeros(len(X) if self.n_classes == 2 else (len(X), self.n_classes))

    def predict(self, X: Any) -> NDArray[np.int64]:
        return np.zeros(len(X), dtype=np.int64)
