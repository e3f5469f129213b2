"""The search space of an estimator: a space of JSON configs, and the estimator parameters for each config."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone

from ...spaces import Choice, Constant, Float, Int, Joint, Space, choice_of, from_scipy
from ...spaces.parameters import plain

_TAIL = 1e-4  # probability cut off at each end of a distribution, where values may be infinite


class SearchSpace(Protocol):
    """A space, and the parameters of its configs."""

    @property
    def space(self) -> Any:
        """The space of configs."""

    def params(self, config: Any) -> dict[str, Any]:
        """The parameters of a config, for `set_params`."""


def search_space(space: Any) -> SearchSpace:
    """The search space for any `space` argument that `BanditSearchCV` accepts.

    Args:
        space: A `Space`, or anything with `sample` and `mutate` whose configs are dicts of parameters. Or, as for
            `RandomizedSearchCV`, a dict of lists and distributions, or a list of such dicts. None means that nothing is
            searched.

    >>> found = search_space({"tol": [1e-4, 1e-3, 1e-2], "ngram_range": [(1, 1), (1, 2)]})
    >>> found.space
    Space(tol=Choice(0.0001, 0.001, 0.01, ordered=True), ngram_range=Choice('(1, 1)', '(1, 2)'))
    >>> found.params({"tol": 1e-4, "ngram_range": "(1, 2)"})
    {'tol': 0.0001, 'ngram_range': (1, 2)}
    """
    if space is None:
        return Plain(Space())
    if isinstance(space, Mapping):
        return _from_dict(space)
    if isinstance(space, Sequence) and not isinstance(space, str) and space and all(isinstance(s, Mapping) for s in space):
        parts = tuple(map(_from_dict, space))
        return parts[0] if len(parts) == 1 else Alternatives(parts)
    if not callable(getattr(space, "sample", None)) or not callable(getattr(space, "mutate", None)):
        raise TypeError(f"space must be a Space, a dict of lists and distributions, or a list of such dicts, got {space!r}")
    return Plain(space)


@dataclass(frozen=True)
class Plain:
    """A space of parameters. `meanings` maps stored values to the actual ones, where they differ."""

    space: Any
    meanings: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    def params(self, config: Any) -> dict[str, Any]:
        """The parameters, with those of nested spaces flattened."""
        found = flattened(self.space, config) if isinstance(self.space, Space) else dict(config)
        return {name: self.meanings[name](value) if name in self.meanings else value for name, value in found.items()}


class Alternatives:
    """A choice among several spaces, each with its own meanings."""

    def __init__(self, parts: tuple[Plain, ...]) -> None:
        self.parts = parts
        numbered = (Space(**{"": number}, **part.space.parameters) for number, part in enumerate(parts))
        self.space = Space(**{"": Choice(list(numbered))})

    def params(self, config: Any) -> dict[str, Any]:
        """The parameters of the chosen space."""
        inner = dict(config[""])
        return self.parts[inner.pop("")].params(inner)


def flattened(space: Space, config: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a config, with those of nested spaces flattened.

    >>> solver = Choice("lbfgs", Space(solver="sgd", momentum=Float(0, 1)))
    >>> flattened(Space(alpha=Float(0, 1), solver=solver), {"alpha": 0.1, "solver": {"solver": "sgd", "momentum": 0.9}})
    {'alpha': 0.1, 'solver': 'sgd', 'momentum': 0.9}
    """
    values: dict[str, Any] = {}
    for name, parameter in space.parameters.items():
        value = config[name]
        if isinstance(parameter, Choice):
            parameter = parameter.options[parameter.position(value)]
        values |= flattened(parameter, value) if isinstance(parameter, Space) else {name: value}
    return values


def n_configs(space: Any) -> float:
    """The number of configs in a space; infinity if they cannot be counted.

    >>> n_configs(Space(depth=Int(1, 3), criterion=Choice("gini", "entropy")))
    6
    """
    if isinstance(space, Space):
        return math.prod(map(n_configs, space.parameters.values()))
    if isinstance(space, Joint):
        return sum(map(n_configs, space.spaces.values()))
    if isinstance(space, Choice):
        return sum(n_configs(option) if isinstance(option, Space) else 1 for option in space.options)
    if isinstance(space, (Int, Float)):
        return space.n_values
    return 1 if isinstance(space, Constant) else math.inf


def _from_dict(given: Mapping[str, Any]) -> Plain:
    parameters, meanings = {}, {}
    for name, values in given.items():
        if not isinstance(name, str):
            raise TypeError(f"space must have strings as names, got {name!r}")
        try:
            parameters[name], meaning = _parameter(values)
        except (TypeError, ValueError) as error:
            raise type(error)(f"space[{name!r}]: {error}") from None
        if meaning is not None:
            meanings[name] = meaning
    return Plain(Space(**parameters), meanings)


def _parameter(values: Any) -> tuple[Any, Callable[[Any], Any] | None]:
    """A parameter of a space, and the actual values that its options stand for, if they are not JSON."""
    if isinstance(values, (Float, Int, Choice, Space)):
        return values, None
    if hasattr(values, "rvs"):
        return _distributed(values)
    if isinstance(values, (str, Mapping)) or not hasattr(values, "__iter__"):
        raise TypeError(f"must be a list, a distribution, a Float, an Int or a Choice, got {values!r}")
    options = list(values)
    try:
        return choice_of([plain("an option", option) for option in options]), None
    except TypeError:  # some options are not JSON: their names are used instead
        named = Named(options)
        return Choice(list(named.options)), named


def _distributed(distribution: Any) -> tuple[Any, Callable[[Any], Any] | None]:
    try:
        return from_scipy({"": distribution}).parameters[""], None
    except ValueError:
        if not hasattr(distribution, "ppf") or not np.isfinite(distribution.ppf(0.5)):
            raise ValueError(f"must be a list, or a frozen distribution with a finite median, got {distribution!r}") from None
        return Float(_TAIL, 1 - _TAIL), Quantile(distribution)


class Named:
    """Options that are not JSON, such as tuples, functions and estimators. Each is named by its `repr`, if that is unique."""

    def __init__(self, options: Sequence[Any]) -> None:
        texts = [repr(option) for option in options]
        alike = {text for text in texts if texts.count(text) > 1 or " at 0x" in text}
        self.options = {f"option {i}" if text in alike else text: options[i] for i, text in enumerate(texts)}

    def __call__(self, name: str) -> Any:
        """The option; an estimator is cloned."""
        return clone(self.options[name], safe=False)


@dataclass(frozen=True)
class Quantile:
    """The quantiles of a distribution."""

    distribution: Any

    def __call__(self, share: float) -> float:
        """The quantile."""
        value = self.distribution.ppf(share)
        return int(value) if hasattr(self.distribution, "pmf") else float(value)
