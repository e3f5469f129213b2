"""The models that an Auto estimator ends up with: the best arm of its contest, or an ensemble of the best."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from ...errors import CheckpointLost
from ..training.abort import abandoned_at
from ..training.time_limit import UNLIMITED
from .auto_study import Contest
from .ensemble import Array, Member, class_scores, greedy_weights, sharpness
from .scoring import score_of

_CONSIDERED = 40  # arms, the best ones
_ROUNDS = 25  # of adding one of them
_ENDING, _RETRAINING = 0.02, 0.15  # of the time that is left for what comes after choosing
_LONGER = 1.5  # times as long as is predicted, at most, does it take to train on all rows
_STEEPNESS = 1.2  # power of the number of rows that this grows with
_FULL = 0.8  # of the time left that training on all rows may take before it is cut short
_MOST_BYTES = 1 << 30  # of what all the models say
_DOUBT = 0.5  # of the log loss in what an ensemble is chosen by: scores of few rows are mostly luck


class Lineup:
    """Chooses among the arms of a contest by what their models say of the rows they were not trained on.

    Where none could be trained, another model stands in.

    Attributes:
        members: the models, those with the largest weights first.
        score: of all of them together, on those rows.
    """

    def __init__(self, contest: Contest) -> None:
        self._contest = contest
        self._reserve = (_RETRAINING if contest.plan.folds == 1 else _ENDING) * (contest.rules.seconds or 0.0)
        self._rows = np.concatenate([test for _, test in contest.training.folds])
        found = self._found()
        if not found:
            member, self.score = contest.standin()
            self.members = [member]
            return
        outputs = [output for _, _, output, _ in found]
        weights = greedy_weights(outputs, self._loss, _ROUNDS if len(found) > 1 else 1, self._is_late)
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
            if found and (self._is_late() or len(found) * found[0][2].nbytes > _MOST_BYTES):
                break
            try:
                state = contest.study.model(arm, contest.training)
            except CheckpointLost:
                continue
            found.append((arm, state, *self._said(arm, state)))
        return found

    def _is_late(self) -> bool:
        """Whether what is left of the time is needed for what comes after choosing."""
        return self._contest.left() < self._reserve

    def _said(self, arm: int, state: Any) -> tuple[Array, float]:
        """Probabilities or numbers for the rows held out, and the factor that made probabilities of scores."""
        config, training = self._contest.config(arm), self._contest.training
        if not self._contest.target.n_classes:
            said = training.held_out(config, state, lambda model, X: model.predict(X))
            return np.concatenate(said).astype(float), 1.0
        told = training.held_out(config, state, partial(class_scores, classes=self._contest.target.n_classes))
        scores = np.concatenate([part for part, _ in told])
        if told[0][1]:
            return scores, 1.0
        factor = sharpness(scores, self._truth())
        return np.asarray(softmax(factor * scores, axis=1)), factor

    def _member(self, weight: float, arm: int, state: Any, factor: float) -> Member:
        """Of folds, all their models; of a holdout, one that is trained on all rows, if there is time."""
        contest, config = self._contest, self._contest.config(arm)
        model = self._refitted(arm) if contest.plan.folds == 1 else None
        models = contest.training.models(config, state) if model is None else [model]
        return Member(float(weight), config["algorithm"], arm, models, factor)

    def _refitted(self, arm: int) -> Any:
        """The arm's model trained on all rows; None if that takes too long, or is interrupted."""
        contest, result = self._contest, self._contest.results[arm]
        growth = len(contest.everything) / max(1, len(contest.training.folds[0][0]))
        left = contest.left()
        if left <= _LONGER * result.seconds * growth**_STEEPNESS:
            return None
        pace, end = (UNLIMITED, UNLIMITED) if left == np.inf else (contest.pace(_FULL * left), contest.pace(left))
        try:
            with abandoned_at(end.until, end.clock):
                return contest.refitting.refit(contest.config(arm), result.steps, pace)
        except KeyboardInterrupt:  # Ctrl-C, or the alarm
            return None

    def _truth(self) -> NDArray[Any]:
        return np.asarray(self._contest.data.target.values[self._rows])

    def _score(self, said: Array) -> float:
        return score_of(said, self._contest.scorer, self._contest.data.target, self._rows)

    def _loss(self, said: Array) -> float:
        """What is to be small: the score, negative, and for classes some of the log loss."""
        if not self._contest.target.n_classes:
            return -self._score(said)
        likely = said[np.arange(len(said)), self._truth()] / said.sum(axis=1)
        return -self._score(said) - _DOUBT * float(np.log(np.clip(likely, 1e-6, 1.0)).mean())
