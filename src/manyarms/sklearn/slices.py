"""How an estimator is trained a slice at a time: more trees, more epochs, or more rows."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _check_method_params

RESOURCES = ("auto", "n_samples", "partial_fit")
"""What a resource may be called, beside the name of a parameter."""

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

    def advance(self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any]) -> None:
        """Train the model on, in place; on its first slice it is not fitted yet."""

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """The parameters that say how much a model has had after so many of all steps."""


@dataclass(frozen=True, slots=True)
class Whole:
    """One slice, the whole training."""

    continues = False

    def advance(self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any]) -> None:
        """Fit."""
        _fit(model, X, y, fit_params)

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """Nothing: it is as its parameters say."""
        return {}


@dataclass(frozen=True, slots=True)
class WarmRounds:
    """More rounds of an estimator that has `warm_start`."""

    parameter: str
    total: int
    continues = True

    def advance(self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any]) -> None:
        """Fit on, to more rounds."""
        done, due = span.part(self.total)
        if due > done:
            _fit(model.set_params(**{self.parameter: due, "warm_start": True}), X, y, fit_params)

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

    def advance(self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any]) -> None:
        """Fit as many rounds more, on top of the ones so far."""
        done, due = span.part(self.total)
        if due == done:
            return
        so_far = {} if done == 0 else {self.argument: model.booster_ if self.argument == "init_model" else model.get_booster()}
        _fit(model.set_params(**{self.parameter: due - done}), X, y, {**fit_params, **so_far})
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

    def advance(self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any]) -> None:
        """One epoch after the other."""
        classes = {"classes": np.unique(y)} if is_classifier(model) else {}
        for epoch in range(*span.part(span.of if self.total is None else self.total)):
            if has_converged(getattr(model, "loss_curve_", ()), getattr(model, "tol", None), _patience(model)):
                return
            order = np.random.default_rng([self.seed, epoch]).permutation(_count(X))
            params = _check_method_params(X, fit_params, indices=order)
            targets = None if y is None else _safe_indexing(y, order)
            model.partial_fit(_safe_indexing(X, order), targets, **classes, **params)

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """The epochs, where they are a parameter."""
        return {} if self.total is None else {"max_iter": share(self.total, stop, of)}


@dataclass(frozen=True, slots=True)
class Refits:
    """A fresh fit each time, with more of a parameter."""

    parameter: str
    total: int
    continues = False

    def advance(self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any]) -> None:
        """Fit again."""
        _fit(model.set_params(**self.spent(span.stop, span.of)), X, y, fit_params)

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """The parameter."""
        return {self.parameter: share(self.total, stop, of)}


@dataclass(frozen=True, slots=True)
class Rows:
    """A fresh fit each time, on more rows: the same ones for all models, with every class among the first."""

    seed: int
    continues = False

    def advance(self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any]) -> None:
        """Fit again."""
        n = _count(X)
        if span.stop == span.of or n <= _FEW_ROWS:
            return _fit(model, X, y, fit_params)
        order, classes = row_order(y if is_classifier(model) else None, n, self.seed)
        rows = order[: max(share(n, span.stop, span.of), _FEW_ROWS, _FEW_OF_A_CLASS * classes)]
        params = _check_method_params(X, fit_params, indices=rows)
        return _fit(model, _safe_indexing(X, rows), None if y is None else _safe_indexing(y, rows), params)

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


def row_order(labels: Any, n: int, seed: int) -> tuple[NDArray[np.int64], int]:
    """Rows in random order; with labels, so that the first of them hold every class in its share, and each class early.

    Gives how many classes there are, too: 0 without labels, or with several of them a row.

    >>> order, classes = row_order(["a", "a", "a", "b"], 4, seed=0)
    >>> 3 in order[:2], classes
    (True, 2)
    """
    rng = np.random.default_rng(seed)
    if labels is None or np.ndim(labels) != 1:
        return rng.permutation(n), 0
    names, kinds = np.unique(np.asarray(labels), return_inverse=True)
    shuffled = rng.permutation(n)
    places = np.empty(n)
    for kind in range(len(names)):
        members = shuffled[kinds[shuffled] == kind]
        places[members] = np.arange(len(members)) / len(members)
    return np.lexsort((rng.random(n), places)), len(names)


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


def _fit(model: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
    if y is None:
        model.fit(X, **fit_params)
    else:
        model.fit(X, y, **fit_params)


def _count(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
