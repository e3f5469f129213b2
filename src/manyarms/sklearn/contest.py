"""The study behind the Auto estimators: families compete for training."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ..checkpoints import Checkpoints
from ..core import Outcome
from ..errors import NoResult, StudyMismatch
from ..fingerprint import fingerprint
from ..strategies import AdaptiveMutantUCB, Cascade, ExtremeUCB
from ..study import Study
from .constant import CONSTANT, NO_ARM
from .families import Family, families
from .folds import count_folds, given_folds, make_folds
from .metrics import baseline_of, needs_probabilities, scorer_of
from .results import ArmResult, arm_results
from .targets import Target
from .training import Candidate, Metadata, Training

_DISK = "2GB"  # for models in training
_INITIAL = 2  # arms that each family begins with
_GREED = 150.0  # how much the best of a family counts: there are few pulls, and good families differ by little
_RESERVE = 0.1  # of the time, for putting the best together
_RETRAIN = 0.25  # of the time for that where the best are trained again on all rows
_LARGE = 20_000  # rows; beyond, a worker process that can be ended runs each pull
_SHARE = 0.25  # of the time that one pull may take there
_SHORTEST = 5.0  # seconds that it may take in any case
_LAST = 5  # pulls whose length foretells that of the next
_HOPELESS = 50  # failures, and no success


@dataclass(frozen=True, slots=True)
class Rules:
    """What a contest is held by; see `Auto`."""

    seconds: float | None
    steps: int | None
    metric: Any
    families: Sequence[str] | None
    ensemble: bool
    cv: Any
    workers: int
    storage: str | os.PathLike[str] | None
    name: str
    seed: int | None
    progress: bool


class Contest:
    """A study over the families for one table. To be closed after use.

    Args:
        table: The rows.
        kinds: What each column holds.
        target: What to predict.
        rules: The settings.
        weights: Sample weights, or None.
    """

    def __init__(self, table: pd.DataFrame, kinds: Sequence[str], target: Target, rules: Rules, weights: Any) -> None:
        self._began, self._until = time.monotonic(), np.inf
        self.table, self.target, self.rules, self.weights = table, target, rules, weights
        self._kinds = list(kinds)
        self.scorer = scorer_of(rules.metric, target)
        self.baseline = baseline_of(self.scorer, target)
        labels = target.values if target.n_classes else None
        numbered = isinstance(rules.cv, (str, int, np.integer))
        self._given = None if numbered else given_folds(rules.cv, labels, len(table))
        self.n_folds = count_folds(rules.cv, len(table)) if self._given is None else len(self._given)
        self.candidates = self._candidates(weights)
        self._lengths: list[float] = []  # of the last pulls
        self._open = contextlib.ExitStack()
        try:
            self.study = self._study(fingerprint(table, target.values, weights, self._given))
        except BaseException:
            self.close()
            raise
        self.training = self._training(self.study.seed, weights)

    def close(self) -> None:
        """Let go of the storage, and of models that were kept in a temporary place."""
        self._open.close()

    def _candidates(self, weights: Any) -> dict[str, tuple[Family, Candidate]]:
        """With folds a step is the whole of them; with a holdout, what a family's training can be cut into."""
        rows = len(self.table) - len(self.table) // max(self.n_folds, 5)
        found = families(self.rules.families, classes=self.target.n_classes, rows=rows)
        found = {name: replace(family, estimator=self._knowing(family.estimator)) for name, family in found.items()}
        able = _able(found, self.target.n_classes > 0 and needs_probabilities(self.scorer, self.target), weights is not None)
        if self.n_folds > 1:
            return {name: (family, Candidate(family.estimator, None, 1)) for name, family in able.items()}
        return {name: (f, Candidate(f.estimator, f.resource, f.max_steps)) for name, f in able.items()}

    def _knowing(self, pipeline: Any) -> Any:
        """A pipeline that need not inspect the columns again for each fold."""
        return clone(pipeline).set_params(prepare__kinds=self._kinds)

    def _study(self, data: str) -> Study:
        """New, or gone on with."""
        children = {
            name: AdaptiveMutantUCB(family.space, max_steps=candidate.max_steps, initial=_INITIAL)
            for name, (family, candidate) in self.candidates.items()
        }
        rules = self.rules
        origin = {"data": data, "metric": str(rules.metric), "folds": self.n_folds}
        study = Study(
            Cascade(children, ExtremeUCB(gamma=_GREED), budget=rules.steps, seed=rules.seed),
            storage=rules.storage,
            name=rules.name,
            checkpoints=Checkpoints(max_bytes=_DISK),
            origin=origin,
        )
        self._open.callback(study.close)
        for what, value in (study.header.get("origin") or {}).items():
            if origin.get(what) != value:
                raise StudyMismatch(f"study {study.name!r} was begun with other {what}: use another storage or name")
        return study

    def _training(self, seed: int, weights: Any) -> Training:
        labels = self.target.values if self.target.n_classes else None
        metadata = Metadata({} if weights is None else {"model__sample_weight": np.asarray(weights, dtype=float)}, {})
        return Training(
            {name: candidate for name, (_, candidate) in self.candidates.items()},
            self.table,
            self.target.values,
            self._given or make_folds(labels, len(self.table), self.n_folds, seed % 2**32),
            self.scorer,
            metadata=metadata,
            seed=seed % 2**31,
            keeps=True,
            quiet=True,
        )

    def run(self) -> None:
        """Search until the time, or the steps, are spent: in all runs of it together."""
        rules, study = self.rules, self.study
        if rules.seconds is not None:
            reserve = _RETRAIN if self.n_folds == 1 else _RESERVE if rules.ensemble else _RESERVE / 2
            timeout = max(0.01, (1 - reserve) * rules.seconds - self._elapsed() - study.tally.seconds / rules.workers)
            self._until = time.monotonic() + timeout
            if timeout <= 0.01 and study.tally.pulls:
                return
        patience = None if rules.seconds is None or len(self.table) <= _LARGE else max(_SHORTEST, _SHARE * rules.seconds)
        with contextlib.suppress(NoResult):  # then there is the constant model
            study.optimize(
                self.training,
                workers=rules.workers,
                timeout=None if rules.seconds is None else timeout,
                pull_timeout=patience,
                progress=rules.progress,
                callbacks=[self._watch],
            )

    def _watch(self, study: Study, outcome: Outcome) -> None:
        """Stop where nothing works, or where another pull like the last ones would not end in time."""
        self._lengths = [*self._lengths[1 - _LAST :], outcome.seconds]
        late = time.monotonic() + float(np.mean(self._lengths)) > self._until
        if late if study.tally.pulls else study.tally.failures >= _HOPELESS:
            study.stop()

    def left(self) -> float:
        """Seconds that are left of the time for all."""
        return np.inf if self.rules.seconds is None else self.rules.seconds - self._elapsed()

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def ranked(self) -> list[int]:
        """The arms with models, the best first."""
        arms = self.study.tally.arms
        known = [id for id, record in arms.items() if record.reward is not None and not record.failed]
        return sorted(known, key=lambda id: (-(arms[id].reward or 0.0), id))

    def config(self, arm: int) -> Any:
        """What the arm is: the name of its family, and its parameters."""
        return self.study.tally.arms[arm].arm.config

    @cached_property
    def results(self) -> dict[int, ArmResult]:
        """What the journal says of each arm, once the contest is over."""
        return {result.arm: result for result in arm_results(self.study.journal.events())}

    def leaderboard(self, weights: dict[int, float]) -> pd.DataFrame:
        """A row for each arm, the best first, with its weight in the ensemble; a single one for the constant model."""
        if not self.ranked():
            return pd.DataFrame([_row(1, CONSTANT, [self.baseline], 1, 1, 0.0, NO_ARM, 1.0, {})])
        rows = []
        for rank, arm in enumerate(self.ranked(), 1):
            family, result = self.config(arm)["algorithm"], self.results[arm]
            scores = [score for name, score in result.told.items() if name.endswith("_test_score")]
            steps, most = result.steps, self.candidates[family][1].max_steps
            weight, config = weights.get(arm, 0.0), self.config(arm)["config"]
            rows.append(_row(rank, family, scores, steps, most, result.seconds, arm, weight, config))
        return pd.DataFrame(rows)


def _row(
    rank: int, family: str, scores: Sequence[float], steps: int, most: int, seconds: float, arm: int, weight: float, config: Any
) -> dict[str, Any]:
    """A row of the leaderboard."""
    return {
        "rank": rank,
        "family": family,
        "score": float(np.mean(scores)),
        "std": float(np.std(scores)),
        "steps": steps,
        "max_steps": most,
        "seconds": seconds,
        "arm": arm,
        "weight": weight,
        "config": config,
    }


def _able(found: dict[str, Family], probabilities: bool, weights: bool) -> dict[str, Family]:
    """The families that give probabilities and take weights, where that is needed."""
    models = {name: family.estimator.steps[-1][1] for name, family in found.items()}
    able = {
        name: family
        for name, family in found.items()
        if (not probabilities or hasattr(models[name], "predict_proba"))
        and (not weights or has_fit_parameter(models[name], "sample_weight"))
    }
    if not able:
        lacking = "probabilities, which the metric needs," if probabilities else "weights of rows"
        raise ValueError(f"none of the families knows {lacking}: {', '.join(found)}")
    return able
