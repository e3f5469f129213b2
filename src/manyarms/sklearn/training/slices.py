"""The ways to train an estimator one slice at a time: more trees, more epochs, or more rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from .fitting import count_rows, fit, fit_boosting_until, fit_until, rounds_of, row_order
from .time_limit import UNLIMITED, Deadline, next_rounds

_ITERATIONS = 5  # first iterations of a solver, to measure their time
_BLOCK, _LEAST_BLOCK = 10_000, 200  # rows between two checks of the time; fewer if there are more than ten classes
_FEW_ROWS = 50  # with fewer, models fail or are useless
_FEW_OF_A_CLASS = 5


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
    """How much of a total is due after a number of steps: nearly equal parts, and at least one after the first step.

    >>> [share(25, step, 10) for step in (0, 1, 5, 10)]
    [0, 3, 13, 25]
    """
    return math.ceil(total * step / of)


class Slices(Protocol):
    """How an estimator is trained one slice at a time.

    Attributes:
        continues: Whether a slice continues from the previous one; else it starts from scratch with more of the resource.
    """

    @property
    def continues(self) -> bool: ...

    def advance(
        self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], deadline: Deadline = UNLIMITED
    ) -> None:
        """Train the model further, in place, as far as the time allows. Before its first slice it is not fitted."""

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """The parameters that state how much a model was trained after this many steps."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A single slice: the whole training."""

    continues = False

    def advance(
        self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], deadline: Deadline = UNLIMITED
    ) -> None:
        """Fit."""
        fit_until(model, X, y, fit_params, deadline, seed=0)

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """Nothing, because its parameters do not change."""
        return {}


@dataclass(frozen=True, slots=True)
class WarmRounds:
    """More rounds of an estimator with `warm_start`."""

    parameter: str
    total: int
    continues = True

    def advance(
        self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], deadline: Deadline = UNLIMITED
    ) -> None:
        """Continue the fit with more rounds."""
        done, due = span.part(self.total)
        done = min(done, model.get_params()[self.parameter]) if done else 0  # fewer, if there was no time for all
        if not deadline.is_limited and due > done:
            self._fit_to(due, model, X, y, fit_params)
        began, before = deadline.clock(), done
        while deadline.is_limited and (
            more := next_rounds(done - before, due - before, deadline.clock() - began, deadline.left())
        ):
            done += more
            self._fit_to(done, model, X, y, fit_params)

    def _fit_to(self, rounds: int, model: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
        fit(model.set_params(**{self.parameter: rounds, "warm_start": True}), X, y, fit_params)

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """The number of rounds."""
        return {self.parameter: share(self.total, stop, of)}


@dataclass(frozen=True, slots=True)
class BoostedRounds:
    """More rounds of an estimator whose `fit` accepts the model so far: LightGBM and XGBoost."""

    parameter: str
    total: int
    argument: str
    continues = True

    def advance(
        self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], deadline: Deadline = UNLIMITED
    ) -> None:
        """Add rounds to the model so far."""
        done, due = span.part(self.total)
        done = min(done, rounds_of(model)) if done else 0  # fewer, if there was no time for all
        if due == done:
            return
        so_far = {} if done == 0 else {self.argument: model.booster_ if self.argument == "init_model" else model.get_booster()}
        fit_boosting_until(model.set_params(**{self.parameter: due - done}), X, y, {**fit_params, **so_far}, deadline)
        model.set_params(**{self.parameter: due})

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """The number of rounds."""
        return {self.parameter: share(self.total, stop, of)}


@dataclass(frozen=True, slots=True)
class Epochs:
    """More epochs by `partial_fit`, each in a new random order. Training stops when the loss of a network has converged.

    Args:
        total: Epochs of a full training, its `max_iter`; None, if it has no such parameter, for one epoch per step.
        seed: Random seed of the orders.
    """

    total: int | None
    seed: int
    continues = True

    def advance(
        self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], deadline: Deadline = UNLIMITED
    ) -> None:
        """Train the epochs of the slice."""
        classes = {"classes": np.unique(y)} if is_classifier(model) else {}
        block = max(_LEAST_BLOCK, _BLOCK // max(1, len(classes.get("classes", ())) // 10))
        for epoch in range(*span.part(span.of if self.total is None else self.total)):
            if has_converged(getattr(model, "loss_curve_", ()), getattr(model, "tol", None), _patience(model)):
                return
            order = np.random.default_rng([self.seed, epoch]).permutation(count_rows(X))
            for rows in np.array_split(order, -(-len(order) // block)) if deadline.is_limited else [order]:
                params = _check_method_params(X, fit_params, indices=rows)
                targets = None if y is None else _safe_indexing(y, rows)
                model.partial_fit(_safe_indexing(X, rows), targets, **classes, **params)
                if deadline.left() <= 0:
                    return

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """The number of epochs, if it is a parameter."""
        return {} if self.total is None else {"max_iter": share(self.total, stop, of)}


@dataclass(frozen=True, slots=True)
class Solver:
    """A single slice with a solver that can be stopped early: it is fitted some iterations at a time with `warm_start`."""

    parameter: str
    total: int
    continues = False

    def advance(
        self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], deadline: Deadline = UNLIMITED
    ) -> None:
        """Fit some iterations at a time, until the solver has converged."""
        if not deadline.is_limited:
            return fit(model, X, y, fit_params)
        done, began = 0, deadline.clock()
        while more := next_rounds(done, self.total, deadline.clock() - began, deadline.left(), first=_ITERATIONS):
            fit(model.set_params(**{self.parameter: more, "warm_start": True}), X, y, fit_params)
            done += more
            if np.max(model.n_iter_) < more:
                break
        model.set_params(**{self.parameter: self.total, "warm_start": False})

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """Nothing, because its parameters do not change."""
        return {}


@dataclass(frozen=True, slots=True)
class Refits:
    """A new fit for each slice, with a larger value of a parameter."""

    parameter: str
    total: int
    continues = False

    def advance(
        self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], deadline: Deadline = UNLIMITED
    ) -> None:
        """Fit from scratch."""
        fit_until(model.set_params(**self.spent(span.stop, span.of)), X, y, fit_params, deadline, seed=0)

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """The value of the parameter."""
        return {self.parameter: share(self.total, stop, of)}


@dataclass(frozen=True, slots=True)
class Rows:
    """A new fit for each slice, on more rows: the same rows for all models, with every class among the first."""

    seed: int
    continues = False

    def advance(
        self, model: Any, X: Any, y: Any, span: Span, fit_params: Mapping[str, Any], deadline: Deadline = UNLIMITED
    ) -> None:
        """Fit from scratch."""
        n = count_rows(X)
        if span.stop == span.of or n <= _FEW_ROWS:
            return fit_until(model, X, y, fit_params, deadline, self.seed)
        order, classes = row_order(y if is_classifier(model) else None, n, self.seed)
        rows = order[: max(share(n, span.stop, span.of), _FEW_ROWS, _FEW_OF_A_CLASS * classes)]
        params = _check_method_params(X, fit_params, indices=rows)
        targets = None if y is None else _safe_indexing(y, rows)
        return fit_until(model, _safe_indexing(X, rows), targets, params, deadline, self.seed)

    def spent(self, stop: int, of: int) -> dict[str, Any]:
        """Nothing, because the number of rows is not a parameter."""
        return {}


def has_converged(losses: Sequence[float], tolerance: float | None, patience: int | None) -> bool:
    """Whether the loss has not decreased by the tolerance for more than `patience` epochs, as in scikit-learn's networks.

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
