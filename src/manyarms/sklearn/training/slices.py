"""How an estimator is trained a slice at a time: more trees, more epochs, or more rows."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _check_method_params

from .fitting import boost_within, count_rows, fit, fit_within, rounds_of, row_order
from .time_limit import UNLIMITED, Pace, next_rounds

RESOURCES = ("auto", "n_samples", "partial_fit")
"""What a resource may be called, beside the name of a parameter."""

SOLVER = "solver"
"""The resource of an estimator whose `max_iter` may be cut, and which goes on from there with `warm_start`."""

_ITERATIONS = 5  # of a solver, to see what they cost
_BLOCK, _LEAST_BLOCK = 10_000, 200  # rows between two looks at the clock, for ten classes or fewer, and at least
_FEW_ROWS = 50  # below, models fail or tell nothing
_FEW_OF_A_CLASS = 5
_CONTINUATIONS = ("init_model", "xgb_model")  # arguments of fit that take what was trained so far


@dataclass(frozen=True, slots=True)
class Span:
    """A slice of a training: from `start` to `stop` of `of` steps."""

    start: int
    stop: int
    of: int

    def part(self, total: int) -> tuple[int, int]:
        """How much of a total is done before the slice, and after it."""
        return share(total, self.start, self.of), share(total, self.stop, self.of)


def share(total: int, step: int, of: int) -> int:
    """How much of a total is due after so many of all steps: nearly equal parts, and something from the first on.

    >>> [share(25, step, 10) for step in (0, 1, 5, 10)]
    [0, 3, 13, 25]
    """
    return math.ceil(total * step / of)


class Slices(Protocol):
    """How one estimator is trained a slice at a time.

    Attributes:
        continues: a slice goes on from the one before; else it begins again, with more.
    """

    @property
    def continues(self) -> bool: ...

    def advance(self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], pace: Pace = UNLIMITED) -> None:
        """Train the model on, in place, as far as the time allows; on its first slice it is not fitted yet."""

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """The parameters that say how much a model has had after so many of all steps."""


@dataclass(frozen=True, slots=True)
class Whole:
    """One slice, the whole training."""

    continues = False

    def advance(self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], pace: Pace = UNLIMITED) -> None:
        """Fit."""
        fit_within(model, X, y, fit_params, pace, seed=0)

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """Nothing: it is as its parameters say."""
        return {}


@dataclass(frozen=True, slots=True)
class WarmRounds:
    """More rounds of an estimator that has `warm_start`."""

    parameter: str
    total: int
    continues = True

    def advance(self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], pace: Pace = UNLIMITED) -> None:
        """Fit on, to more rounds."""
        done, due = span.part(self.total)
        done = min(done, model.get_params()[self.parameter]) if done else 0  # fewer, where there was no time for all
        if not pace.is_limited and due > done:
            self._fit_to(due, model, X, y, fit_params)
        began, before = pace.clock(), done
        while pace.is_limited and (more := next_rounds(done - before, due - before, pace.clock() - began, pace.left())):
            done += more
            self._fit_to(done, model, X, y, fit_params)

    def _fit_to(self, rounds: int, model: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
        fit(model.set_params(**{self.parameter: rounds, "warm_start": True}), X, y, fit_params)

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """The rounds."""
        return {self.parameter: share(self.total, stop, of)}


@dataclass(frozen=True, slots=True)
class BoostedRounds:
    """More rounds of an estimator whose `fit` takes the model so far: LightGBM's, XGBoost's."""

    parameter: str
    total: int
    argument: str
    continues = True

    def advance(self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], pace: Pace = UNLIMITED) -> None:
        """Fit as many rounds more, on top of the ones so far."""
        done, due = span.part(self.total)
        done = min(done, rounds_of(model)) if done else 0  # fewer, where there was no time for all
        if due == done:
            return
        so_far = {} if done == 0 else {self.argument: model.booster_ if self.argument == "init_model" else model.get_booster()}
        boost_within(model.set_params(**{self.parameter: due - done}), X, y, {**fit_params, **so_far}, pace)
        model.set_params(**{self.parameter: due})

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """The rounds."""
        return {self.parameter: share(self.total, stop, of)}


@dataclass(frozen=True, slots=True)
class Epochs:
    """More epochs by `partial_fit`, each in an order of its own. A network whose loss no longer falls is left as it is.

    Args:
        total: epochs of a full training: its `max_iter`. None, where it has none, is one a step.
        seed: of the orders.
    """

    total: int | None
    seed: int
    continues = True

    def advance(self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], pace: Pace = UNLIMITED) -> None:
        """One epoch after the other."""
        classes = {"classes": np.unique(y)} if is_classifier(model) else {}
        block = max(_LEAST_BLOCK, _BLOCK // max(1, len(classes.get("classes", ())) // 10))
        for epoch in range(*span.part(span.of if self.total is None else self.total)):
            if has_converged(getattr(model, "loss_curve_", ()), getattr(model, "tol", None), _patience(model)):
                return
            order = np.random.default_rng([self.seed, epoch]).permutation(count_rows(X))
            for rows in np.array_split(order, -(-len(order) // block)) if pace.is_limited else [order]:
                params = _check_method_params(X, fit_params, indices=rows)
                targets = None if y is None else _safe_indexing(y, rows)
                model.partial_fit(_safe_indexing(X, rows), targets, **classes, **params)
                if pace.left() <= 0:
                    return

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """The epochs, where they are a parameter."""
        return {} if self.total is None else {"max_iter": share(self.total, stop, of)}


@dataclass(frozen=True, slots=True)
class Solver:
    """One slice, the whole training by a solver that can go on from where it was: cut short, it is as good as it got."""

    parameter: str
    total: int
    continues = False

    def advance(self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], pace: Pace = UNLIMITED) -> None:
        """Fit, some iterations at a time, until the solver has converged."""
        if not pace.is_limited:
            return fit(model, X, y, fit_params)
        done, began = 0, pace.clock()
        while more := next_rounds(done, self.total, pace.clock() - began, pace.left(), first=_ITERATIONS):
            fit(model.set_params(**{self.parameter: more, "warm_start": True}), X, y, fit_params)
            done += more
            if np.max(model.n_iter_) < more:
                break
        model.set_params(**{self.parameter: self.total, "warm_start": False})

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """Nothing: it is as its parameters say."""
        return {}


@dataclass(frozen=True, slots=True)
class Refits:
    """A fresh fit each time, with more of a parameter."""

    parameter: str
    total: int
    continues = False

    def advance(self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], pace: Pace = UNLIMITED) -> None:
        """Fit again."""
        fit_within(model.set_params(**self.spent(span.stop, span.of)), X, y, fit_params, pace, seed=0)

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """The parameter."""
        return {self.parameter: share(self.total, stop, of)}


@dataclass(frozen=True, slots=True)
class Rows:
    """A fresh fit each time, on more rows: the same ones for all models, with every class among the first."""

    seed: int
    continues = False

    def advance(self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], pace: Pace = UNLIMITED) -> None:
        """Fit again."""
        n = count_rows(X)
        if span.stop == span.of or n <= _FEW_ROWS:
            return fit_within(model, X, y, fit_params, pace, self.seed)
        order, classes = row_order(y if is_classifier(model) else None, n, self.seed)
        rows = order[: max(share(n, span.stop, span.of), _FEW_ROWS, _FEW_OF_A_CLASS * classes)]
        params = _check_method_params(X, fit_params, indices=rows)
        targets = None if y is None else _safe_indexing(y, rows)
        return fit_within(model, _safe_indexing(X, rows), targets, params, pace, self.seed)

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """Nothing: the rows are no parameter."""
        return {}


def slices_of(estimator: Any, resource: str | None = "auto", seed: int = 0) -> Slices:
    """How this estimator, with these parameters, is trained a slice at a time.

    Args:
        estimator: not fitted yet, and no pipeline.
        resource: "auto"; "n_samples" for growing rows; "partial_fit"; a parameter that counts rounds; None for one whole fit.
        seed: of the order of rows.

    >>> from sklearn.ensemble import GradientBoostingClassifier
    >>> slices_of(GradientBoostingClassifier(n_estimators=50))
    WarmRounds(parameter='n_estimators', total=50)
    """
    if resource is None:
        return Whole()
    if not isinstance(resource, str):
        raise TypeError(f"resource must be None or text, got {resource!r}")
    if resource == SOLVER:
        return Solver("max_iter", int(estimator.get_params()["max_iter"]))
    name = _chosen(estimator) if resource == "auto" else resource
    if name == "n_samples":
        return _rows(estimator, resource, seed)
    if name == "partial_fit":
        if not hasattr(estimator, "partial_fit"):
            raise ValueError(f"resource 'partial_fit' needs an estimator that has it, got {estimator!r}")
        epochs = estimator.get_params().get("max_iter")
        return Epochs(None if epochs is None else int(epochs), seed)
    return _rounds(estimator, name)


def _rows(estimator: Any, resource: str, seed: int) -> Slices:
    """Growing rows; where the columns of X are its rows, as of a precomputed kernel, all at once."""
    if not get_tags(estimator).input_tags.pairwise:
        return Rows(seed)
    if resource == "n_samples":
        raise ValueError(f"resource 'n_samples' needs an estimator of plain rows, got {estimator!r}")
    return Whole()


def _rounds(estimator: Any, parameter: str) -> Slices:
    known = estimator.get_params()
    if parameter not in known:
        raise ValueError(
            f"resource must be {', '.join(map(repr, RESOURCES))} or a parameter of {estimator!r}, got {parameter!r}"
        )
    total = known[parameter]
    if isinstance(total, bool) or not isinstance(total, (int, np.integer)) or total < 1:
        total = _library_default(estimator, parameter, total)
    if (argument := _continuation(estimator)) is not None and parameter == "n_estimators":
        return BoostedRounds(parameter, int(total), argument)
    return WarmRounds(parameter, int(total)) if "warm_start" in known else Refits(parameter, int(total))


def _library_default(estimator: Any, parameter: str, value: Any) -> int:
    """What XGBoost takes where it is not told."""
    if value is None and _continuation(estimator) == "xgb_model":
        return 100
    raise ValueError(f"resource {parameter!r} must be a whole number of at least 1, got {value!r}")


def _chosen(estimator: Any) -> str:
    """What "auto" takes: what continues, else rows."""
    known = estimator.get_params()
    if _continuation(estimator) is not None or ("warm_start" in known and "n_estimators" in known):
        return "n_estimators"
    if hasattr(estimator, "partial_fit") and "max_iter" in known and not _needs_all_rows(known):
        return "partial_fit"
    if "warm_start" in known and "max_leaf_nodes" in known and "max_iter" in known:  # rounds of trees; those of a solver end by
        return "max_iter"  # themselves
    return "n_samples"


def _needs_all_rows(params: Mapping[str, Any]) -> bool:
    """Whether `partial_fit` would refuse, since it may see a part of the rows only."""
    return params.get("early_stopping") is True or params.get("class_weight") == "balanced"


def _continuation(estimator: Any) -> str | None:
    """The argument of `fit` that takes what was trained so far."""
    known = inspect.signature(estimator.fit).parameters if "n_estimators" in estimator.get_params() else {}
    return next((name for name in _CONTINUATIONS if name in known), None)


def has_converged(losses: Sequence[float], tolerance: float | None, patience: int | None) -> bool:
    """Whether the loss has not fallen by the tolerance for longer than it is waited for, as scikit-learn's networks see it.

    >>> has_converged([3.0, 2.0, 2.0, 2.0, 2.0], 1e-4, patience=2)
    True
    """
    if tolerance is None or patience is None:
        return False
    best, waited = math.inf, 0
    for loss in losses:
        waited = waited + 1 if loss > best - tolerance else 0
        best = min(best, loss)
        if waited > patience:
            return True
    return False


def _patience(model: Any) -> int | None:
    patience = getattr(model, "n_iter_no_change", None)
    return patience if patience is None else int(min(patience, 10**9))


def fresh(model: Any, params: Mapping[str, Any], seed: int | None) -> Any:
    """A copy that is not fitted, with these parameters; where it has no seed of its own, with this one.

    Args:
        model: an estimator.
        params: as `set_params` takes them.
        seed: None leaves it without.
    """
    copy = clone(model).set_params(**params)
    if seed is None:
        return copy
    unseeded = {
        name: seed
        for name, value in copy.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return copy.set_params(**unseeded)
