"""The training function of a study over estimators: a pull trains a candidate one slice on every fold, and scores it."""

from __future__ import annotations

import contextlib
import math
import pickle
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from ...runners import PullsAbandoned
from .abort import aborted_at
from .candidate import FOLDS, NO_METADATA, Candidate, Metadata, fit_params, joined, pickled, split, split_fit_params
from .early_stopping import EarlyStopping
from .prepared_folds import Fold, Preparations, joined_rows
from .slices import Rows, Slices, Span
from .time_limit import NO_LIMIT, UNLIMITED, Deadline, TimeLimit

TIMES = ("fit_time", "score_time")
_RECENT = 50_000_000  # bytes of cached models in training


class Trained:
    """The state that pulls save for an arm. Its models are unpickled when they are needed.

    Attributes:
        models: The model of each fold; the last step if the estimator is a pipeline.
        metrics: The metrics of each fold.
        outputs: The predictions for the validation rows of each fold, if they are kept.
        size: Size of the models in bytes when they were last saved or loaded.
    """

    __slots__ = ("_models", "_packed", "metrics", "outputs", "size")

    def __init__(
        self, packed: bytes | None = None, metrics: dict[str, float] | None = None, outputs: dict[int, Any] | None = None
    ) -> None:
        self._packed, self._models = packed, None if packed is not None else dict[int, Any]()
        self.metrics, self.outputs = metrics or {}, outputs or {}
        self.size = 0 if packed is None else len(packed)

    @property
    def models(self) -> dict[int, Any]:
        if self._models is None:
            assert self._packed is not None
            self._models, self._packed = pickle.loads(self._packed), None
        return self._models

    def __reduce__(self) -> tuple[Any, ...]:
        """Use plain pickle if possible: cloudpickle takes several times as long for many trees."""
        packed = pickled(self._models) if self._packed is None else self._packed
        self.size = len(packed)
        return Trained, (packed, self.metrics, self.outputs)


class Training:
    """Trains candidates on folds, one slice at a time. Workers get it once, with the data.

    Args:
        candidates: Candidates by name, if the configs come from a `Cascade`; or one candidate for all configs.
        X, y: The data.
        folds: For each fold, the rows to train on and the rows to score.
        scorer: Called with an estimator, X and y; returns a number, or a dict of numbers by metric.
        metric: Name of the metric that is the reward, if there are several. By default the first.
        metadata: Sample weights and other metadata.
        seed: Random seed for models without one, so that they differ only in their parameters; None leaves it unset.
        train_scores: Also score the rows that a model was trained on.
        keeps: Also save models that are fully trained.
        quiet: Suppress all warnings, and skip the checks of scikit-learn.
        limit: Time limit of the pulls.
        shared: Directory in which fitted preparations are shared with other processes.
        outputs: Called with a model and the prepared validation rows; returns its predictions, which the states keep.
        output_score: Called with these predictions and the numbers of the rows; returns their score, or None if only the
            scorer can score them.
    """

    expects_failures = True
    """Fits may all fail with the same error: the estimators that search have their own answer to that."""

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
        output_score: Callable[[Any, Any], float | None] | None = None,
    ) -> None:
        self.candidates, self.X, self.y, self.folds = candidates, X, y, list(folds)
        self.scorer, self.metric, self.metadata, self.seed = scorer, metric, metadata, seed
        self._train_scores, self._keeps, self._quiet = train_scores, keeps, quiet
        self.limit, self._outputs, self._output_score = limit, outputs, output_score
        self.preparations = Preparations(X, y, self.folds, metadata, shared)
        self._recent: OrderedDict[tuple[int, int], Trained] = OrderedDict()  # by arm and steps

    def __call__(self, pull: Any) -> dict[str, float]:
        """Train one slice; returns the reward and the other entries of `cv_results_`."""
        candidate, params = self.read(pull.config)
        estimator = candidate.with_params(params, self.seed)
        slices = candidate.slices(estimator, self.seed or 0)
        by_fold = candidate.resource == FOLDS
        continues = by_fold or slices.continues
        state = self._state(pull) if continues else Trained()
        span = Span(0, 1, 1) if by_fold else Span(pull.start, pull.stop, candidate.max_steps)
        times: dict[str, float] = {}
        numbers = range(pull.start, pull.stop) if by_fold else range(len(self.folds))
        part, stop = _Part(candidate, estimator, slices, span), self.limit.stop(candidate.time_factor)
        with _quiet_training(self._quiet), aborted_at(self.limit.end, self.limit.clock):
            for done, number in enumerate(numbers):
                if self.limit.clock() >= self.limit.end:
                    raise PullsAbandoned
                began = time.perf_counter()
                fold = self.preparations.fold(number, estimator, candidate)
                deadline = self.limit.deadline(stop, len(numbers) - done)
                model, metrics, output = self._advance(fold, part, state.models.get(number), deadline, began)
                state.models[number] = model
                if output is not None:
                    state.outputs[number] = output
                times |= {f"split{number}_{name}": metrics.pop(name) for name in TIMES}
                state.metrics |= {f"split{number}_{name}": value for name, value in metrics.items()}
        unfinished = continues and pull.stop < candidate.max_steps
        if self._keeps or unfinished:
            pull.save(state)
        if unfinished:
            self._cache(pull, state)
        return {"reward": self._reward(state), **state.metrics, **times}

    def _state(self, pull: Any) -> Trained:
        """The state after the arm's last pull, from the cache or from its checkpoint. A cached state is returned only once."""
        return self._recent.pop((pull.arm.id, pull.start), None) or pull.load() or Trained()

    def _cache(self, pull: Any, state: Trained) -> None:
        """Cache the state that was just saved if it is small, because loading it again takes time."""
        self._recent[pull.arm.id, pull.stop] = state
        while sum(known.size for known in self._recent.values()) > _RECENT:
            self._recent.popitem(last=False)

    def _reward(self, state: Trained) -> float:
        """The mean of the metric over the trained folds."""
        first, found = (
            next(iter(state.models)),
            {name.partition("_test_")[2]: None for name in state.metrics if "_test_" in name},
        )
        metric = self.metric if f"split{first}_test_{self.metric}" in state.metrics else next(iter(found))
        return float(np.mean([state.metrics[f"split{number}_test_{metric}"] for number in state.models]))

    def read(self, config: Any) -> tuple[Candidate, dict[str, Any]]:
        """The candidate of a config, and its parameters."""
        if isinstance(self.candidates, Mapping):
            candidate = self.candidates[config["algorithm"]]
            return candidate, candidate.reads(config["config"])
        return self.candidates, self.candidates.reads(config)

    def params(self, config: Any, steps: int) -> dict[str, Any]:
        """The parameters of a config's estimator after this many steps, including how much it was trained."""
        candidate, params = self.read(config)
        estimator = candidate.with_params(params, self.seed)
        step = split(estimator)[2]
        spent = candidate.slices(estimator, self.seed or 0).spent(steps, candidate.max_steps)
        return params | {name if step is None else f"{step}__{name}": value for name, value in spent.items()}

    def is_final(self, config: Any, steps: int) -> bool:
        """Whether the score after this many steps is comparable: if rows or folds grow, only after the last step."""
        candidate, params = self.read(config)
        if steps >= candidate.max_steps:
            return True
        slices = candidate.slices(candidate.with_params(params, self.seed), self.seed or 0)
        return candidate.resource != FOLDS and not isinstance(slices, Rows)

    def refit(self, config: Any, steps: int, deadline: Deadline = UNLIMITED, like: Any = None) -> Any:
        """The estimator of a config, trained on all rows for this many steps, or as far as the time allows.

        Args:
            config: The config.
            steps: Number of steps.
            deadline: When to stop.
            like: A model of this config that was stopped early. It is trained for the same number of rounds.
        """
        candidate, params = self.read(config)
        estimator = candidate.with_params(params, self.seed)
        first, _, _ = split(estimator)
        with _quiet_training(self._quiet):
            rest, own = split_fit_params(estimator, fit_params(candidate, self.metadata))
            X = self.X if first is None else first.fit_transform(self.X, self.y, **rest)
            return self._fitted_to(X, self.y, first, estimator, candidate, own, steps, deadline, like)

    def retrain(self, config: Any, steps: int, deadline: Deadline = UNLIMITED, like: Any = None) -> Any:
        """Like `refit`, but on the training rows and the validation rows of the first fold, prepared as for that fold."""
        candidate, params = self.read(config)
        estimator = candidate.with_params(params, self.seed)
        with _quiet_training(self._quiet):
            fold = self.preparations.fold(0, estimator, candidate)
            rows = np.concatenate([np.asarray(part) for part in self.folds[0]])
            X, y = joined_rows(fold.X_train, fold.X_test), _rows(self.y, rows)
            params = _check_method_params(self.X, fit_params(candidate, self.metadata), indices=rows)
            _, own = split_fit_params(estimator, params)
            return self._fitted_to(X, y, fold.first, estimator, candidate, own, steps, deadline, like)

    def _fitted_to(
        self, X: Any, y: Any, first: Any, estimator: Any, candidate: Candidate, own: Any, steps: int, deadline: Any, like: Any
    ) -> Any:
        """The estimator with its last step fitted to prepared rows."""
        last, slices = split(estimator)[1], candidate.slices(estimator, self.seed or 0)
        if isinstance(slices, EarlyStopping) and like is not None:
            slices = slices.like(like)
        steps = candidate.max_steps if isinstance(slices, Rows) else steps  # the final model is trained on all rows
        before = {name: value for name, value in last.get_params(deep=False).items() if name == "warm_start"}
        slices.advance(last, X, y, Span(0, steps, candidate.max_steps), own, deadline)
        if before:
            last.set_params(**before)  # so that another fit by the user starts from scratch
        return joined(first, last, estimator)

    def held_out(self, config: Any, state: Trained, predict: Callable[[Any, Any], Any]) -> list[Any]:
        """The predictions of an arm's models for the validation rows of each fold."""
        if state.outputs:
            return list(state.outputs.values())
        candidate, params = self.read(config)
        estimator = candidate.with_params(params, self.seed)
        with _quiet_training(self._quiet):
            return [
                predict(model, self.preparations.fold(number, estimator, candidate).X_test)
                for number, model in state.models.items()
            ]

    def models(self, config: Any, state: Trained) -> list[Any]:
        """The fitted estimators of an arm's state, one per fold."""
        candidate, params = self.read(config)
        estimator = candidate.with_params(params, self.seed)
        with _quiet_training(self._quiet):
            return [
                joined(self.preparations.first(i, estimator, candidate), model, estimator) for i, model in state.models.items()
            ]

    def _advance(
        self, fold: Fold, part: _Part, model: Any, deadline: Deadline, began: float
    ) -> tuple[Any, dict[str, float], Any]:
        """The model of a fold after the slice, with its times and scores, and its predictions if they are kept."""
        model = clone(split(part.estimator)[1]) if model is None else model
        slices = part.slices
        if isinstance(slices, EarlyStopping) and len(self.folds) == 1:  # the folds of a cross-validation are too small
            slices = slices.validated_by(fold.X_test, fold.y_test)
        slices.advance(model, fold.X_train, fold.y_train, part.span, fold.fit_params, deadline)
        fitted = time.perf_counter()
        output, score = None if self._outputs is None else self._outputs(model, fold.X_test), None
        if output is not None and self._output_score is not None:
            score = self._output_score(output, self.folds[fold.number][1])
        metrics = self._scores("test", model, fold, part.estimator) if score is None else {"test_score": score}
        scored = time.perf_counter()
        if self._train_scores:
            metrics |= self._scores("train", model, fold, part.estimator)
        return model, {"fit_time": fitted - began, "score_time": scored - fitted, **metrics}, output

    def _scores(self, which: str, model: Any, fold: Fold, estimator: Any) -> dict[str, float]:
        """Scores by metric. A scikit-learn scorer gets the last step and prepared rows; any other gets the whole estimator."""
        rows = self.folds[fold.number][which == "test"]
        X, y = (fold.X_test, fold.y_test) if which == "test" else (fold.X_train, fold.y_train)
        if fold.first is not None and not is_builtin(self.scorer):
            X, model = _rows(self.X, rows), joined(fold.first, model, estimator)
        score_params = _check_method_params(self.X, self.metadata.score, indices=rows)
        scores = self.scorer(model, X, **score_params) if y is None else self.scorer(model, X, y, **score_params)
        named = scores if isinstance(scores, Mapping) else {"score": scores}
        return {f"{which}_{name}": self._number(name, score) for name, score in named.items()}

    def _number(self, metric: str, score: Any) -> float:
        """A score as a number. For a failed metric, scikit-learn gives a traceback: NaN, unless it is the reward."""
        if not isinstance(score, str):
            return float(score)
        if metric == self.metric:
            raise ValueError(f"scoring {metric!r} failed: {score.strip().splitlines()[-1]}")
        return math.nan

    def __getstate__(self) -> dict[str, Any]:
        """Without the cache."""
        return {**vars(self), "_recent": OrderedDict()}


@dataclass(frozen=True, slots=True)
class _Part:
    """What a pull does on every fold."""

    candidate: Candidate
    estimator: Any
    slices: Slices
    span: Span


def is_builtin(scorer: Any) -> bool:
    """Whether scikit-learn made the scorer, or all of several scorers. Such scorers only need predictions."""
    several = getattr(scorer, "_scorers", None)
    if isinstance(several, Mapping):
        return all(map(is_builtin, several.values()))
    return hasattr(scorer, "_accept_sample_weight")


def _rows(data: Any, rows: Any) -> Any:
    return None if data is None else _safe_indexing(data, rows)


@contextlib.contextmanager
def _quiet_training(quiet: bool) -> Iterator[None]:
    """Suppress the warning that training has not converged, which every slice but the last would give."""
    with warnings.catch_warnings(), contextlib.ExitStack() as stack:
        warnings.simplefilter("ignore", ConvergenceWarning)
        if quiet:
            warnings.simplefilter("ignore")
            stack.enter_context(config_context(assume_finite=True, skip_parameter_validation=True))
            stack.enter_context(np.errstate(all="ignore"))
        yield
