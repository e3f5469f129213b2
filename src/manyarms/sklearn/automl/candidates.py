"""The candidates of an automatic search: the families that can be used, and how each is trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ..training.candidate import Candidate
from .families import families
from .family import Family
from .plan import Plan, width
from .scoring import needs_probabilities
from .targets import Target


def make_candidates(
    names: Sequence[str] | None, kinds: Sequence[str], target: Target, plan: Plan, scorer: Any, weighted: bool
) -> dict[str, tuple[Family, Candidate]]:
    """The families for a table and how they are trained, by name.

    With cross-validation, a step is a full training on all folds. With a single validation set, trainings are sliced.

    Args:
        names: Names of the families; None for all that fit the table.
        kinds: What each column holds.
        target: What to predict.
        plan: The number of folds and rows.
        scorer: The scorer of the search.
        weighted: Whether there are sample weights.
    """
    rows = plan.rows - plan.rows // max(plan.folds, 5)
    found = families(names, classes=target.n_classes, rows=rows, columns=width(kinds))
    probabilities = target.n_classes > 0 and needs_probabilities(scorer, target)
    usable = {
        name: replace(family, estimator=clone(family.estimator).set_params(prepare__kinds=list(kinds)))
        for name, family in _usable(found, probabilities, weighted).items()
    }
    if plan.folds > 1:
        return {name: (f, Candidate(f.estimator, _unsliced(f.resource), 1)) for name, f in usable.items()}
    return {name: (f, Candidate(f.estimator, f.resource, f.max_steps)) for name, f in usable.items()}


def _unsliced(resource: str | None) -> str | None:
    """The resource by which a full training can be cut short; rows and epochs need none."""
    return None if resource in ("n_samples", "partial_fit") else resource


def _usable(found: dict[str, Family], probabilities: bool, weights: bool) -> dict[str, Family]:
    """The families that predict probabilities and accept sample weights, if that is needed."""
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
