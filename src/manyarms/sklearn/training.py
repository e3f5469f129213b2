"""The function of a study over estimators: one pull trains a candidate a slice further, on every fold, and scores it."""

from __future__ import annotations

import contextlib
import pickle
import time
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from .slices import Slices, Span, fresh, slices_of

_PREPARED = 3  # preparations of the whole data that are kept


@dataclass(frozen=True, slots=True)
class Candidate:
    """An estimator whose parameters are searched, and how its trainings are cut.

    Args:
        estimator: not fitted; a pipeline is trained on at its last step.
        resource: as for `slices_of`; in a pipeline a parameter's name has the step before it.
        max_steps: of a full training.
    """

    estimator: Any
    resource: str | None = "auto"
    max_steps: int = 10

    def with_params(self, params: Mapping[str, Any], seed: int | None) -> Any:
        """The estimator of a config, not fitted."""
        return fresh(self.estimator, seed).set_params(**params)

    def slices(self, estimator: Any, seed: int = 0) -> Slices:
        """How it is trained."""
        _, last, step = split(estimator)
        resource = self.resource
        if step is not None and resource is not None and resource.startswith(f"{step}__"):
            resource = resource.removeprefix(f"{step}__")
        return slices_of(last, resource, seed)


@dataclass(frozen=True, slots=True)
class Metadata:
    """What goes with the rows: arguments of `fit` and of the scorer, whole; those as long as the rows are cut with them."""

    fit: Mapping[str, Any]
    score: Mapping[str, Any]


NO_METADATA = Metadata({}, {})


class Training:
    """Trains candidates on folds, a slice at a time. Workers get it once, with the data.

    Its state of an arm, as saved by pulls, is the list of the models of the folds: of a pipeline, its last steps.

    Args:
        candidates: by name, where configs are those of a `Cascade`; or one for all configs.
        X, y: the data.
        folds: rows to train on and rows to score, for each fold.
        scorer: called with an estimator, X and y: gives a number, or a dict of numbers by metric.
        metric: the one that is the reward, where there are several.
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

    def __call__(self, pull: Any) -> dict[str, float]:
        """One slice of training on each fold, and what came of it: the reward, and all that `cv_results_` tells."""
        candidate, params = self.read(pull.config)
        span = Span(pull.start, pull.stop, candidate.max_steps)
        models = pull.load()
        results: dict[str, float] = {}
        trained = []
        with _calm(self._quiet):
            for number in range(len(self.folds)):
                model = None if models is None else models[number]
                model, told = self._advance(number, candidate, params, model, span)
                trained.append(model)
                results |= {f"split{number}_{name}": value for name, value in told.items()}
        if self._keeps or pull.stop < candidate.max_steps:
            pull.save(trained)
        rewards = [results[f"split{number}_test_{self.metric}"] for number in range(len(self.folds))]
        return {"reward": float(np.mean(rewards)), **results}

    def read(self, config: Any) -> tuple[Candidate, dict[str, Any]]:
        """The candidate that a config is of, and its parameters."""
        if isinstance(self.candidates, Mapping):
            return self.candidates[config["algorithm"]], flat(config["config"])
        return self.candidates, flat(config)

    def refit(self, config: Any, steps: int) -> Any:
        """The estimator of a config trained on all rows, by the same slices, to so many steps."""
        candidate, params = self.read(config)
        estimator = candidate.with_params(params, self.seed)
        first, last, _ = split(estimator)
        with _calm(self._quiet):
            rest, own = _divided(estimator, self.metadata.fit)
            X = self.X if first is None else first.fit_transform(self.X, self.y, **rest)
            slices = candidate.slices(estimator, self.seed or 0)
            slices.advance(last, X, self.y, Span(0, steps, candidate.max_steps), own)
        return joined(first, last, estimator)

    def models(self, config: Any, state: Sequence[Any]) -> list[Any]:
        """The fitted estimators of an arm's state, one a fold."""
        candidate, params = self.read(config)
        estimator = candidate.with_params(params, self.seed)
        with _calm(self._quiet):
            return [joined(self._fold(i, estimator).first, model, estimator) for i, model in enumerate(state)]

    def _advance(
        self, number: int, candidate: Candidate, params: Mapping[str, Any], model: Any, span: Span
    ) -> tuple[Any, dict[str, float]]:
        """The model of a fold, trained on, and its times and scores."""
        began = time.perf_counter()
        estimator = candidate.with_params(params, self.seed)
        fold = self._fold(number, estimator)
        slices = candidate.slices(estimator, self.seed or 0)
        model = split(estimator)[1] if model is None or not slices.continues else model
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
        prepared = hasattr(self.scorer, "_accept_sample_weight")  # what all of scikit-learn's own have
        if prepared:
            X, y = (fold.X_test, fold.y_test) if which == "test" else (fold.X_train, fold.y_train)
        else:
            X, y = _rows(self.X, rows), _rows(self.y, rows)
            model = joined(fold.first, model, estimator)
        score_params = _check_method_params(self.X, self.metadata.score, indices=rows)
        scores = self.scorer(model, X, **score_params) if y is None else self.scorer(model, X, y, **score_params)
        named = scores if isinstance(scores, Mapping) else {"score": scores}
        return {f"{which}_{name}": float(score) for name, score in named.items()}

    def _fold(self, number: int, estimator: Any) -> _Fold:
        """The rows of a fold as the last step of the estimator gets them: prepared once for all arms that prepare alike."""
        first, _, _ = split(estimator)
        key = (number, b"" if first is None else pickle.dumps(first))
        if (known := self._prepared.get(key)) is not None:
            self._prepared.move_to_end(key)
            return known
        fold = self._prepared[key] = self._make_fold(number, first, estimator)
        if len(self._prepared) > _PREPARED * len(self.folds):
            self._prepared.popitem(last=False)
        return fold

    def _make_fold(self, number: int, first: Any, estimator: Any) -> _Fold:
        train, test = self.folds[number]
        X_train, y_train, X_test = _rows(self.X, train), _rows(self.y, train), _rows(self.X, test)
        rest, own = _divided(estimator, _check_method_params(self.X, self.metadata.fit, indices=train))
        if first is not None:
            X_train, X_test = first.fit_transform(X_train, y_train, **rest), first.transform(X_test)
        return _Fold(number, first, X_train, y_train, X_test, _rows(self.y, test), own)

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be prepared again."""
        return {**vars(self), "_prepared": OrderedDict()}


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


def flat(config: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a config: those of nested spaces beside the others.

    >>> flat({"alpha": 0.1, "solver": {"solver": "sgd", "momentum": 0.9}})
    {'alpha': 0.1, 'solver': 'sgd', 'momentum': 0.9}
    """
    params: dict[str, Any] = {}
    for name, value in config.items():
        params |= flat(value) if isinstance(value, Mapping) else {name: value}
    return params


def split(estimator: Any) -> tuple[Any, Any, str | None]:
    """The first steps of a pipeline (None if it is none), what is trained on, and the name of that step."""
    if type(estimator) is not Pipeline or len(estimator.steps) < 2 or not hasattr(estimator.steps[-1][1], "fit"):
        return None, estimator, None
    name, last = estimator.steps[-1]
    return Pipeline(estimator.steps[:-1], memory=estimator.memory), last, name


def joined(first: Any, last: Any, estimator: Any) -> Any:
    """The estimator of which `split` gave the parts."""
    if first is None:
        return last
    return Pipeline([*first.steps, (estimator.steps[-1][0], last)], memory=estimator.memory, verbose=estimator.verbose)


def _divided(estimator: Any, fit_params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments of `fit` for the first steps, and for the last, without its name."""
    step = split(estimator)[2]
    if step is None:
        return {}, dict(fit_params)
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
