"""The models that an Auto estimator ends up with: the best arm of its contest, or an ensemble of the best."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from ..errors import CheckpointLost
from .constant import constant_member
from .contest import Contest
from .ensemble import Array, Member, class_scores, greedy_weights, sharpness
from .metrics import score_of

_CONSIDERED = 40  # arms, the best ones
_ROUNDS = 25  # of adding one of them
_ENDING, _RETRAINING = 0.02, 0.15  # of the time that is left for what comes after choosing
_LONGER = 1.5  # times as long as before, at most, does it take to train on all rows
_DOUBT = 0.5  # of the log loss in what an ensemble is chosen by: scores of few rows are mostly luck


class Lineup:
    """Chooses among the arms of a contest by what their models say of the rows they were not trained on.

    Without any model that could be trained, the constant one is chosen.

    Attributes:
        members: the models, those with the largest weights first.
        score: of all of them together, on those rows.
    """

    def __init__(self, contest: Contest) -> None:
        self._contest = contest
        self._reserve = (_RETRAINING if contest.n_folds == 1 else _ENDING) * (contest.rules.seconds or 0.0)
        self._rows = np.concatenate([test for _, test in contest.training.folds])
        found = self._found()
        if not found:
            self.members, self.score = [constant_member(contest.target, contest.weights)], contest.baseline
            return
        outputs = [output for _, _, output, _ in found]
        weights = greedy_weights(outputs, self._loss, _ROUNDS if len(found) > 1 else 1)
        chosen = [found[i] for i in np.argsort(-weights, kind="stable") if weights[i] > 0]
        self.score = self._score(np.tensordot(weights, np.array(outputs), axes=1))
        self.members = [
            self._member(weight, arm, state, factor)
            for weight, (arm, state, _, factor) in zip(-np.sort(-weights), chosen, strict=False)
        ]

    def _found(self) -> list[tuple[int, Any, Array, float]]:
        """Arms, their states, what they say, and the factors of that; as many as there is time for."""
        contest, found = self._contest, list[tuple[int, Any, Array, float]]()
        for arm in contest.ranked()[: _CONSIDERED if contest.rules.ensemble else 1]:
            if found and contest.left() < self._reserve:
                break
            try:
                state = contest.study.model(arm, contest.training)
            except CheckpointLost:
                continue
            found.append((arm, state, *self._said(arm, state)))
        return found

    def _said(self, arm: int, state: Any) -> tuple[Array, float]:
        """Probabilities or numbers for the rows held out, and the factor that made probabilities of scores."""
        config, training = self._contest.config(arm), self._contest.training
        if not self._contest.target.n_classes:
            said = training.held_out(config, state, lambda model, X: model.predict(X))
            return np.concatenate(said).astype(float), 1.0
        told = training.held_out(config, state, class_scores)
        scores = np.concatenate([part for part, _ in told])
        if told[0][1]:
            return scores, 1.0
        factor = sharpness(scores, self._truth())
        return np.asarray(softmax(factor * scores, axis=1)), factor

    def _member(self, weight: float, arm: int, state: Any, factor: float) -> Member:
        """Of folds, all their models; of a holdout, one that is trained on all rows, if there is time."""
        contest, config = self._contest, self._contest.config(arm)
        result = contest.results[arm]
        if contest.n_folds == 1 and contest.left() > _LONGER * result.seconds:
            models = [contest.training.refit(config, result.steps)]
        else:
            models = contest.training.models(config, state)
        return Member(float(weight), config["algorithm"], arm, models, factor)

    def _truth(self) -> NDArray[Any]:
        return np.asarray(self._contest.target.values[self._rows])

    def _score(self, said: Array) -> float:
        return score_of(said, self._contest.scorer, self._contest.target, self._rows)

    def _loss(self, said: Array) -> float:
        """What is to be small: the score, negative, and for classes some of the log loss."""
        if not self._contest.target.n_classes:
            return -self._score(said)
        likely = said[np.arange(len(said)), self._truth()] / said.sum(axis=1)
        return -self._score(said) - _DOUBT * float(np.log(np.clip(likely, 1e-6, 1.0)).mean())
