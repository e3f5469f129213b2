"""What is trained: an estimator whose parameters are searched, and the parts of a pipeline."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import cloudpickle
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import _routing_enabled, get_routing_for_object, process_routing

from .slices import Rows, Slices, fresh, slices_of

FOLDS = "folds"
"""The resource of which each step is one fold more."""


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

    @property
    def is_partial(self) -> bool:
        """Whether scores before the end are on some of the rows or folds only."""
        return self.resource == FOLDS or isinstance(self.slices(self.estimator), Rows)

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


def fit_params(candidate: Candidate, metadata: Metadata) -> Mapping[str, Any]:
    """The arguments of `fit` that a candidate gets."""
    return metadata.fit if candidate.fit_params is None else candidate.fit_params


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


def written(part: Any) -> bytes:
    """Pickled so that any process can read it."""
    try:
        written = pickle.dumps(part)
    except Exception:  # a lambda, say
        return bytes(cloudpickle.dumps(part))
    return bytes(cloudpickle.dumps(part)) if b"__main__" in written else written  # which is another one in a worker


def divided(estimator: Any, fit_params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
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
