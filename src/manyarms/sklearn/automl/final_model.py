"""The final model of an Auto estimator: the best arm of its search, or an ensemble of the best arms."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from ...errors import CheckpointLost
from ..training.abort import aborted_at
from ..training.time_limit import UNLIMITED
from .auto_study import AutoStudy
from .ensemble import Array, Member, calibration_factor, class_scores, ensemble_weights
from .scoring import score_of

_CONSIDERED = 40  # best arms that may join the ensemble
_ROUNDS = 25  # of ensemble selection
_ENDING, _RETRAINING = 0.02, 0.15  # share of the time for what follows ensemble selection
_LONGER = 1.5  # safety factor of the predicted time for retraining on all rows
_STEEPNESS = 1.2  # exponent of that time in the number of rows
_FULL = 0.8  # share of the time left after which retraining is cut short
_MOST_BYTES = 1 << 30  # largest size of the predictions of all models
_LOG_LOSS = 0.5  # weight of the log loss in ensemble selection, because scores of few rows are noisy


class FinalModel:
    """Selects an ensemble from the arms of a search, by their predictions for validation rows.

    If no arm was trained, the fallback model is used.

    Attributes:
        members: The models of the ensemble, by decreasing weight.
        score: The score of the ensemble on the validation rows.
    """

    def __init__(self, search: AutoStudy) -> None:
        self._search = search
        self._reserve = (_RETRAINING if search.plan.folds == 1 else _ENDING) * (search.settings.seconds or 0.0)
        self._rows = np.concatenate([test for _, test in search.training.folds])
        found = self._trained_arms()
        if not found:
            member, self.score = search.fallback()
            self.members = [member]
            return
        outputs = [output for _, _, output, _ in found]
        weights = ensemble_weights(outputs, self._loss, _ROUNDS if len(found) > 1 else 1, self._is_late)
        chosen = [found[i] for i in np.argsort(-weights, kind="stable") if weights[i] > 0]
        self.score = self._score(np.tensordot(weights, np.array(outputs), axes=1))
        self.members = [
            self._member(weight, arm, state, factor)
            for weight, (arm, state, _, factor) in zip(-np.sort(-weights), chosen, strict=False)
        ]

    def _trained_arms(self) -> list[tuple[int, Any, Array, float]]:
        """The best arms, with their states, predictions and calibration factors; as many as there is time for."""
        search, found = self._search, list[tuple[int, Any, Array, float]]()
        for arm in search.ranked()[: _CONSIDERED if search.settings.ensemble else 1]:
            if found and (self._is_late() or len(found) * found[0][2].nbytes > _MOST_BYTES):
                break
            try:
                state = search.study.model(arm, search.training)
            except CheckpointLost:
                continue
            found.append((arm, state, *self._predictions(arm, state)))
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

    def _member(self, weight: float, arm: int, state: Any, factor: float) -> Member:
        """With cross-validation, the models of all folds; else one model retrained on all rows, if there is time."""
        search, config = self._search, self._search.config(arm)
        model = self._refitted(arm) if search.plan.folds == 1 else None
        models = search.training.models(config, state) if model is None else [model]
        return Member(float(weight), config["algorithm"], arm, models, factor)

    def _refitted(self, arm: int) -> Any:
        """The arm's model retrained on all rows; None if that takes too long or is interrupted."""
        search, result = self._search, self._search.results[arm]
        growth = len(search.all_data) / max(1, len(search.training.folds[0][0]))
        left = search.left()
        if left <= _LONGER * result.seconds * growth**_STEEPNESS:
            return None
        deadline, end = (
            (UNLIMITED, UNLIMITED) if left == np.inf else (search.deadline_in(_FULL * left), search.deadline_in(left))
        )
        try:
            with aborted_at(end.until, end.clock):
                return search.refitting.refit(search.config(arm), result.steps, deadline)
        except KeyboardInterrupt:  # Ctrl-C, or the end of the time
            return None

    def _truth(self) -> NDArray[Any]:
        return np.asarray(self._search.data.target.values[self._rows])

    def _score(self, predictions: Array) -> float:
        return score_of(predictions, self._search.scorer, self._search.data.target, self._rows)

    def _loss(self, predictions: Array) -> float:
        """The loss of ensemble selection: the negative score and, for classes, some of the log loss."""
        if not self._search.target.n_classes:
            return -self._score(predictions)
        likely = predictions[np.arange(len(predictions)), self._truth()] / predictions.sum(axis=1)
        return -self._score(predictions) - _LOG_LOSS * float(np.log(np.clip(likely, 1e-6, 1.0)).mean())
