"""The candidates of an automatic search: the families that can be used, and how each is trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ..training.candidate import Candidate
from ..training.resources import EARLY_STOPPING
from .families import LIBRARIES
from .family import Family
from .family_choice import families
from .folds import ENOUGH_ROWS
from .plan import Columns, Plan
from .scoring import needs_probabilities
from .targets import Target

BOOSTING_FACTOR = 3.0
"""Boosting gets this many times the time limit of other pulls, with a single validation set."""

_MOST_ROUNDS = 2_000  # maximum rounds of boosting with early stopping
_FIRST = ("lightgbm", "catboost", "linear", "xgboost", "extra_trees", "network")  # order with a single validation set
_FIRST_IF_SPARSE = ("linear", "naive_bayes", "lightgbm", "xgboost", "extra_trees")


def make_candidates(
    names: Sequence[str] | None, columns: Columns, target: Target, plan: Plan, scorer: Any, weighted: bool
) -> dict[str, tuple[Family, Candidate]]:
    """The families for a table and how they are trained, by name.

    A step is a full training, on all folds or with a single validation set. In the latter case boosting is stopped early, and
    comes first if there are many rows, for which it is usually the best.

    Args:
        names: Names of the families; None for all that fit the table.
        columns: The columns of the table.
        target: What to predict.
        plan: The number of folds and rows.
        scorer: The scorer of the search.
        weighted: Whether there are sample weights.
    """
    rows = plan.rows - plan.rows // max(plan.folds, 5)
    size: dict[str, int] = {"rows": rows, "columns": columns.width, "sparse_columns": columns.sparse}
    found = families(names, classes=target.n_classes, **size)
    probabilities = target.n_classes > 0 and needs_probabilities(scorer, target)
    usable = {
        name: replace(family, estimator=clone(family.estimator).set_params(**columns.parameters))
        for name, family in _usable(found, probabilities, weighted).items()
    }
    if plan.folds > 1:
        return {name: (f, Candidate(f.estimator, _unsliced(f.resource), 1)) for name, f in usable.items()}
    first = _FIRST_IF_SPARSE if columns.sparse else _FIRST if plan.rows > ENOUGH_ROWS else ()
    ordered = sorted(usable, key=lambda name: first.index(name) if name in first else len(first))
    return {name: _on_one_fold(name, usable[name]) for name in ordered}


def _on_one_fold(name: str, family: Family) -> tuple[Family, Candidate]:
    """How a family is trained with a single validation set: each pull is a whole training, as far as its time allows."""
    if name not in LIBRARIES:
        resource = None if family.resource == "n_samples" else family.resource
        return family, Candidate(family.estimator, resource, 1)
    estimator = clone(family.estimator).set_params(model__n_estimators=_MOST_ROUNDS)
    family = replace(family, estimator=estimator, resource=EARLY_STOPPING, max_steps=1)
    return family, Candidate(estimator, EARLY_STOPPING, 1, time_factor=BOOSTING_FACTOR)


def _unsliced(resource: str | None) -> str | None:
    """The resource by which a full training can be cut short; rows and epochs need none."""
    return None if resource in ("n_samples", "partial_fit") else resource


def _usable(found: dict[str, Family], probabilities: bool, weights: bool) -> dict[str, Family]:
    """The families that predict probabilities and accept sample weights, whichever is needed."""
    models = {name: family.estimator.steps[-1][1] for name, family in found.items()}
    usable = {
        name: family
        for name, family in found.items()
        if (not probabilities or hasattr(models[name], "predict_proba"))
        and (not weights or has_fit_parameter(models[name], "sample_weight"))
    }
    if not usable:
        lacking = "predict probabilities, which the scoring needs" if probabilities else "accept sample weights"
        raise ValueError(f"None of the families can {lacking}: {', '.join(found)}.")
    return usable
