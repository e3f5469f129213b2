"""Chooses how to train an estimator in slices, depending on the resource that grows."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from .early_stopping import EarlyStopping
from .slices import BoostedRounds, Epochs, Refits, Rows, Slices, Solver, WarmRounds, Whole

RESOURCES = ("auto", "n_samples", "partial_fit")
"""The values of `resource` that are not names of parameters."""

SOLVER = "solver"
"""The resource of an estimator whose `max_iter` can be cut short, and which continues with `warm_start`."""

EARLY_STOPPING = "early_stopping"
"""The resource of boosting that is trained in one slice, until the validation loss no longer decreases."""

_CONTINUATIONS = ("init_model", "xgb_model")  # arguments of `fit` that accept the model so far


def slices_of(estimator: Any, resource: str | None = "auto", seed: int = 0) -> Slices:
    """How an estimator is trained one slice at a time.

    Args:
        estimator: An unfitted estimator that is not a pipeline.
        resource: "auto"; "n_samples" for more rows; "partial_fit" for more epochs; a parameter that counts rounds; or None
            for a single fit.
        seed: Random seed for the order of the rows.

    >>> from sklearn.ensemble import GradientBoostingClassifier
    >>> slices_of(GradientBoostingClassifier(n_estimators=50))
    WarmRounds(parameter='n_estimators', total=50)
    """
    if resource is None:
        return Whole()
    if not isinstance(resource, str):
        raise TypeError(f"resource must be a string or None, got {resource!r}")
    if resource == EARLY_STOPPING:
        name = "iterations" if "iterations" in estimator.get_params() else "n_estimators"
        return EarlyStopping(name, int(estimator.get_params()[name]))
    if resource == SOLVER:
        return Solver("max_iter", int(estimator.get_params()["max_iter"]))
    name = _chosen(estimator) if resource == "auto" else resource
    if name == "n_samples":
        return _rows(estimator, resource, seed)
    if name == "partial_fit":
        if not hasattr(estimator, "partial_fit"):
            raise ValueError(f"resource='partial_fit' needs an estimator with a partial_fit method, got {estimator!r}")
        epochs = estimator.get_params().get("max_iter")
        return Epochs(None if epochs is None else int(epochs), seed)
    return _rounds(estimator, name)


def _rows(estimator: Any, resource: str, seed: int) -> Slices:
    """Train on more rows; or in a single fit if X is pairwise, such as a precomputed kernel."""
    if not get_tags(estimator).input_tags.pairwise:
        return Rows(seed)
    if resource == "n_samples":
        raise ValueError(f"resource='n_samples' does not work with pairwise data, got {estimator!r}")
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
    """XGBoost's default."""
    if value is None and _continuation(estimator) == "xgb_model":
        return 100
    raise ValueError(f"{parameter}, the resource, must be an integer that is at least 1, got {value!r}")


def _chosen(estimator: Any) -> str:
    """The resource for "auto": one with which training continues, else rows."""
    known = estimator.get_params()
    if _continuation(estimator) is not None or ("warm_start" in known and "n_estimators" in known):
        return "n_estimators"
    if hasattr(estimator, "partial_fit") and "max_iter" in known and not _needs_all_rows(known):
        return "partial_fit"
    if "warm_start" in known and "max_leaf_nodes" in known and "max_iter" in known:  # rounds of boosting, not of a solver
        return "max_iter"
    return "n_samples"


def _needs_all_rows(params: Mapping[str, Any]) -> bool:
    """Whether `partial_fit` fails with these parameters, because they require all rows at once."""
    return params.get("early_stopping") is True or params.get("class_weight") == "balanced"


def _continuation(estimator: Any) -> str | None:
    """The argument of `fit` that accepts the model so far."""
    known = inspect.signature(estimator.fit).parameters if "n_estimators" in estimator.get_params() else {}
    return next((name for name in _CONTINUATIONS if name in known), None)
