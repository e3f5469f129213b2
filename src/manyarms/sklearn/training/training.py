"""The function of a study over estimators: one pull trains a candidate a slice further, on every fold, and scores it."""

from __future__ import annotations

import contextlib
import math
import pickle
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from ...runners import PullsAbandoned
from .alarm import abandoned_at
from .candidate import FOLDS, NO_METADATA, Candidate, Metadata, divided, fit_params, joined, split, written
from .pace import NO_LIMIT, UNLIMITED, Pace, TimeLimit
from .prepared_folds import Fold, Preparations
from .slices import Rows, Slices, Span

TIMES = ("fit_time", "score_time")
_RECENT = 50_000_000  # bytes of models in training that are kept


@dataclass(slots=True)
class Trained:
    """What pulls save of an arm: the models of the folds (of pipelines, their last steps), and what was told of them.

    Attributes:
        outputs: What the models say of the rows held out, by fold, where that is kept.
        size: bytes of the models when they were last saved.
    """

    models: dict[int, Any] = field(default_factory=dict)
    told: dict[str, float] = field(default_factory=dict)
    outputs: dict[int, Any] = field(default_factory=dict)
    size: int = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """By plain pickle where that will do: cloudpickle takes several times as long for many trees."""
        models = written(self.models)
        self.size = len(models)
        return _read, (models, self.told, self.outputs)


def _read(models: bytes, told: dict[str, float], outputs: dict[int, Any]) -> Trained:
    return Trained(pickle.loads(models), told, outputs)


class Training:
    """Trains candidates on folds, a slice at a time. Workers get it once, with the data.

    Args:
        candidates: by name, where configs are those of a `Cascade`; or one for all configs.
        X, y: the data.
        folds: rows to train on and rows to score, for each fold.
        scorer: called with an estimator, X and y: gives a number, or a dict of numbers by metric.
        metric: the one that is the reward, where there are several; the first if none has this name.
        metadata: sample weights and the like.
        seed: of all models that have none, so that only their parameters make the difference; None leaves them so.
        train_scores: also score the rows trained on.
        keeps: also save models that are trained to the end.
        quiet: no warnings of any kind, and no checks of what is right already.
        limit: The time that pulls have.
        shared: Where to keep what another process needs to use the models: fitted preparations, and `outputs` in the states.
        outputs: Called with a model and the rows held out, as prepared: what it says of them.
    """

    def __init__(
        self,
        candidates: Mapping[str, Candidate] | Candidate,
        X: Any,
        y: Any,
        folds: Sequence[tuple[Any, Any]],
        scorer: Any,
        *,
        metric: str = "score",
        metadata: Metadata = NO_METADATA,
        seed: int | None = None,
        train_scores: bool = False,
        keeps: bool = False,
        quiet: bool = False,
        limit: TimeLimit = NO_LIMIT,
        shared: Path | None = None,
        outputs: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        self.candidates, self.X, self.y, self.folds = candidates, X, y, list(folds)
        self.scorer, self.metric, self.metadata, self.seed = scorer, metric, metadata, seed
        self._train_scores, self._keeps, self._quiet = train_scores, keeps, quiet
        self.limit, self._shared, self._outputs = limit, shared, outputs
        self.preparations = Preparations(X, y, self.folds, metadata, shared)
        self._recent: OrderedDict[tuple[int, int], Trained] = OrderedDict()  # by arm and steps

    def __call__(self, pull: Any) -> dict[str, float]:
        """One slice of training, and what came of it: the reward, and all that `cv_results_` tells."""
        candidate, params = self.read(pull.config)
        estimator = candidate.with_params(params, self.seed)
        slices = candidate.slices(estimator, self.seed or 0)
        by_fold = candidate.resource == FOLDS
        goes_on = by_fold or slices.continues
        state = self._state(pull) if goes_on else Trained()
        span = Span(0, 1, 1) if by_fold else Span(pull.start, pull.stop, candidate.max_steps)
        times: dict[str, float] = {}
        numbers = range(pull.start, pull.stop) if by_fold else range(len(self.folds))
        part, stop = _Part(candidate, estimator, slices, span), self.limit.stop()
        with _calm(self._quiet), abandoned_at(self.limit.end, self.limit.clock):
            for done, number in enumerate(numbers):
                if self.limit.clock() >= self.limit.end:
                    raise PullsAbandoned
                began = time.perf_counter()
                fold = self.preparations.fold(number, estimator, candidate)
                pace = self.limit.pace(stop, len(numbers) - done)
                model, told = self._advance(fold, part, state.models.get(number), pace, began)
                state.models[number] = model
                if self._shared is not None and self._outputs is not None:
                    state.outputs[number] = self._outputs(model, fold.X_test)
                times |= {f"split{number}_{name}": told.pop(name) for name in TIMES}
                state.told |= {f"split{number}_{name}": value for name, value in told.items()}
        unfinished = goes_on and pull.stop < candidate.max_steps
        if self._keeps or unfinished:
            pull.save(state)
        if unfinished:
            self._remember(pull, state)
        return {"reward": self._reward(state), **state.told, **times}

    def _state(self, pull: Any) -> Trained:
        """What the arm's last pull left: as it is still here, or as it was saved. What is here is given out once only."""
        return self._recent.pop((pull.arm.id, pull.start), None) or pull.load() or Trained()

    def _remember(self, pull: Any, state: Trained) -> None:
        """Keep what was just saved, as long as it is little: reading it again would cost as much as some of the training."""
        self._recent[pull.arm.id, pull.stop] = state
        while sum(known.size for known in self._recent.values()) > _RECENT:
            self._recent.popitem(last=False)

    def _reward(self, state: Trained) -> float:
        """The mean of the metric over the folds that are trained."""
        first, found = next(iter(state.models)), {name.partition("_test_")[2]: None for name in state.told if "_test_" in name}
        metric = self.metric if f"split{first}_test_{self.metric}" in state.told else next(iter(found))
        return float(np.mean([state.told[f"split{number}_test_{metric}"] for number in state.models]))

    def read(self, config: Any) -> tuple[Candidate, dict[str, Any]]:
        """The candidate that a config is of, and its parameters."""
        if isinstance(self.candidates, Mapping):
            candidate = self.candidates[config["algorithm"]]
            return candidate, candidate.reads(config["config"])
        return self.candidates, self.candidates.reads(config)

    def params(self, config: Any, steps: int) -> dict[str, Any]:
        """What `set_params` would say of a config's estimator after so many steps: its parameters, and what it has had."""
        candidate, params = self.read(config)
        estimator = candidate.with_params(params, self.seed)
        step = split(estimator)[2]
        spent = candidate.slices(estimator, self.seed or 0).spent(steps, candidate.max_steps)
        return params | {name if step is None else f"{step}__{name}": value for name, value in spent.items()}

    def is_final(self, config: Any, steps: int) -> bool:
        """Whether what was scored after so many steps is what `refit` makes: where rows or folds grow, only at the end."""
        candidate, params = self.read(config)
        if steps >= candidate.max_steps:
            return True
        slices = candidate.slices(candidate.with_params(params, self.seed), self.seed or 0)
        return candidate.resource != FOLDS and not isinstance(slices, Rows)

    def refit(self, config: Any, steps: int, pace: Pace = UNLIMITED) -> Any:
        """The estimator of a config trained on all rows, by the same slices, to so many steps or as far as the time allows."""
        candidate, params = self.read(config)
        estimator = candidate.with_params(params, self.seed)
        first, last, _ = split(estimator)
        with _calm(self._quiet):
            rest, own = divided(estimator, fit_params(candidate, self.metadata))
            X = self.X if first is None else first.fit_transform(self.X, self.y, **rest)
            slices = candidate.slices(estimator, self.seed or 0)
            steps = candidate.max_steps if isinstance(slices, Rows) else steps  # all rows are all rows
            before = {name: value for name, value in last.get_params(deep=False).items() if name == "warm_start"}
            slices.advance(last, X, self.y, Span(0, steps, candidate.max_steps), own, pace)
            last.set_params(**before)  # a fit of the user's begins again
        return joined(first, last, estimator)

    def held_out(self, config: Any, state: Trained, predict: Callable[[Any, Any], Any]) -> list[Any]:
        """What the models of an arm's state say of the rows they were not trained on, fold by fold."""
        candidate, params = self.read(config)
        estimator = candidate.with_params(params, self.seed)
        with _calm(self._quiet):
            return [
                state.outputs[number]
                if number in state.outputs
                else predict(model, self.preparations.fold(number, estimator, candidate).X_test)
                for number, model in state.models.items()
            ]

    def models(self, config: Any, state: Trained) -> list[Any]:
        """The fitted estimators of an arm's state, one a fold."""
        candidate, params = self.read(config)
        estimator = candidate.with_params(params, self.seed)
        with _calm(self._quiet):
            return [
                joined(self.preparations.first(i, estimator, candidate), model, estimator) for i, model in state.models.items()
            ]

    def _advance(self, fold: Fold, part: _Part, model: Any, pace: Pace, began: float) -> tuple[Any, dict[str, float]]:
        """The model of a fold, trained on, and its times and scores."""
        model = clone(split(part.estimator)[1]) if model is None else model
        part.slices.advance(model, fold.X_train, fold.y_train, part.span, fold.fit_params, pace)
        fitted = time.perf_counter()
        told = self._scores("test", model, fold, part.estimator)
        scored = time.perf_counter()
        if self._train_scores:
            told |= self._scores("train", model, fold, part.estimator)
        return model, {"fit_time": fitted - began, "score_time": scored - fitted, **told}

    def _scores(self, which: str, model: Any, fold: Fold, estimator: Any) -> dict[str, float]:
        """By metric. A scorer of scikit-learn's gets the last step and prepared rows, any other the whole estimator."""
        rows = self.folds[fold.number][which == "test"]
        X, y = (fold.X_test, fold.y_test) if which == "test" else (fold.X_train, fold.y_train)
        if fold.first is not None and not is_own(self.scorer):
            X, model = _rows(self.X, rows), joined(fold.first, model, estimator)
        score_params = _check_method_params(self.X, self.metadata.score, indices=rows)
        scores = self.scorer(model, X, **score_params) if y is None else self.scorer(model, X, y, **score_params)
        named = scores if isinstance(scores, Mapping) else {"score": scores}
        return {f"{which}_{name}": self._number(name, score) for name, score in named.items()}

    def _number(self, metric: str, score: Any) -> float:
        """A score; NaN for a metric beside the reward that failed, of which there is a traceback instead."""
        if not isinstance(score, str):
            return float(score)
        if metric == self.metric:
            raise ValueError(f"scoring {metric!r} failed: {score.strip().splitlines()[-1]}")
        return math.nan

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be loaded again."""
        return {**vars(self), "_recent": OrderedDict()}


@dataclass(frozen=True, slots=True)
class _Part:
    """What a pull does, on every fold."""

    candidate: Candidate
    estimator: Any
    slices: Slices
    span: Span


def is_own(scorer: Any) -> bool:
    """Whether a scorer is scikit-learn's, which asks a model for predictions only; or several, all of which are."""
    several = getattr(scorer, "_scorers", None)
    if isinstance(several, Mapping):
        return all(map(is_own, several.values()))
    return hasattr(scorer, "_accept_sample_weight")


def _rows(data: Any, rows: Any) -> Any:
    return None if data is None else _safe_indexing(data, rows)


@contextlib.contextmanager
def _calm(quiet: bool) -> Iterator[None]:
    """Without the warning that every slice but the last would give: that training has not converged."""
    with warnings.catch_warnings(), contextlib.ExitStack() as stack:
        warnings.simplefilter("ignore", ConvergenceWarning)
        if quiet:
            warnings.simplefilter("ignore")
            stack.enter_context(config_context(assume_finite=True, skip_parameter_validation=True))
            stack.enter_context(np.errstate(all="ignore"))
        yield
