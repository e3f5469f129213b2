"""Boosting until the validation loss no longer decreases: LightGBM, XGBoost and CatBoost."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .fitting import fit
from .time_limit import UNLIMITED, Deadline

PATIENCE = 40
"""Rounds without a smaller validation loss, after which training stops."""

_SLOWER = 0.2  # factor of the learning rate after a collapse
_COLLAPSED = 3  # a model whose best round is at most this one has collapsed


@dataclass(frozen=True, slots=True)
class EarlyStopping:
    """A single slice: rounds of boosting until the validation loss no longer decreases. The best round is used.

    If the loss increases from the start, as happens to LightGBM with many classes and a large learning rate, the model is
    trained again with a smaller learning rate.

    Args:
        parameter: Name of the parameter with the number of rounds.
        total: Maximum number of rounds.
        validation: Validation rows and their targets; None to train all rounds.
    """

    parameter: str
    total: int
    validation: tuple[Any, Any] | None = None
    continues = False

    def validated_by(self, X: Any, y: Any) -> EarlyStopping:
        """The same with these validation rows."""
        return replace(self, validation=(X, y))

    def like(self, model: Any) -> EarlyStopping:
        """The same without validation rows, for as many rounds as this model has."""
        return replace(self, total=best_rounds(model), validation=None)

    def advance(
        self, model: Any, X: Any, y: Any, span: Any, fit_params: Mapping[str, Any], deadline: Deadline = UNLIMITED
    ) -> None:
        """Train the model."""
        model.set_params(**{self.parameter: self.total})
        self._fit(model, X, y, fit_params, deadline)
        if self.validation is None or not hasattr(model, "n_estimators"):  # a fitted CatBoost model cannot be changed
            return
        if has_collapsed(best_rounds(model), self.total) and deadline.left() > 0:
            model.set_params(learning_rate=_SLOWER * model.get_params()["learning_rate"])
            self._fit(model, X, y, fit_params, deadline)

    def _fit(self, model: Any, X: Any, y: Any, fit_params: Mapping[str, Any], deadline: Deadline) -> None:
        if hasattr(model, "get_booster"):
            _fit_xgboost(model, X, y, fit_params, deadline, self.validation)
        elif hasattr(model, "booster_") or hasattr(type(model), "booster_"):
            _fit_lightgbm(model, X, y, fit_params, deadline, self.validation)
        else:
            _fit_catboost(model, X, y, fit_params, deadline, self.validation)

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """Nothing, because its parameters do not change."""
        return {}


def has_collapsed(best: int, total: int) -> bool:
    """Whether the validation loss increased from the start.

    >>> has_collapsed(2, 500), has_collapsed(80, 500), has_collapsed(2, 2)
    (True, False, False)
    """
    return best <= _COLLAPSED < total


def best_rounds(model: Any) -> int:
    """The number of rounds that a fitted model predicts with."""
    if hasattr(model, "get_booster"):
        best = getattr(model.get_booster(), "best_iteration", None) if model.early_stopping_rounds else None
        return int(model.get_booster().num_boosted_rounds() if best is None else best + 1)
    if hasattr(type(model), "booster_"):
        return int(model.best_iteration_ or model.booster_.current_iteration())
    return int(model.tree_count_)


def _fit_lightgbm(
    model: Any, X: Any, y: Any, fit_params: Mapping[str, Any], deadline: Deadline, validation: tuple[Any, Any] | None
) -> None:
    stop = _LightGBMStop(deadline)
    rows: dict[str, Any] = {}
    if validation is not None:
        some = _known(model, validation, y)
        renamed = "eval_X" in inspect.signature(model.fit).parameters  # since LightGBM 4.7
        rows = {"eval_X": some[0], "eval_y": some[1]} if renamed else {"eval_set": [some]}
    fit(model, X, y, {**fit_params, **rows, "callbacks": [stop]})


class _LightGBMStop:
    """Stops LightGBM at the deadline or when its validation loss no longer decreases, and marks the best round."""

    order = 30  # after the evaluation

    def __init__(self, deadline: Deadline) -> None:
        self._deadline, self._best, self._best_round, self._results = deadline, np.inf, -1, list[Any]()

    def __call__(self, environment: Any) -> None:
        from lightgbm.callback import EarlyStopException

        now, results = environment.iteration, environment.evaluation_result_list or []
        loss = float(results[0][2]) if results else -now  # without validation rows, the last round is the best
        if loss < self._best:
            self._best, self._best_round, self._results = loss, now, results
        is_last = now == environment.end_iteration - 1
        if now - self._best_round >= PATIENCE or is_last or self._deadline.left() <= 0:
            raise EarlyStopException(self._best_round, self._results)


def _fit_xgboost(
    model: Any, X: Any, y: Any, fit_params: Mapping[str, Any], deadline: Deadline, validation: tuple[Any, Any] | None
) -> None:
    from xgboost.callback import TrainingCallback

    class Stop(TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return deadline.left() <= 0

    rows = {} if validation is None else {"eval_set": [_known(model, validation, y)], "verbose": False}
    model.set_params(callbacks=[Stop()], early_stopping_rounds=PATIENCE if rows else None)
    try:
        fit(model, X, y, {**fit_params, **rows})
    finally:
        model.set_params(callbacks=None)  # it holds a clock, which must not be saved


def _fit_catboost(
    model: Any, X: Any, y: Any, fit_params: Mapping[str, Any], deadline: Deadline, validation: tuple[Any, Any] | None
) -> None:
    class Stop:
        def after_iteration(self, info: Any) -> bool:
            return deadline.left() > 0

    rows: dict[str, Any] = {}
    if validation is not None:
        rows = {"eval_set": _known(model, validation, y), "early_stopping_rounds": PATIENCE, "use_best_model": True}
    limit = {"callbacks": [Stop()]} if deadline.is_limited else {}
    fit(model, X, y, {**fit_params, **rows, **limit})


def _known(model: Any, validation: tuple[Any, Any], y: Any) -> tuple[Any, Any]:
    """The validation rows, without those of classes that do not occur in the training rows."""
    X, targets = validation
    if not hasattr(model, "predict_proba"):
        return X, targets
    known = np.isin(targets, np.unique(y))
    return (X, targets) if known.all() else (X[known], targets[known])
