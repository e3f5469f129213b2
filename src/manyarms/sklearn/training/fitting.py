"""Fitting one estimator: whole, or as far as the time allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from .time_limit import Pace, first_rows, next_rows

_FEW_OF_A_CLASS, _MOST_OF_ALL = 5, 5_000  # rows, among the first that a classifier is fitted on


def fit(model: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
    """Fit a model on all rows."""
    if y is None:
        model.fit(X, **fit_params)
    else:
        model.fit(X, y, **fit_params)


def fit_rows(model: Any, X: Any, y: Any, fit_params: Mapping[str, Any], rows: NDArray[np.int64]) -> None:
    """Fit a model on some of the rows."""
    params = _check_method_params(X, fit_params, indices=rows)
    fit(model, _safe_indexing(X, rows), None if y is None else _safe_indexing(y, rows), params)


def fit_within(model: Any, X: Any, y: Any, fit_params: Mapping[str, Any], pace: Pace, seed: int) -> None:
    """Fit a model on a few rows, then on more, and in the end on all, as long as there is time.

    Args:
        model: Fitted in place, again each time.
        X, y, fit_params: As for `fit`.
        pace: The time there is. The first fit happens in any case.
        seed: Random seed of the order in which rows are added.
    """
    n = count_rows(X)
    some = first_rows(n, X.shape[1] if getattr(X, "ndim", 1) == 2 else 1)
    if not pace.is_limited or some == n:
        return fit(model, X, y, fit_params)
    order, classes = row_order(y if is_classifier(model) else None, n, seed)
    rows, measured = min(n, max(some, min(_FEW_OF_A_CLASS * classes, _MOST_OF_ALL))), list[tuple[int, float]]()
    while rows:
        began = pace.clock()
        if rows == n:
            fit(model, X, y, fit_params)
        else:
            fit_rows(model, X, y, fit_params, order[:rows])
        measured.append((rows, pace.clock() - began))
        rows = next_rows(measured, n, pace.left())


def row_order(labels: Any, n: int, seed: int) -> tuple[NDArray[np.int64], int]:
    """Rows in random order; with labels, so that the first of them hold every class in its share, and each class early.

    Gives how many classes there are, too: 0 without labels, or with several of them a row.

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


def boost_within(model: Any, X: Any, y: Any, fit_params: Mapping[str, Any], pace: Pace) -> None:
    """Fit a model of LightGBM's or XGBoost's, and end it after the round in which its time is over."""
    if not pace.is_limited:
        return fit(model, X, y, fit_params)
    if hasattr(model, "get_booster"):
        model.set_params(callbacks=[_xgboost_stop(pace)])
        try:
            fit(model, X, y, fit_params)
        finally:
            model.set_params(callbacks=None)  # it holds a clock, which is not to be saved
    else:
        fit(model, X, y, {**fit_params, "callbacks": [*fit_params.get("callbacks", ()), _lightgbm_stop(pace)]})


def rounds_of(model: Any) -> int:
    """The rounds that a fitted model of LightGBM's or XGBoost's has."""
    if hasattr(model, "get_booster"):
        return int(model.get_booster().num_boosted_rounds())
    return int(model.booster_.current_iteration())


def _lightgbm_stop(pace: Pace) -> Any:
    from lightgbm.callback import EarlyStopException

    def stop(environment: Any) -> None:
        if pace.left() <= 0:
            raise EarlyStopException(environment.iteration, [])

    return stop


def _xgboost_stop(pace: Pace) -> Any:
    from xgboost.callback import TrainingCallback

    class Stop(TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return pace.left() <= 0

    return Stop()


def count_rows(X: Any) -> int:
    """The number of rows of any table."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
