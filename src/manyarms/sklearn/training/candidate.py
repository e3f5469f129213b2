"""A candidate: an estimator whose parameters are searched, and how its pipeline is divided."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import cloudpickle
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import _routing_enabled, get_routing_for_object, process_routing

from .resources import slices_of
from .slices import Rows, Slices

FOLDS = "folds"
"""The resource with which each step trains one more fold."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An estimator whose parameters are searched, and how its training is sliced.

    Args:
        estimator: An unfitted estimator. Only the last step of a pipeline is trained in slices.
        resource: As for `slices_of`; in a pipeline, the name of a parameter starts with its step. Or "folds": each step trains
            on one more fold, and the reward is the mean over the folds so far.
        max_steps: Steps of a full training.
        reads: Returns the parameters of a config.
        fit_params: Arguments of `fit` for this candidate only; None for those of all candidates.
        time_factor: Factor of the time limit of its pulls.
    """

    estimator: Any
    resource: str | None = "auto"
    max_steps: int = 10
    reads: Callable[[Any], dict[str, Any]] = dict
    fit_params: Mapping[str, Any] | None = None
    time_factor: float = 1.0

    def with_params(self, params: Mapping[str, Any], seed: int | None) -> Any:
        """The unfitted estimator of a config."""
        return unfitted(self.estimator, params, seed)

    @property
    def is_partial(self) -> bool:
        """Whether early scores are based on only some of the rows or folds."""
        return self.resource == FOLDS or isinstance(self.slices(self.estimator), Rows)

    def slices(self, estimator: Any, seed: int = 0) -> Slices:
        """How it is trained in slices."""
        _, last, step = split(estimator)
        resource = None if self.resource == FOLDS else self.resource
        if step is not None and resource is not None and resource.startswith(f"{step}__"):
            resource = resource.removeprefix(f"{step}__")
        return slices_of(last, resource, seed)


def unfitted(model: Any, params: Mapping[str, Any], seed: int | None) -> Any:
    """An unfitted copy with these parameters, and with this seed where it has none.

    Args:
        model: An estimator.
        params: Parameters for `set_params`.
        seed: Random seed; None leaves it unset.
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


@dataclass(frozen=True, slots=True)
class Metadata:
    """Arguments of `fit` and of the scorer, for all rows. Those with a value per row are split with the rows."""

    fit: Mapping[str, Any]
    score: Mapping[str, Any]


NO_METADATA = Metadata({}, {})


def fit_params(candidate: Candidate, metadata: Metadata) -> Mapping[str, Any]:
    """The arguments of `fit` for a candidate."""
    return metadata.fit if candidate.fit_params is None else candidate.fit_params


def split(estimator: Any) -> tuple[Any, Any, str | None]:
    """The first steps of a pipeline, the last step, and its name; (None, estimator, None) if it is not a plain pipeline."""
    if type(estimator) is not Pipeline or len(estimator.steps) < 2 or not hasattr(estimator.steps[-1][1], "fit"):
        return None, estimator, None
    if getattr(estimator, "transform_input", None) is not None:
        return None, estimator, None
    name, last = estimator.steps[-1]
    return Pipeline(estimator.steps[:-1], memory=estimator.memory), last, name


def joined(first: Any, last: Any, estimator: Any) -> Any:
    """Put the parts from `split` together again."""
    if first is None:
        return last
    whole = copy.copy(estimator)  # keeps its other settings, such as its output and metadata requests
    whole.steps = [*first.steps, (estimator.steps[-1][0], last)]
    return whole


def pickled(part: Any) -> bytes:
    """A pickle that any process can read."""
    try:
        data = pickle.dumps(part)
    except Exception:  # for example, a lambda
        return bytes(cloudpickle.dumps(part))
    return bytes(cloudpickle.dumps(part)) if b"__main__" in data else data  # `__main__` is another module in a worker


def split_fit_params(estimator: Any, fit_params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments of `fit` for the first steps, and for the last step, without its prefix."""
    first, _, step = split(estimator)
    if step is None or not fit_params:
        return {}, dict(fit_params)
    if _routing_enabled():
        routed = process_routing(estimator, "fit", **fit_params)
        wanted = get_routing_for_object(first).consumes("fit_transform", fit_params)
        return {name: fit_params[name] for name in wanted}, dict(routed[step]["fit"])
    own = {name.removeprefix(f"{step}__"): value for name, value in fit_params.items() if name.startswith(f"{step}__")}
    return {name: value for name, value in fit_params.items() if not name.startswith(f"{step}__")}, own
