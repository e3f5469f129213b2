"""The study that the Auto estimators run: the model families share the training time."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from ...checkpoints import Checkpoints
from ...core import Outcome
from ...errors import ManyarmsError, NoResult, StudyMismatch
from ...journal import Event, open_journal
from ...runners import ProcessRunner
from ...strategies import AdaptiveMutantUCB, Cascade, ExtremeUCB
from ...study.fingerprint import fingerprint, without_addresses
from ...study.study import Study
from ..training.candidate import Metadata
from ..training.fitting import row_order
from ..training.results import ArmResult, arm_results
from ..training.time_limit import Clock, Deadline, TimeLimit
from ..training.training import Training, is_builtin
from .candidates import BOOSTING_FACTOR, make_candidates
from .column_kinds import NUMBER
from .constant import Baseline, constant_baseline, constant_member
from .conversions import column_formats, words_of
from .ensemble import Member, class_scores
from .folds import count_folds, given_folds, make_folds
from .plan import Columns, Plan, Size, needs_process, plan_of, retrain_seconds, width
from .quick_model import QuickModel, fit_quick_model
from .scoring import checked_constant_score, score_of, scorer_of
from .settings import Data, Settings
from .sparse_tables import stored_per_row
from .targets import Target

_DISK = "2GB"  # largest size of the checkpoints
_INITIAL = 2  # random arms at the start of each family
_GREED = 150.0  # weight of the best score of a family: there are few pulls, and good families differ little
_RESERVE = 0.1  # share of the time for building the ensemble
_RETRAIN = 0.5  # largest share of the time for retraining the best model on all rows
_AFTER = 0.05  # share of the time for the rest of building the ensemble
_WORTHWHILE = 0.1  # share of the time that is enough for another pull
_SHARE, _SHORTEST = 0.1, 2.0  # time limit of a pull: share of the time, and at least in seconds
_PATIENCE, _MOMENT = 2.0, 2.0  # factor of that limit, and extra seconds, after which a pull is killed
_GRACE, _LEAST_GRACE = 0.03, 0.5  # share of the time, and at least in seconds, for the last pulls to finish
_LAST = 5  # pulls whose durations predict that of the next
_HOPELESS = 50  # failures without a success, after which the search stops
_ENDING = 0.5  # seconds for building the ensemble after Ctrl-C


class AutoStudy:
    """A study over the model families for one table. Close it after use.

    Args:
        data: The rows.
        kinds: Kind of each column.
        settings: The settings.
        clock: Returns the time in seconds. It must be the same clock in all processes.

    Attributes:
        all_data: All rows.
        data: The rows that the search uses.
        plan: The number of folds and rows of the search.
        quick_model: The quick model; None without a time limit.
    """

    def __init__(self, data: Data, kinds: Sequence[str], settings: Settings, clock: Clock = time.monotonic) -> None:
        self._clock, self._began, self._until, self._end = clock, clock(), np.inf, np.inf
        self._latest, self._best = np.inf, (-np.inf, 0.0)  # end of the search at the latest; reward and time of the best pull
        self.all_data, self.target, self.settings = data, data.target, settings
        sparse = data.sparse_columns
        numeric = [] if sparse else [place for place, kind in enumerate(kinds) if kind == NUMBER]
        formats = column_formats(data.table, numeric)
        self.columns = Columns(list(kinds), stored_per_row(data.table) if sparse else width(kinds), sparse, formats)
        self.scorer = scorer_of(settings.scoring, data.target)
        self._constant_score = checked_constant_score(self.scorer, data.target)
        numbered = isinstance(settings.cv, (str, int, np.integer))
        self._given = None if numbered else given_folds(settings.cv, self._labels(data), len(data))
        self.quick_model = None if settings.seconds is None else self._fit_quick_model()
        self.plan = self._plan()
        weighted = data.weights is not None
        self.candidates = make_candidates(settings.families, self.columns, data.target, self.plan, self.scorer, weighted)
        self._lengths: list[float] = []  # durations of the most recent pulls
        self._open = contextlib.ExitStack()
        try:
            self.study = self._study(self._fingerprint())
            self.data = self._sample(data)
            self.training = self._training(self.data)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the storage, and delete temporary models."""
        self._open.close()

    @staticmethod
    def _labels(data: Data) -> Any:
        return data.target.values if data.target.n_classes else None

    def _fit_quick_model(self) -> QuickModel:
        data, columns = self.all_data, self.columns
        seed = self.settings.seed or 0
        return fit_quick_model(data.table, columns.kinds, data.target, self.scorer, columns.width, seed, self._clock)

    def _plan(self) -> Plan:
        """The plan of the stored study or, for a new study, a plan that fits the table and the time."""
        if (stored := self._stored_plan()) is not None:
            if isinstance(self.settings.cv, (int, np.integer)) and self.settings.cv != stored.folds:
                raise self._mismatch("cv")
            return stored
        if self._given is not None:
            return Plan(len(self._given), len(self.all_data))
        folds = count_folds(self.settings.cv, len(self.all_data))
        if self.settings.cv == "auto" and self.target.n_classes == 2:  # both classes in each fold, which ROC AUC needs
            folds = min(folds, max(2, int(np.bincount(self.target.values).min())))
        if self.quick_model is None or self.settings.seconds is None:
            return Plan(folds, len(self.all_data))
        size = Size(len(self.all_data), self.columns.width, self.target.n_classes)
        return plan_of(
            size, folds, self.settings.seconds, self.quick_model.seconds_per_row, may_change=self.settings.cv == "auto"
        )

    def _fingerprint(self) -> str:
        """The fingerprint of the data. Values that cannot be hashed, such as lists, count as text."""
        data = self.all_data
        rest = data.target.values, data.weights, self._given
        try:
            return fingerprint(data.table, *rest)
        except (TypeError, NotImplementedError):
            return fingerprint(data.table.apply(words_of), *rest)

    def _stored_plan(self) -> Plan | None:
        """The plan of a study that is resumed; None for a new study."""
        if self.settings.storage is None:
            return None
        try:
            with contextlib.closing(open_journal(os.fspath(self.settings.storage), self.settings.name, write=False)) as journal:
                origin = (journal.header or {}).get("origin") or {}
        except ManyarmsError:
            return None
        return Plan(origin["folds"], origin["rows"]) if {"folds", "rows"} <= set(origin) else None

    def _study(self, data: str) -> Study:
        """A new or resumed study."""
        children = {
            name: AdaptiveMutantUCB(
                family.space, max_steps=candidate.max_steps, initial=_INITIAL, stop_turned=not candidate.is_partial
            )
            for name, (family, candidate) in self.candidates.items()
        }
        settings = self.settings
        metric = without_addresses(str(settings.scoring))
        origin = {"data": data, "metric": metric, "folds": self.plan.folds, "rows": self.plan.rows}
        origin["columns"] = fingerprint(self.columns.kinds)
        study = Study(
            Cascade(children, ExtremeUCB(gamma=_GREED), budget=settings.steps, seed=settings.seed),
            storage=settings.storage,
            name=settings.name,
            checkpoints=Checkpoints(max_bytes=_DISK),
            origin=origin,
        )
        self._open.callback(study.close)
        for what, value in (study.header.get("origin") or {}).items():
            if origin.get(what) != value:
                raise self._mismatch("scoring" if what == "metric" else what)
        return study

    def _mismatch(self, setting: str) -> StudyMismatch:
        return StudyMismatch(
            f"Study {self.settings.name!r} was started with different settings ({setting}). Use another storage or name.",
            setting=setting,
        )

    def _sample(self, data: Data) -> Data:
        """The rows that the search uses. They include every class."""
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
            output_score=partial(_output_score, scorer=self.scorer, target=data.target) if is_builtin(self.scorer) else None,
        )

    @cached_property
    def refitting(self) -> Training:
        """Trains the final models on all rows."""
        return self.training if self.data is self.all_data else self._training(self.all_data, folds=[((), ())])

    @property
    def _in_processes(self) -> bool:
        """Whether pulls run in other processes."""
        size = Size(self.plan.rows, self.columns.width, self.target.n_classes)
        return self.settings.workers > 1 or (self.settings.seconds is not None and needs_process(size, self.settings.seconds))

    def run(self) -> None:
        """Search until the time or the steps are spent. Both are totals over all runs, with any number of workers."""
        settings, study, timeout, runner = self.settings, self.study, None, None
        if settings.seconds is not None:
            reserve = _RESERVE if settings.ensemble or self.plan.folds == 1 else _RESERVE / 2
            timeout = (1 - reserve) * settings.seconds - self._elapsed() - training_time(study.journal.events())
            if timeout <= 0:
                return
            self._until = self._latest = self._clock() + timeout
            runner = self._limited(settings.seconds)
        with contextlib.suppress(NoResult):  # the fallback model is used instead
            study.optimize(
                self.training,
                workers=settings.workers if runner is None else 1,  # otherwise the runner decides
                timeout=timeout,
                verbose=int(settings.progress),
                callbacks=[self._watch],
                runner=runner,
                finish=False,
            )
        if study.interrupted:
            self._end = self._clock() + _ENDING

    def _limited(self, seconds: float) -> ProcessRunner | None:
        """Set the time limit of pulls. If they run in other processes, return a runner that kills them if they exceed it."""
        pull, late = max(_SHORTEST, _SHARE * seconds), self._until + max(_GRACE * seconds, _LEAST_GRACE)
        apart, longest = self._in_processes, pull * (BOOSTING_FACTOR if self.plan.folds == 1 else 1.0)
        self.training.limit = TimeLimit(pull, self._until, np.inf if apart else late, self._clock)
        return ProcessRunner(self.settings.workers, _PATIENCE * longest + _MOMENT, until=late) if apart else None

    def _watch(self, study: Study, outcome: Outcome) -> None:
        """Stop if every pull fails, or if there is no time for another one. Pulls are cut short, so a short time is enough."""
        self._lengths = [*self._lengths[1 - _LAST :], outcome.seconds]
        if outcome.reward is not None and outcome.reward > self._best[0]:
            self._best = outcome.reward, outcome.seconds
        if self.settings.seconds is not None and self.plan.folds == 1:
            self._leave_time_to_retrain(self.settings.seconds)
        short = np.inf if self.settings.seconds is None else _WORTHWHILE * self.settings.seconds
        late = self._clock() + min(float(np.mean(self._lengths)), short) > self._until
        if late if study.counts.pulls else study.counts.failures >= _HOPELESS:
            study.stop()

    def _leave_time_to_retrain(self, seconds: float) -> None:
        """End the search in time to retrain the best model on all rows, unless that takes too long."""
        needed = retrain_seconds(self._best[1], self.growth)
        reserve = max(_RESERVE * seconds, needed + _AFTER * seconds if needed <= _RETRAIN * seconds else 0.0)
        self._until = min(self._latest, self._began + seconds - reserve)
        self.training.limit = replace(self.training.limit, until=self._until)  # for pulls in this process

    @property
    def growth(self) -> float:
        """How many times as many rows there are in total as the search trains on."""
        return len(self.all_data) / max(1, len(self.training.folds[0][0]))

    def left(self) -> float:
        """Seconds left in total."""
        limit = np.inf if self.settings.seconds is None else self.settings.seconds - self._elapsed()
        return min(limit, self._end - self._clock())

    def deadline_in(self, seconds: float) -> Deadline:
        """A deadline this many seconds from now."""
        return Deadline(self._clock() + seconds, self._clock)

    def _elapsed(self) -> float:
        return self._clock() - self._began

    @cached_property
    def baseline(self) -> Baseline:
        """The constant baseline, scored on the folds of the search; on all rows if the folds cannot be scored."""
        with contextlib.suppress(ValueError), warnings.catch_warnings(action="ignore"):  # a class is missing in a fold, say
            found = constant_baseline(self.data.target, self.training.folds, self.data.weights, self.scorer)
            if np.isfinite(found.score):
                return found
        return Baseline(self._constant_score, [self._constant_score])

    def constant(self) -> tuple[Member, float]:
        """The model that gives every row the same prediction, and its score."""
        return constant_member(self.target, self.all_data.weights), self.baseline.score

    def fallback(self) -> tuple[Member, float]:
        """The model to use if the search trained none, and its score."""
        quick_model = self.quick_model
        if (
            quick_model is not None
            and quick_model.member is not None
            and quick_model.score is not None
            and quick_model.score > self.baseline.score
        ):
            return quick_model.member, quick_model.score
        return self.constant()

    def ranked(self) -> list[int]:
        """The arms with models, the best first."""
        arms = self.study.counts.arms
        known = [id for id, record in arms.items() if record.best_reward is not None and not record.failed]
        return sorted(known, key=lambda id: (-(arms[id].best_reward or 0.0), id))

    def config(self, arm: int) -> Any:
        """The config of an arm: its family and its parameters."""
        return self.study.counts.arms[arm].arm.config

    @cached_property
    def results(self) -> dict[int, ArmResult]:
        """The result of each arm in the journal, after the search."""
        return {result.arm: result for result in arm_results(self.study.journal.events())}


def training_time(events: Iterable[Event]) -> float:
    """The seconds during which at least one pull was running, however many ran at the same time."""
    ends = [(event.data["ended"], event.seconds or 0.0) for event in events if "ended" in event.data]
    total, until = 0.0, -np.inf
    for begin, end in sorted((ended - seconds, ended) for ended, seconds in ends):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def _output_score(output: Any, rows: Any, scorer: Any, target: Target) -> float | None:
    """The score of predictions; None for the scores of a classifier that predicts no probabilities."""
    if not target.n_classes:
        return score_of(output, scorer, target, rows)
    scores, are_probabilities = output
    return score_of(scores, scorer, target, rows) if are_probabilities else None


def _numbers(model: Any, X: Any) -> Any:
    return model.predict(X)
