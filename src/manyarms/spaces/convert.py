"""Spaces made from the search spaces of other libraries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from .choice import Choice
from .parameters import Constant, Float, Int, Parameter
from .space import Space

_Children = Mapping[str, list[tuple[Any, tuple[Any, ...]]]]
"""For each parent's name, its children, each with the parent's values that make it active."""


def from_configspace(configuration_space: Any) -> Space:
    """A `Space` that is equivalent to a ConfigSpace `ConfigurationSpace`, without defaults and metadata.

    ConfigSpace lists a conditional hyperparameter next to its parent; here it is inside the parent. An option of a categorical
    with active children becomes a `Space` of them, with a constant for the option itself. With `C` active when `model` is
    "svm", a config contains `{"model": {"model": "svm", "C": 1.0}}` or `{"model": "knn"}`. Tuples become lists, to survive
    JSON.

    Uniform numbers, categoricals, ordinals, constants, and "equals" and "in" conditions on a categorical are converted.
    Forbidden clauses, weights, other distributions and other conditions raise a `ValueError` that names the hyperparameter.
    """
    try:
        from ConfigSpace import ConfigurationSpace
    except ImportError as error:
        raise ImportError('from_configspace needs ConfigSpace: pip install "manyarms[configspace]"') from error
    if not isinstance(configuration_space, ConfigurationSpace):
        raise TypeError(f"configuration_space must be a ConfigSpace.ConfigurationSpace, got {configuration_space!r}")
    for clause in configuration_space.forbidden_clauses:
        raise ValueError(f"hyperparameter {_forbidden(clause)!r}: a space has no forbidden clauses, got {clause}")
    roots = [configuration_space[name] for name in configuration_space.unconditional_hyperparameters]
    return _space(roots, _children(configuration_space), constants={})


def from_scipy(distributions: Mapping[str, Any]) -> Space:
    """The space of the distributions that scikit-learn's `RandomizedSearchCV` takes.

    Args:
        distributions: For each parameter a list (a choice; tuples in it become lists, to survive JSON) or a frozen `uniform`,
            `loguniform` (also called `reciprocal`) or `randint` of `scipy.stats`.

    >>> from scipy.stats import loguniform, randint
    >>> from_scipy({"C": loguniform(0.1, 10), "degree": randint(2, 6), "kernel": ["rbf", "poly"]})
    Space(C=Float(0.1, 10, log=True), degree=Int(2, 5), kernel=Choice('rbf', 'poly'))
    """
    if not isinstance(distributions, Mapping):
        raise TypeError(f"distributions must map names to lists and distributions, got {distributions!r}")
    parameters = {}
    for name, distribution in distributions.items():
        with _naming("distributions", name):
            parameters[name] = from_distribution(distribution)
    return Space(**parameters)


def from_optuna(distributions: Mapping[str, Any]) -> Space:
    """The space of the distributions of an Optuna study, such as `study.best_trial.distributions`.

    Args:
        distributions: For each parameter a `FloatDistribution`, an `IntDistribution` or a `CategoricalDistribution`; a step
            stays a step.
    """
    if not isinstance(distributions, Mapping):
        raise TypeError(f"distributions must map names to distributions of Optuna, got {distributions!r}")
    parameters = {}
    for name, distribution in distributions.items():
        with _naming("distributions", name):
            parameters[name] = from_distribution(distribution)
    return Space(**parameters)


def from_distribution(distribution: Any) -> Parameter:
    """The parameter that corresponds to a distribution of `scipy.stats` or Optuna."""
    return _from_optuna(distribution) if is_optuna(distribution) else _from_scipy(distribution)


def is_optuna(value: Any) -> bool:
    """Whether the value is a distribution of Optuna, which need not be installed."""
    return any(kind.__module__ == "optuna.distributions" for kind in type(value).__mro__)


def _from_optuna(distribution: Any) -> Parameter:
    kinds = {kind.__name__ for kind in type(distribution).__mro__}  # by name, so that Optuna is never imported
    if "FloatDistribution" in kinds:
        return Float(distribution.low, distribution.high, distribution.log, distribution.step)
    if "IntDistribution" in kinds:
        return Int(distribution.low, distribution.high, distribution.log, distribution.step)
    if "CategoricalDistribution" in kinds:
        return Choice(list(map(listed, distribution.choices)))
    raise ValueError(f"must be a FloatDistribution, IntDistribution or CategoricalDistribution, got {distribution!r}")


@contextmanager
def _naming(what: str, name: str) -> Iterator[None]:
    """Add to errors which part of the other library's space they are about."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} {name!r}: {error}") from None


def listed(value: Any) -> Any:
    """The value with tuples replaced by lists and NumPy numbers by Python numbers."""
    if isinstance(value, (list, tuple)):
        return [listed(part) for part in value]
    if isinstance(value, dict):
        return {key: listed(part) for key, part in value.items()}
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _from_scipy(distribution: Any) -> Parameter:
    if isinstance(distribution, (list, tuple, range, np.ndarray)):
        return Choice(list(map(listed, distribution)))
    try:
        from scipy import stats
    except ImportError as error:
        raise ImportError("from_scipy needs SciPy: pip install scipy") from error
    kind = type(getattr(distribution, "dist", None))
    if kind not in (type(stats.uniform), type(stats.loguniform), type(stats.randint)):
        name = getattr(getattr(distribution, "dist", distribution), "name", repr(distribution))
        raise ValueError(f"must be a list or a frozen uniform, loguniform or randint of scipy.stats, got {name}")
    low, high = distribution.support()
    if np.ndim(low) or np.ndim(high) or np.isnan(low):
        raise ValueError(f"must have one valid pair of bounds, got {distribution.args} {distribution.kwds}")
    if kind is type(stats.randint):
        return Int(low, high)
    if kind is type(stats.loguniform) and _shift(distribution):
        raise ValueError(f"loguniform must have loc=0, got loc={_shift(distribution)!r}")
    return Float(low, high, log=kind is type(stats.loguniform))


def _shift(loguniform: Any) -> Any:
    """The `loc` of a frozen loguniform, whose arguments are a, b, loc, scale."""
    return loguniform.kwds.get("loc", loguniform.args[2] if len(loguniform.args) > 2 else 0)


def _forbidden(clause: Any) -> str:
    """The name of the first hyperparameter of a forbidden clause, conjunction or relation."""
    first = getattr(clause, "dlcs", (clause,))[0]
    return str((first.left if hasattr(first, "left") else first.hyperparameter).name)


def _children(configuration_space: Any) -> _Children:
    children: dict[str, list[tuple[Any, tuple[Any, ...]]]] = {}
    for name in configuration_space.conditional_hyperparameters:
        for condition in configuration_space.parent_conditions_of[name]:
            with _naming("hyperparameter", name):
                active = _active_values(condition)
            children.setdefault(condition.parent.name, []).append((configuration_space[name], active))
    return children


def _active_values(condition: Any) -> tuple[Any, ...]:
    """The values of the parent that meet the condition."""
    kind = type(condition).__name__  # by name, so that ConfigSpace is imported in one place only
    simple = kind in ("EqualsCondition", "InCondition")  # ConfigSpace meets "not equals" also where the parent is inactive
    if not simple or type(condition.parent).__name__ != "CategoricalHyperparameter":
        raise ValueError(f"its condition must be equals or in, on a categorical parent, got {condition}")
    return tuple(condition.values) if kind == "InCondition" else (condition.value,)


def _space(hyperparameters: list[Any], children: _Children, constants: Mapping[str, Any]) -> Space:
    parameters = dict(constants)
    for hyperparameter in hyperparameters:
        with _naming("hyperparameter", hyperparameter.name):
            parameters[hyperparameter.name] = _from_hyperparameter(hyperparameter, children)
    return Space(**parameters)


def _from_hyperparameter(hyperparameter: Any, children: _Children) -> Parameter:
    match type(hyperparameter).__name__.removesuffix("Hyperparameter"):
        case "UniformFloat":
            return Float(hyperparameter.lower, hyperparameter.upper, log=bool(hyperparameter.log))
        case "UniformInteger":
            return Int(hyperparameter.lower, hyperparameter.upper, log=bool(hyperparameter.log))
        case "Constant" | "UnParametrized":
            return Constant(listed(hyperparameter.value))
        case "Ordinal":
            return Choice(list(map(listed, hyperparameter.sequence)), ordered=True)
        case "Categorical" if len(set(hyperparameter.weights or ())) <= 1:
            return Choice([_option(hyperparameter, value, children) for value in hyperparameter.choices])
        case "Categorical":
            raise ValueError(f"the options of a space are equally likely, got weights {hyperparameter.weights}")
        case kind:
            raise ValueError(f"must be uniform, categorical, ordinal or constant, got {kind}")


def _option(categorical: Any, value: Any, children: _Children) -> Any:
    active = [child for child, values in children.get(categorical.name, ()) if value in values]
    constant = {categorical.name: listed(value)}
    return _space(active, children, constant) if active else listed(value)
