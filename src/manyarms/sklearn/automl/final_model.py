"""The final model of an Auto estimator: the best arm of its search, or an ensemble of the best arms."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from ...errors import CheckpointLost
from ..training.abort import aborted_at
from ..training.time_limit import UNLIMITED
from .auto_study import AutoStudy
from .ensemble import Array, Member, calibration_factor, class_scores, ensemble_weights, pruned
from .plan import retrain_seconds
from .scoring import score_of

_CONSIDERED = 40  # best arms that may join the ensemble
_ROUNDS = 25  # rounds of ensemble selection
_ENDING = 0.02  # share of the time for what follows ensemble selection
_FULL = 0.9  # share of the time left after which retraining is cut short
_MOST_BYTES = 1 << 30  # maximum size of the predictions of all models
_LOG_LOSS, _FEW_ROWS = 0.5, 500  # weight of the log loss in ensemble selection, for this many validation rows or fewer
_PRUNED, _PARTS = 0.1, 5  # standard errors of the loss that pruning may cost, and parts of the rows to measure them


@dataclass(frozen=True, slots=True)
class _TrainedArm:
    """A trained arm: its predictions for the validation rows, the factor that calibrated them, and its costs."""

    arm: int
    output: Array
    factor: float
    costs: tuple[float, float]


class FinalModel:
    """Selects an ensemble from the arms of a search, by their predictions for validation rows.

    If no arm was trained, the fallback model is used. If no arm reaches the score of the constant baseline, the prediction is
    constant.

    Attributes:
        members: The models of the ensemble, by decreasing weight.
        score: The score of the ensemble on the validation rows.
        exceeds_limits: Whether every arm exceeds the limits of the settings.
        best_beyond_limits: The score of the best arm if it exceeds these limits and is better than the ensemble.
        rejected_score: The score of the best arm if the constant baseline is used instead; None otherwise.
    """

    def __init__(self, search: AutoStudy) -> None:
        self._search = search
        self.rejected_score: float | None = None
        self.exceeds_limits = False
        self.best_beyond_limits: float | None = None
        self._reserve = _ENDING * (search.settings.seconds or 0.0)
        self._rows = np.concatenate([test for _, test in search.training.folds])
        self._log_loss = log_loss_weight(len(self._rows))
        found = self._trained_arms()
        if not found:
            member, self.score = search.fallback()
            self.members = [member]
            return
        weights, self.score = self._selected(found)
        if self.score < search.baseline.score:
            self.rejected_score = self.score
            member, self.score = search.constant()
            self.members = [member]
            return
        chosen = [(weights[i], found[i]) for i in np.argsort(-weights, kind="stable") if weights[i] > 0]
        self.members = [self._member(weight, arm) for weight, arm in chosen]

    def _selected(self, found: list[_TrainedArm]) -> tuple[Array, float]:
        """The weights of the ensemble and its score; those of the best arm if the ensemble is below the constant baseline."""
        outputs = [arm.output for arm in found]
        costs, limits = np.array([arm.costs for arm in found]), np.array(self._search.settings.limits)
        first = self._first_within(costs, limits)
        weights = np.eye(len(outputs))[first]
        if len(outputs) > 1 and not self.exceeds_limits:
            weights = ensemble_weights(outputs, self._loss, _ROUNDS, self._is_late, costs, limits)
            weights = pruned(weights, outputs, self._loss, _PRUNED * self._noise(weights, outputs))
        score = self._score(np.tensordot(weights, np.array(outputs), axes=1))
        if (costs[0] > limits).any() and (best := self._score(outputs[0])) > score:
            self.best_beyond_limits = best
        if score < self._search.baseline.score:  # ensemble selection does not use the score alone
            return np.eye(len(outputs))[first], self._score(outputs[first])
        return weights, score

    def _first_within(self, costs: Array, limits: Array) -> int:
        """The best arm within the limits; if there is none, the one that exceeds them least."""
        fits = (costs <= limits).all(axis=1)
        self.exceeds_limits = not fits.any()
        return int((costs / limits).max(axis=1).argmin() if self.exceeds_limits else fits.argmax())

    def _noise(self, weights: Array, outputs: list[Array]) -> float:
        """The standard error of the loss of an ensemble; 0 if it cannot be measured."""
        output = np.tensordot(weights, np.array(outputs), axes=1)
        places = [np.arange(start, len(output), _PARTS) for start in range(_PARTS)]
        with contextlib.suppress(ValueError), warnings.catch_warnings(action="ignore"):  # for example, a missing class
            losses = [self._loss(output[some], self._rows[some]) for some in places]
            return float(np.std(losses) / np.sqrt(_PARTS)) if np.isfinite(losses).all() else 0.0
        return 0.0

    def _trained_arms(self) -> list[_TrainedArm]:
        """The best arms, as many as there is time for."""
        search, found = self._search, list[_TrainedArm]()
        for arm in search.ranked()[: _CONSIDERED if search.settings.ensemble else 1]:
            if found and (self._is_late() or len(found) * found[0].output.nbytes > _MOST_BYTES):
                break
            try:
                state = search.study.model(arm, search.training)
            except CheckpointLost:
                continue
            output, factor = self._predictions(arm, state)
            times = [value for name, value in search.results[arm].times.items() if name.endswith("_score_time")]
            costs = predict_ms(times, len(self._rows)), state.size / 1e6
            found.append(_TrainedArm(arm, output, factor, costs))
        return found

    def _is_late(self) -> bool:
        """Whether the time left is needed for what follows ensemble selection."""
        return self._search.left() < self._reserve

    def _predictions(self, arm: int, state: Any) -> tuple[Array, float]:
        """Predictions for the validation rows, and the factor that turned scores into probabilities."""
        config, training = self._search.config(arm), self._search.training
        if not self._search.target.n_classes:
            numbers = training.held_out(config, state, lambda model, X: model.predict(X))
            return np.concatenate(numbers).astype(float), 1.0
        outputs = training.held_out(config, state, partial(class_scores, classes=self._search.target.n_classes))
        scores = np.concatenate([part for part, _ in outputs])
        if outputs[0][1]:
            return scores, 1.0
        factor = calibration_factor(scores, self._truth())
        return np.asarray(softmax(factor * scores, axis=1)), factor

    def _member(self, weight: float, found: _TrainedArm) -> Member:
        """With cross-validation, the models of all folds; otherwise one model, retrained on all rows if there is time."""
        search, arm = self._search, found.arm
        config, state = search.config(arm), search.study.model(arm, search.training)
        model = self._refitted(arm, state) if search.plan.folds == 1 else None
        models = search.training.models(config, state) if model is None else [model]
        return Member(float(weight), config["algorithm"], arm, models, found.factor, *found.costs)

    def _refitted(self, arm: int, state: Any) -> Any:
        """The arm's model retrained on all rows; None if that takes too long or is interrupted."""
        search, result = self._search, self._search.results[arm]
        left = search.left() - self._reserve
        if left <= retrain_seconds(result.seconds, search.growth):
            return None
        deadline, end = (
            (UNLIMITED, UNLIMITED) if left == np.inf else (search.deadline_in(_FULL * left), search.deadline_in(left))
        )
        try:
            with aborted_at(end.until, end.clock):
                given = search.config(arm), result.steps, deadline, state.models[0]
                if search.refitting is search.training:
                    return search.training.retrain(*given)
                return search.refitting.refit(*given)
        except KeyboardInterrupt:  # Ctrl-C, or the time is up
            return None

    def _truth(self) -> NDArray[Any]:
        return np.asarray(self._search.data.target.values[self._rows])

    def _score(self, predictions: Array, rows: Any = None) -> float:
        return score_of(predictions, self._search.scorer, self._search.data.target, self._rows if rows is None else rows)

    def _loss(self, predictions: Array, rows: Any = None) -> float:
        """The loss of ensemble selection: the negative score and, for classes, some of the log loss."""
        if not self._search.target.n_classes:
            return -self._score(predictions, rows)
        truth = self._search.data.target.values[self._rows if rows is None else rows]
        likely = predictions[np.arange(len(predictions)), truth] / predictions.sum(axis=1)
        return -self._score(predictions, rows) - self._log_loss * float(np.log(np.clip(likely, 1e-6, 1.0)).mean())


def log_loss_weight(rows: int) -> float:
    """The weight of the log loss in ensemble selection. With few rows, the score is noisier than the log loss.

    >>> log_loss_weight(200), log_loss_weight(10_000)
    (0.5, 0.025)
    """
    return _LOG_LOSS * min(1.0, _FEW_ROWS / rows)


def predict_ms(seconds: Sequence[float], rows: int) -> float:
    """Milliseconds to predict 1,000 rows with the models of all folds.

    Args:
        seconds: Time that each model took to predict the validation rows of its fold.
        rows: Number of validation rows of all folds.

    >>> predict_ms([0.1, 0.1], rows=400)
    1000.0
    """
    return 1e6 * sum(seconds) * len(seconds) / rows
