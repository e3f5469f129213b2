"""The study behind the Auto estimators: the model families share the training time."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from ...checkpoints import Checkpoints
from ...core import Outcome
from ...errors import ManyarmsError, NoResult, StudyMismatch
from ...journal import open_journal
from ...runners import ProcessRunner
from ...strategies import AdaptiveMutantUCB, Cascade, ExtremeUCB
from ...study.fingerprint import fingerprint
from ...study.study import Study
from ..training.candidate import Metadata
from ..training.fitting import row_order
from ..training.results import ArmResult, arm_results
from ..training.time_limit import Clock, Deadline, TimeLimit
from ..training.training import Training
from .candidates import make_candidates
from .constant import constant_member
from .ensemble import Member, class_scores
from .folds import count_folds, given_folds, make_folds
from .plan import Plan, Size, needs_process, plan_of, width
from .quick_model import QuickModel, fit_quick_model
from .scoring import baseline_of, scorer_of
from .settings import Data, Settings

_DISK = "2GB"  # largest size of the checkpoints
_INITIAL = 2  # random arms at the start of each family
_GREED = 150.0  # weight of the best score of a family: there are few pulls, and good families differ little
_RESERVE = 0.1  # share of the time for building the ensemble
_RETRAIN = 0.25  # share of the time for building the ensemble if its models are retrained on all rows
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
        kinds: What each column holds.
        settings: The settings.
        clock: Returns the time in seconds, the same in all processes.

    Attributes:
        all_data: All rows.
        data: The rows that the search uses.
        plan: The number of folds and rows of the search.
        quick_model: The quick model; None without a time limit.
    """

    def __init__(self, data: Data, kinds: Sequence[str], settings: Settings, clock: Clock = time.monotonic) -> None:
        self._clock, self._began, self._until, self._end = clock, clock(), np.inf, np.inf
        self.all_data, self.target, self.settings, self._kinds = data, data.target, settings, list(kinds)
        self.scorer = scorer_of(settings.scoring, data.target)
        self.baseline = baseline_of(self.scorer, data.target)
        numbered = isinstance(settings.cv, (str, int, np.integer))
        self._given = None if numbered else given_folds(settings.cv, self._labels(data), len(data))
        self.quick_model = None if settings.seconds is None else self._fit_quick_model()
        self.plan = self._plan()
        weighted = data.weights is not None
        self.candidates = make_candidates(settings.families, self._kinds, data.target, self.plan, self.scorer, weighted)
        self._lengths: list[float] = []  # durations of the last pulls
        self._open = contextlib.ExitStack()
        try:
            self.study = self._study(fingerprint(data.table, data.target.values, data.weights, self._given))
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
        columns = width(self._kinds)
        data = self.all_data
        return fit_quick_model(data.table, self._kinds, data.target, self.scorer, columns, self.settings.seed or 0, self._clock)

    def _plan(self) -> Plan:
        """The plan of a stored study; else one that fits the table and the time."""
        if (stored := self._stored_plan()) is not None:
            return stored
        if self._given is not None:
            return Plan(len(self._given), len(self.all_data))
        folds = count_folds(self.settings.cv, len(self.all_data))
        if self.quick_model is None or self.settings.seconds is None:
            return Plan(folds, len(self.all_data))
        size = Size(len(self.all_data), width(self._kinds), self.target.n_classes)
        return plan_of(
            size, folds, self.settings.seconds, self.quick_model.seconds_per_row, may_change=self.settings.cv == "auto"
        )

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
        """A new study, or one that is resumed."""
        children = {
            name: AdaptiveMutantUCB(
                family.space, max_steps=candidate.max_steps, initial=_INITIAL, stop_turned=not candidate.is_partial
            )
            for name, (family, candidate) in self.candidates.items()
        }
        settings = self.settings
        origin = {"data": data, "metric": str(settings.scoring), "folds": self.plan.folds, "rows": self.plan.rows}
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
                setting = "scoring" if what == "metric" else what
                raise StudyMismatch(
                    f"Study {study.name!r} was started with other settings ({setting}). Use another storage or name.",
                    setting=setting,
                )
        return study

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
        )

    @cached_property
    def refitting(self) -> Training:
        """Trains the final models on all rows."""
        return self.training if self.data is self.all_data else self._training(self.all_data, folds=[((), ())])

    @property
    def _in_processes(self) -> bool:
        """Whether pulls run in other processes."""
        size = Size(self.plan.rows, width(self._kinds), self.target.n_classes)
        return self.settings.workers > 1 or (self.settings.seconds is not None and needs_process(size, self.settings.seconds))

    def run(self) -> None:
        """Search until the time or the steps are spent, over all runs together."""
        settings, study, timeout, runner = self.settings, self.study, None, None
        if settings.seconds is not None:
            reserve = _RETRAIN if self.plan.folds == 1 else _RESERVE if settings.ensemble else _RESERVE / 2
            timeout = (1 - reserve) * settings.seconds - self._elapsed() - study.counts.seconds / settings.workers
            if timeout <= 0:
                return
            self._until = self._clock() + timeout
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
        apart = self._in_processes
        self.training.limit = TimeLimit(pull, self._until, np.inf if apart else late, self._clock)
        return ProcessRunner(self.settings.workers, _PATIENCE * pull + _MOMENT, until=late) if apart else None

    def _watch(self, study: Study, outcome: Outcome) -> None:
        """Stop if every pull fails, or if another pull like the last ones would not end in time."""
        self._lengths = [*self._lengths[1 - _LAST :], outcome.seconds]
        late = self._clock() + float(np.mean(self._lengths)) > self._until
        if late if study.counts.pulls else study.counts.failures >= _HOPELESS:
            study.stop()

    def left(self) -> float:
        """Seconds left for everything."""
        limit = np.inf if self.settings.seconds is None else self.settings.seconds - self._elapsed()
        return min(limit, self._end - self._clock())

    def deadline_in(self, seconds: float) -> Deadline:
        """A deadline in this many seconds."""
        return Deadline(self._clock() + seconds, self._clock)

    def _elapsed(self) -> float:
        return self._clock() - self._began

    def fallback(self) -> tuple[Member, float]:
        """The model to use if the search has trained none, and its score."""
        quick_model = self.quick_model
        if (
            quick_model is not None
            and quick_model.member is not None
            and quick_model.score is not None
            and quick_model.score > self.baseline
        ):
            return quick_model.member, quick_model.score
        return constant_member(self.target, self.all_data.weights), self.baseline

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


def _numbers(model: Any, X: Any) -> Any:
    return model.predict(X)
