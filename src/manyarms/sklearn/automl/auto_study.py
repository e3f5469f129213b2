"""The study behind the Auto estimators: families compete for training."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ...checkpoints import Checkpoints
from ...core import Outcome
from ...errors import ManyarmsError, NoResult, StudyMismatch
from ...journal import open_journal
from ...runners import ProcessRunner
from ...strategies import AdaptiveMutantUCB, Cascade, ExtremeUCB
from ...study.fingerprint import fingerprint
from ...study.study import Study
from ..training.candidate import Candidate, Metadata
from ..training.fitting import row_order
from ..training.results import ArmResult, arm_results
from ..training.time_limit import Clock, Pace, TimeLimit
from ..training.training import Training
from .constant import constant_member
from .ensemble import Member, class_scores
from .families import Family, families
from .folds import count_folds, given_folds, make_folds
from .plan import Plan, Size, is_apart, plan_of, width
from .quick_model import Pilot, fly
from .scoring import baseline_of, needs_probabilities, scorer_of
from .targets import Target

_DISK = "2GB"  # for models in training
_INITIAL = 2  # arms that each family begins with
_GREED = 150.0  # how much the best of a family counts: there are few pulls, and good families differ by little
_RESERVE = 0.1  # of the time, for putting the best together
_RETRAIN = 0.25  # of the time for that where the best are trained again on all rows
_SHARE, _SHORTEST = 0.1, 2.0  # of the time that one pull may take before it is cut short, and seconds that it may in any case
_PATIENCE, _MOMENT = 2.0, 2.0  # times as long, and so many seconds more, after which a pull that was not cut short is ended
_GRACE, _LEAST_GRACE = 0.03, 0.5  # of the time, and at least in seconds, for the last pulls to be cut short and scored
_LAST = 5  # pulls whose length predicts that of the next
_HOPELESS = 50  # failures, and no success
_ENDING = 0.5  # seconds for putting the best together once the search was interrupted


@dataclass(frozen=True, slots=True)
class Rules:
    """What a contest is held by; see `Auto`."""

    seconds: float | None
    steps: int | None
    scoring: Any
    families: Sequence[str] | None
    ensemble: bool
    cv: Any
    workers: int
    storage: str | os.PathLike[str] | None
    name: str
    seed: int | None
    progress: bool


@dataclass(frozen=True, slots=True)
class Data:
    """What models are trained on: a table, its target, and sample weights or None."""

    table: pd.DataFrame
    target: Target
    weights: Any

    def some(self, rows: Any) -> Data:
        """Some of the rows."""
        values = replace(self.target, values=self.target.values[rows])
        return Data(self.table.iloc[rows], values, None if self.weights is None else np.asarray(self.weights)[rows])

    def __len__(self) -> int:
        return len(self.table)


class Contest:
    """A study over the families for one table. To be closed after use.

    Args:
        data: The rows.
        kinds: What each column holds.
        rules: The settings.
        clock: Gives the time in seconds, the same in all processes.

    Attributes:
        everything: All rows.
        data: Those that the search uses.
        plan: How the search goes about it.
        pilot: The quick model, where the time is limited.
    """

    def __init__(self, data: Data, kinds: Sequence[str], rules: Rules, clock: Clock = time.monotonic) -> None:
        self._clock, self._began, self._until, self._end = clock, clock(), np.inf, np.inf
        self.everything, self.target, self.rules, self._kinds = data, data.target, rules, list(kinds)
        self.scorer = scorer_of(rules.scoring, data.target)
        self.baseline = baseline_of(self.scorer, data.target)
        numbered = isinstance(rules.cv, (str, int, np.integer))
        self._given = None if numbered else given_folds(rules.cv, self._labels(data), len(data))
        self.pilot = None if rules.seconds is None else self._fly()
        self.plan = self._plan()
        self.candidates = self._candidates()
        self._lengths: list[float] = []  # of the last pulls
        self._open = contextlib.ExitStack()
        try:
            self.study = self._study(fingerprint(data.table, data.target.values, data.weights, self._given))
            self.data = self._chosen(data)
            self.training = self._training(self.data)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the storage, and delete models that were kept in a temporary place."""
        self._open.close()

    @staticmethod
    def _labels(data: Data) -> Any:
        return data.target.values if data.target.n_classes else None

    def _fly(self) -> Pilot:
        columns = width(self._kinds)
        data = self.everything
        return fly(data.table, self._kinds, data.target, self.scorer, columns, self.rules.seed or 0, self._clock)

    def _plan(self) -> Plan:
        """As it was when the study began; else as suits the table and the time."""
        if (stored := self._stored_plan()) is not None:
            return stored
        if self._given is not None:
            return Plan(len(self._given), len(self.everything))
        folds = count_folds(self.rules.cv, len(self.everything))
        if self.pilot is None or self.rules.seconds is None:
            return Plan(folds, len(self.everything))
        size = Size(len(self.everything), width(self._kinds), self.target.n_classes)
        return plan_of(size, folds, self.rules.seconds, self.pilot.seconds_a_row, may_change=self.rules.cv == "auto")

    def _stored_plan(self) -> Plan | None:
        """The plan of a study that is resumed; None of a new one."""
        if self.rules.storage is None:
            return None
        try:
            with contextlib.closing(open_journal(os.fspath(self.rules.storage), self.rules.name, write=False)) as journal:
                origin = (journal.header or {}).get("origin") or {}
        except ManyarmsError:
            return None
        return Plan(origin["folds"], origin["rows"]) if {"folds", "rows"} <= set(origin) else None

    def _candidates(self) -> dict[str, tuple[Family, Candidate]]:
        """With folds a step is the whole of them; with a holdout, what a family's training can be cut into."""
        rows = self.plan.rows - self.plan.rows // max(self.plan.folds, 5)
        found = families(self.rules.families, classes=self.target.n_classes, rows=rows, columns=width(self._kinds))
        found = {name: replace(family, estimator=self._knowing(family.estimator)) for name, family in found.items()}
        probabilities = self.target.n_classes > 0 and needs_probabilities(self.scorer, self.target)
        able = _able(found, probabilities, self.everything.weights is not None)
        if self.plan.folds > 1:
            return {name: (f, Candidate(f.estimator, _whole(f.resource), 1)) for name, f in able.items()}
        return {name: (f, Candidate(f.estimator, f.resource, f.max_steps)) for name, f in able.items()}

    def _knowing(self, pipeline: Any) -> Any:
        """A pipeline that need not inspect the columns again for each fold."""
        return clone(pipeline).set_params(prepare__kinds=self._kinds)

    def _study(self, data: str) -> Study:
        """A new one, or one that is resumed."""
        children = {
            name: AdaptiveMutantUCB(
                family.space, max_steps=candidate.max_steps, initial=_INITIAL, stop_turned=not candidate.is_partial
            )
            for name, (family, candidate) in self.candidates.items()
        }
        rules = self.rules
        origin = {"data": data, "metric": str(rules.scoring), "folds": self.plan.folds, "rows": self.plan.rows}
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
                setting = "scoring" if what == "metric" else what
                raise StudyMismatch(
                    f"Study {study.name!r} was started with other settings ({setting}). Use another storage or name.", setting=setting
                )
        return study

    def _chosen(self, data: Data) -> Data:
        """The rows that the search uses: all classes are among them."""
        if self.plan.rows >= len(data):
            return data
        order, _ = row_order(self._labels(data), len(data), self.study.seed % 2**32)
        return data.some(np.sort(order[: self.plan.rows]))

    def _training(self, data: Data, folds: Any = None) -> Training:
        weights, seed, classes = data.weights, self.study.seed, self.target.n_classes
        metadata = Metadata({} if weights is None else {"model__sample_weight": np.asarray(weights, dtype=float)}, {})
        shared = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="manyarms-"))) if self._in_processes else None
        return Training(
            {name: candidate for name, (_, candidate) in self.candidates.items()},
            data.table,
            data.target.values,
            folds or self._given or make_folds(self._labels(data), len(data), self.plan.folds, seed % 2**32),
            self.scorer,
            metadata=metadata,
            seed=seed % 2**31,
            keeps=True,
            quiet=True,
            shared=shared,
            outputs=partial(class_scores, classes=classes) if classes else _numbers,
        )

    @cached_property
    def refitting(self) -> Training:
        """Trains on all rows, for the end."""
        return self.training if self.data is self.everything else self._training(self.everything, folds=[((), ())])

    @property
    def _in_processes(self) -> bool:
        """Whether pulls run in other processes."""
        size = Size(self.plan.rows, width(self._kinds), self.target.n_classes)
        return self.rules.workers > 1 or (self.rules.seconds is not None and is_apart(size, self.rules.seconds))

    def run(self) -> None:
        """Search until the time, or the steps, are spent: in all runs of it together."""
        rules, study, timeout, runner = self.rules, self.study, None, None
        if rules.seconds is not None:
            reserve = _RETRAIN if self.plan.folds == 1 else _RESERVE if rules.ensemble else _RESERVE / 2
            timeout = (1 - reserve) * rules.seconds - self._elapsed() - study.counts.seconds / rules.workers
            if timeout <= 0:
                return
            self._until = self._clock() + timeout
            runner = self._limited(rules.seconds)
        with contextlib.suppress(NoResult):  # then another model stands in
            study.optimize(
                self.training,
                workers=rules.workers,
                timeout=timeout,
                verbose=int(rules.progress),
                callbacks=[self._watch],
                runner=runner,
                finish=False,
            )
        if study.interrupted:
            self._end = self._clock() + _ENDING

    def _limited(self, seconds: float) -> ProcessRunner | None:
        """Give pulls a limit that they keep by themselves and, where they run in other processes, one that is kept for them."""
        pull, late = max(_SHORTEST, _SHARE * seconds), self._until + max(_GRACE * seconds, _LEAST_GRACE)
        apart = self._in_processes
        self.training.limit = TimeLimit(pull, self._until, np.inf if apart else late, self._clock)
        return ProcessRunner(self.rules.workers, _PATIENCE * pull + _MOMENT, until=late) if apart else None

    def _watch(self, study: Study, outcome: Outcome) -> None:
        """Stop where nothing works, or where another pull like the last ones would not end in time."""
        self._lengths = [*self._lengths[1 - _LAST :], outcome.seconds]
        late = self._clock() + float(np.mean(self._lengths)) > self._until
        if late if study.counts.pulls else study.counts.failures >= _HOPELESS:
            study.stop()

    def left(self) -> float:
        """Seconds that are left of the time for all."""
        limit = np.inf if self.rules.seconds is None else self.rules.seconds - self._elapsed()
        return min(limit, self._end - self._clock())

    def pace(self, seconds: float) -> Pace:
        """So many seconds from now."""
        return Pace(self._clock() + seconds, self._clock)

    def _elapsed(self) -> float:
        return self._clock() - self._began

    def standin(self) -> tuple[Member, float]:
        """The model to use where none of the search was trained, and its score."""
        pilot = self.pilot
        if pilot is not None and pilot.member is not None and pilot.score is not None and pilot.score > self.baseline:
            return pilot.member, pilot.score
        return constant_member(self.target, self.everything.weights), self.baseline

    def ranked(self) -> list[int]:
        """The arms with models, the best first."""
        arms = self.study.counts.arms
        known = [id for id, record in arms.items() if record.best_reward is not None and not record.failed]
        return sorted(known, key=lambda id: (-(arms[id].best_reward or 0.0), id))

    def config(self, arm: int) -> Any:
        """What the arm is: the name of its family, and its parameters."""
        return self.study.counts.arms[arm].arm.config

    @cached_property
    def results(self) -> dict[int, ArmResult]:
        """What the journal says of each arm, once the contest is over."""
        return {result.arm: result for result in arm_results(self.study.journal.events())}

    def pulls(self) -> pd.DataFrame:
        """A row for each slice of training, in order, with the model family."""
        families = {id: record.arm.config["algorithm"] for id, record in self.study.counts.arms.items()}
        pulls = self.study.pulls_dataframe()
        numbers = {name: pulls[name].astype(float) for name in ("reward", "seconds")}
        return pulls.assign(family=pulls["arm"].map(families), **numbers)

    def leaderboard(self, weights: dict[int, float]) -> pd.DataFrame:
        """A row for each arm, the best first, with its weight in the ensemble; without any, one for what stands in."""
        if not self.ranked():
            member, score = self.standin()
            return pd.DataFrame([_row(1, member.family, [score], 1, 1, 0.0, member.arm, 1.0, {})])
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


def _numbers(model: Any, X: Any) -> Any:
    return model.predict(X)


def _whole(resource: str | None) -> str | None:
    """By what a training that is not cut into slices can be cut short; rows, which begin again each time, need no name."""
    return None if resource in ("n_samples", "partial_fit") else resource


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
        lacking = "probabilities, which the metric needs," if probabilities else "sample weights"
        raise ValueError(f"none of the families knows {lacking}: {', '.join(found)}")
    return able
