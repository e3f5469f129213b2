"""The function of a study over estimators: one pull trains a candidate a slice further, on every fold, and scores it."""

from __future__ import annotations

import contextlib
import copy
import math
import pickle
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import cloudpickle
import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import _routing_enabled, get_routing_for_object, process_routing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params

from .slices import Rows, Slices, Span, fresh, slices_of

TIMES = ("fit_time", "score_time")
FOLDS = "folds"
_PREPARED = 4  # preparations of the whole data that are kept
_RECENT = 50_000_000  # bytes of models in training that are kept


@dataclass(frozen=True, slots=True)
class Candidate:
    """An estimator whose parameters are searched, and how its trainings are cut.

    Args:
        estimator: not fitted; a pipeline is trained on at its last step.
        resource: as for `slices_of`; in a pipeline a parameter's name has the step before it. Or "folds": a step is the whole
            training on one fold more, and the reward the mean of those so far.
        max_steps: of a full training.
        reads: gives the parameters of a config.
        fit_params: arguments of `fit` that only this one gets; None for those that all do.
    """

    estimator: Any
    resource: str | None = "auto"
    max_steps: int = 10
    reads: Callable[[Any], dict[str, Any]] = dict
    fit_params: Mapping[str, Any] | None = None

    def with_params(self, params: Mapping[str, Any], seed: int | None) -> Any:
        """The estimator of a config, not fitted."""
        return fresh(self.estimator, params, seed)

    def slices(self, estimator: Any, seed: int = 0) -> Slices:
        """How it is trained."""
        _, last, step = split(estimator)
        resource = None if self.resource == FOLDS else self.resource
        if step is not None and resource is not None and resource.startswith(f"{step}__"):
            resource = resource.removeprefix(f"{step}__")
        return slices_of(last, resource, seed)


@dataclass(frozen=True, slots=True)
class Metadata:
    """What goes with the rows: arguments of `fit` and of the scorer, whole; those as long as the rows are cut with them."""

    fit: Mapping[str, Any]
    score: Mapping[str, Any]


NO_METADATA = Metadata({}, {})


@dataclass(slots=True)
class Trained:
    """What pulls save of an arm: the models of the folds (of pipelines, their last steps), and what was told of them.

    Attributes:
        size: bytes of the models when they were last saved.
    """

    models: dict[int, Any] = field(default_factory=dict)
    told: dict[str, float] = field(default_factory=dict)
    size: int = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """By plain pickle where that will do: cloudpickle takes several times as long for many trees."""
        written = _written(self.models)
        self.size = len(written)
        return _read, (written, self.told)


def _read(models: bytes, told: dict[str, float]) -> Trained:
    return Trained(pickle.loads(models), told)


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
    ) -> None:
        self.candidates, self.X, self.y, self.folds = candidates, X, y, list(folds)
        self.scorer, self.metric, self.metadata, self.seed = scorer, metric, metadata, seed
        self._train_scores, self._keeps, self._quiet = train_scores, keeps, quiet
        self._prepared: OrderedDict[tuple[int, bytes], _Fold] = OrderedDict()
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
        with _calm(self._quiet):
            for number in range(pull.start, pull.stop) if by_fold else range(len(self.folds)):
                model, told = self._advance(number, candidate, estimator, slices, state.models.get(number), span)
                state.models[number] = model
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
        return self._recent.pop((pull.arm, pull.start), None) or pull.load() or Trained()

    def _remember(self, pull: Any, state: Trained) -> None:
        """Keep what was just saved, as long as it is little: reading it again would cost as much as some of the training."""
        self._recent[pull.arm, pull.stop] = state
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

    def refit(self, config: Any, steps: int) -> Any:
        """The estimator of a config trained on all rows, by the same slices, to so many steps."""
        candidate, params = self.read(config)
        estimator = candidate.with_params(params, self.seed)
        first, last, _ = split(estimator)
        with _calm(self._quiet):
            rest, own = _divided(estimator, self._fit_params(candidate))
            X = self.X if first is None else first.fit_transform(self.X, self.y, **rest)
            slices = candidate.slices(estimator, self.seed or 0)
            steps = candidate.max_steps if isinstance(slices, Rows) else steps  # all rows are all rows
            before = {name: value for name, value in last.get_params(deep=False).items() if name == "warm_start"}
            slices.advance(last, X, self.y, Span(0, steps, candidate.max_steps), own)
            last.set_params(**before)  # a fit of the user's begins again
        return joined(first, last, estimator)

    def _fit_params(self, candidate: Candidate) -> Mapping[str, Any]:
        return self.metadata.fit if candidate.fit_params is None else candidate.fit_params

    def held_out(self, config: Any, state: Trained, predict: Callable[[Any, Any], Any]) -> list[Any]:
        """What the models of an arm's state say of the rows they were not trained on, fold by fold."""
        candidate, params = self.read(config)
        estimator = candidate.with_params(params, self.seed)
        with _calm(self._quiet):
            return [predict(model, self._fold(number, estimator, candidate).X_test) for number, model in state.models.items()]

    def models(self, config: Any, state: Trained) -> list[Any]:
        """The fitted estimators of an arm's state, one a fold."""
        candidate, params = self.read(config)
        estimator = candidate.with_params(params, self.seed)
        with _calm(self._quiet):
            return [joined(self._fold(i, estimator, candidate).first, model, estimator) for i, model in state.models.items()]

    def _advance(
        self, number: int, candidate: Candidate, estimator: Any, slices: Slices, model: Any, span: Span
    ) -> tuple[Any, dict[str, float]]:
        """The model of a fold, trained on, and its times and scores."""
        began = time.perf_counter()
        fold = self._fold(number, estimator, candidate)
        model = clone(split(estimator)[1]) if model is None else model
        slices.advance(model, fold.X_train, fold.y_train, span, fold.fit_params)
        fitted = time.perf_counter()
        told = self._scores("test", model, fold, estimator)
        scored = time.perf_counter()
        if self._train_scores:
            told |= self._scores("train", model, fold, estimator)
        return model, {"fit_time": fitted - began, "score_time": scored - fitted, **told}

    def _scores(self, which: str, model: Any, fold: _Fold, estimator: Any) -> dict[str, float]:
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

    def _fold(self, number: int, estimator: Any, candidate: Candidate) -> _Fold:
        """The rows of a fold as the last step of the estimator gets them: prepared once for all arms that prepare alike."""
        first, _, _ = split(estimator)
        key = (
            number,
            (b"" if first is None else _written(first)) + (b"" if candidate.fit_params is None else _written(candidate)),
        )
        if (known := self._prepared.get(key)) is not None:
            self._prepared.move_to_end(key)
            return known
        fold = self._prepared[key] = self._make_fold(number, first, estimator, candidate)
        if len(self._prepared) > _PREPARED * len(self.folds):
            self._prepared.popitem(last=False)
        return fold

    def _make_fold(self, number: int, first: Any, estimator: Any, candidate: Candidate) -> _Fold:
        train, test = self.folds[number]
        X_train, y_train = _safe_split(estimator, self.X, self.y, train)
        X_test, y_test = _safe_split(estimator, self.X, self.y, test, train)  # of a precomputed kernel, the columns of `train`
        rest, own = _divided(estimator, _check_method_params(self.X, self._fit_params(candidate), indices=train))
        if first is not None:
            first = clone(first)  # fitted for this fold alone
            X_train, X_test = first.fit_transform(X_train, y_train, **rest), first.transform(X_test)
        return _Fold(number, first, X_train, y_train, X_test, y_test, own)

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be prepared or loaded again."""
        return {**vars(self), "_prepared": OrderedDict(), "_recent": OrderedDict()}


@dataclass(frozen=True, slots=True)
class _Fold:
    """The rows of a fold, prepared by the fitted first steps of a pipeline."""

    number: int
    first: Any
    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any
    fit_params: Mapping[str, Any]


def split(estimator: Any) -> tuple[Any, Any, str | None]:
    """The first steps of a pipeline (None if it is none), what is trained on, and the name of that step."""
    if type(estimator) is not Pipeline or len(estimator.steps) < 2 or not hasattr(estimator.steps[-1][1], "fit"):
        return None, estimator, None
    if getattr(estimator, "transform_input", None) is not None:
        return None, estimator, None
    name, last = estimator.steps[-1]
    return Pipeline(estimator.steps[:-1], memory=estimator.memory), last, name


def joined(first: Any, last: Any, estimator: Any) -> Any:
    """The estimator of which `split` gave the parts."""
    if first is None:
        return last
    whole = copy.copy(estimator)  # what else was set of the pipeline stays: its output, its requests
    whole.steps = [*first.steps, (estimator.steps[-1][0], last)]
    return whole


def is_own(scorer: Any) -> bool:
    """Whether a scorer is scikit-learn's, which asks a model for predictions only; or several, all of which are."""
    several = getattr(scorer, "_scorers", None)
    if isinstance(several, Mapping):
        return all(map(is_own, several.values()))
    return hasattr(scorer, "_accept_sample_weight")


def _written(part: Any) -> bytes:
    """Pickled so that any process can read it."""
    try:
        written = pickle.dumps(part)
    except Exception:  # a lambda, say
        return bytes(cloudpickle.dumps(part))
    return bytes(cloudpickle.dumps(part)) if b"__main__" in written else written  # which is another one in a worker


def _divided(estimator: Any, fit_params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments of `fit` for the first steps, and for the last, without its name."""
    first, _, step = split(estimator)
    if step is None or not fit_params:
        return {}, dict(fit_params)
    if _routing_enabled():
        routed = process_routing(estimator, "fit", **fit_params)
        wanted = get_routing_for_object(first).consumes("fit_transform", fit_params)
        return {name: fit_params[name] for name in wanted}, dict(routed[step]["fit"])
    own = {name.removeprefix(f"{step}__"): value for name, value in fit_params.items() if name.startswith(f"{step}__")}
    return {name: value for name, value in fit_params.items() if not name.startswith(f"{step}__")}, own


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
