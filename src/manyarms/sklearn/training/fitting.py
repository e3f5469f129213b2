"""Fit an estimator completely, or as far as the time allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from .time_limit import Deadline, first_rows, next_rows

_FEW_OF_A_CLASS, _MOST_OF_ALL = 5, 5_000  # rows per class, and in total, of the first fit of a classifier


def fit(model: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
    """Fit a model to all rows."""
    if y is None:
        model.fit(X, **fit_params)
    else:
        model.fit(X, y, **fit_params)


def fit_rows(model: Any, X: Any, y: Any, fit_params: Mapping[str, Any], rows: NDArray[np.int64]) -> None:
    """Fit a model to some of the rows."""
    params = _check_method_params(X, fit_params, indices=rows)
    fit(model, _safe_indexing(X, rows), None if y is None else _safe_indexing(y, rows), params)


def fit_until(model: Any, X: Any, y: Any, fit_params: Mapping[str, Any], deadline: Deadline, seed: int) -> None:
    """Fit a model to a few rows, then to more and finally to all rows, as long as there is time.

    Args:
        model: An estimator, fitted in place.
        X, y, fit_params: As for `fit`.
        deadline: When to stop. The first fit is always made.
        seed: Random seed for the order in which rows are added.
    """
    n = count_rows(X)
    some = first_rows(n, X.shape[1] if getattr(X, "ndim", 1) == 2 else 1)
    if not deadline.is_limited or some == n:
        return fit(model, X, y, fit_params)
    order, classes = row_order(y if is_classifier(model) else None, n, seed)
    rows, measured = min(n, max(some, min(_FEW_OF_A_CLASS * classes, _MOST_OF_ALL))), list[tuple[int, float]]()
    while rows:
        began = deadline.clock()
        if rows == n:
            fit(model, X, y, fit_params)
        else:
            fit_rows(model, X, y, fit_params, order[:rows])
        measured.append((rows, deadline.clock() - began))
        rows = next_rows(measured, n, deadline.left())


def row_order(labels: Any, n: int, seed: int) -> tuple[NDArray[np.int64], int]:
    """A random order of the rows, and the number of classes: 0 without labels, or with several labels per row.

    With labels, any number of first rows is stratified and each class occurs early.

    >>> order, classes = row_order(["a", "a", "a", "b"], 4, seed=0)
    >>> 3 in order[:2], classes
    (True, 2)
    """
    rng = np.random.default_rng(seed)
    if labels is None or np.ndim(labels) != 1:
        return rng.permutation(n), 0
    names, kinds, sizes = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
    shuffled = rng.permutation(n)
    by_class = shuffled[np.argsort(kinds[shuffled], kind="stable")]
    places = np.empty(n)
    places[by_class] = (np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)) / np.repeat(sizes, sizes)
    return np.lexsort((rng.random(n), places)), len(names)


def fit_boosting_until(model: Any, X: Any, y: Any, fit_params: Mapping[str, Any], deadline: Deadline) -> None:
    """Fit a LightGBM or XGBoost model, and stop after the round in which the deadline passes."""
    if not deadline.is_limited:
        return fit(model, X, y, fit_params)
    if hasattr(model, "get_booster"):
        model.set_params(callbacks=[_xgboost_stop(deadline)])
        try:
            fit(model, X, y, fit_params)
        finally:
            model.set_params(callbacks=None)  # it holds a clock, which must not be saved
    else:
        fit(model, X, y, {**fit_params, "callbacks": [*fit_params.get("callbacks", ()), _lightgbm_stop(deadline)]})


def rounds_of(model: Any) -> int:
    """The number of rounds of a fitted LightGBM or XGBoost model."""
    if hasattr(model, "get_booster"):
        return int(model.get_booster().num_boosted_rounds())
    return int(model.booster_.current_iteration())


def _lightgbm_stop(deadline: Deadline) -> Any:
    from lightgbm.callback import EarlyStopException

    def stop(environment: Any) -> None:
        if deadline.left() <= 0:
            raise EarlyStopException(environment.iteration, [])

    return stop


def _xgboost_stop(deadline: Deadline) -> Any:
    from xgboost.callback import TrainingCallback

    class Stop(TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return deadline.left() <= 0

    return Stop()


def count_rows(X: Any) -> int:
    """The number of rows of an array, frame or list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
