"""A space of named parameters: makes, mutates, crosses and encodes configs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from .batches import SpaceBatches
from .choice import Choice
from .parameters import MUTATION_SIZE, Constant, Coordinates, Float, Int, Parameter, copy_of


class Space:
    """Configs with a value for each named parameter: plain dicts that can be stored as JSON.

    Args:
        parameters: Each is a `Float`, an `Int`, a `Choice`, a `Space` (a nested dict), or any other value, which is a constant.

    >>> import numpy as np
    >>> from manyarms import Choice, Float, Int, Space
    >>> space = Space(lr=Float(1e-5, 1e-1, log=True), width=Int(5, 50), act=Choice("relu", "tanh"), epochs=3)
    >>> config = space.sample(np.random.default_rng(0))
    >>> sorted(config), config["epochs"]
    (['act', 'epochs', 'lr', 'width'], 3)
    >>> space.mutate(config, np.random.default_rng(1)) != config
    True
    """

    def __init__(self, /, *given: Any, **parameters: Any) -> None:
        if given:
            raise TypeError(
                f"Space takes its parameters by name, such as ma.Space(x=ma.Float(0, 1)), got {given[0]!r}; "
                "a dict such as {'x': (0.0, 1.0)} can be the space itself, without ma.Space"
            )
        self.parameters: dict[str, Parameter] = {name: _parameter(name, value) for name, value in parameters.items()}
        self._varying = [(name, parameter) for name, parameter in self.parameters.items() if parameter.varies]
        self._containers = [name for name, parameter in self.parameters.items() if not _scalar(parameter)]
        self.dimension = sum(parameter.dimension for parameter in self.parameters.values())
        self.varies = bool(self._varying)
        self.firsts: tuple[dict[str, Any], ...] = ()

    def first(self, *configs: Mapping[str, Any]) -> Space:
        """The same space with configs to try first, such as defaults or configs that were good elsewhere.

        Strategies that start with random arms use these first. Strategies that divide the space into regions do not.

        >>> from manyarms import Float, RandomSearch, Space
        >>> RandomSearch(Space(x=Float(0, 1)).first({"x": 0.5}), budget=10, seed=0).ask().config
        {'x': 0.5}
        """
        for config in configs:
            if not self.contains(config):
                raise ValueError(f"first takes configs of the space, got {config!r}: {_misfit(self, config)}")
        space = Space(**self.parameters)
        for config in configs:
            if not any(self._same(config, other) for other in space.firsts):
                space.firsts += (self._copy(config),)
        return space

    def _same(self, a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
        """Whether two configs are equal. Encodings are compared too, because 1 equals True in Python but is another option."""
        return a == b and np.array_equal(self.encode(a), self.encode(b))

    def sample(self, rng: np.random.Generator) -> dict[str, Any]:
        """A random config."""
        return {name: parameter.sample(rng) for name, parameter in self.parameters.items()}

    def mutate(self, config: Mapping[str, Any], rng: np.random.Generator, size: float = MUTATION_SIZE) -> dict[str, Any]:
        """A different config near this one; an equal one if the space has no other.

        One parameter changes, and half of the time a second one. Numbers change by about `size` of their range.
        """
        child = self._copy(config)
        n = len(self._varying)
        if not n:
            return child
        u = rng.random() * n
        first = int(u)
        name, parameter = self._varying[first]
        child[name] = parameter.mutate(child[name], rng, size)
        if n > 1 and u - first < 0.5:
            name, parameter = self._varying[
                first - 1 - int(rng.random() * (n - 1))
            ]  # any but the first; negative indices wrap around
            child[name] = parameter.mutate(child[name], rng, size)
        return child

    def _copy(self, config: Mapping[str, Any]) -> dict[str, Any]:
        child = dict(config)
        for name in self._containers:
            child[name] = copy_of(child[name])
        return child

    def crossover(self, a: Mapping[str, Any], b: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        """A config that takes each value from one of the two configs."""
        return {name: parameter.crossover(a[name], b[name], rng) for name, parameter in self.parameters.items()}

    def contains(self, config: Any) -> bool:
        """Whether this is a config of the space."""
        return (
            isinstance(config, Mapping)
            and config.keys() == self.parameters.keys()
            and all(parameter.contains(config[name]) for name, parameter in self.parameters.items())
        )

    def encode(self, config: Mapping[str, Any]) -> NDArray[np.float64]:
        """The config as a point in the unit cube: one coordinate for numbers and ordered choices, one-hot for other choices."""
        return np.array([u for name, parameter in self.parameters.items() for u in parameter.encode(config[name])])

    def decode(self, vector: Coordinates) -> dict[str, Any]:
        """The config at a point in the unit cube. `decode(encode(config))` is the config, up to rounding."""
        if len(vector) != self.dimension:
            raise ValueError(f"vector must have {self.dimension} coordinates, got {len(vector)}")
        config, at = {}, 0
        for name, parameter in self.parameters.items():
            config[name] = parameter.decode(vector[at : at + parameter.dimension])
            at += parameter.dimension
        return config

    def batch_maker(self) -> SpaceBatches:
        """An object that makes many configs at once."""
        return SpaceBatches(self.parameters)

    def describe(self) -> Any:
        """The space as JSON data, for `restore`."""
        description: dict[str, Any] = {"space": {name: parameter.describe() for name, parameter in self.parameters.items()}}
        return description | ({"first": [dict(config) for config in self.firsts]} if self.firsts else {})

    def __eq__(self, other: object) -> bool:
        # compared as text, because encodings and random configs depend on the order of the parameters
        return isinstance(other, Space) and json.dumps(self.describe()) == json.dumps(other.describe())

    def __hash__(self) -> int:
        return hash(tuple(self.parameters))

    def __repr__(self) -> str:
        parts = {name: written(part) for name, part in self.parameters.items()}
        if all(map(str.isidentifier, parts)):
            text = ", ".join(f"{name}={part}" for name, part in parts.items())
        else:
            text = f"**{{{', '.join(f'{name!r}: {part}' for name, part in parts.items())}}}"
        firsts = f".first({', '.join(map(repr, self.firsts))})" if self.firsts else ""
        return f"Space({text}){firsts}"

    def _repr_html_(self) -> str:
        from .space_html import space_html  # imported here, because it imports this module

        return space_html(self)


def _parameter(name: str, value: Any) -> Parameter:
    if isinstance(value, (Float, Int, Choice, Constant, Space)):
        return value
    meant = _meant_range(value)
    if meant is not None:
        raise TypeError(f"parameter {name!r}: write ma.{meant!r} for a range, or {list(value)!r} for a constant, got {value!r}")
    try:
        return Constant(value)
    except TypeError as error:
        raise TypeError(f"parameter {name!r}: {error}") from None


def _meant_range(value: Any) -> Float | Int | None:
    """The range that a tuple is in a plain dict; None if it is none there, or has one value."""
    from .shorthand import range_of  # imported here, because it imports this module

    try:
        meant = range_of(value) if isinstance(value, tuple) else None
    except (TypeError, ValueError):
        return None
    return meant if meant is not None and meant.varies else None


def written(parameter: Parameter) -> str:
    """A parameter as the user writes it in a space: a constant is its value."""
    return repr(parameter.value if isinstance(parameter, Constant) else parameter)


def _misfit(space: Space, config: Any, path: str = "") -> str:
    """Why this is not a config of the space: the first parameter that is unknown, missing or out of range.

    Args:
        space: The space.
        config: What was given.
        path: Path of the space in the outermost space, such as "model.".
    """
    if not isinstance(config, Mapping):
        return f"{f'parameter {path[:-1]!r}' if path else 'a config'} must be a dict"
    for name in config:
        if name not in space.parameters:
            close = checks.closest(str(name), space.parameters, 1)
            return f"there is no parameter {f'{path}{name}'!r}" + (f"; did you mean {path + close[0]!r}?" if close else "")
    for name, parameter in space.parameters.items():
        if name not in config:
            return f"parameter {path + name!r} is missing"
        if isinstance(parameter, Space) and not parameter.contains(config[name]):
            return _misfit(parameter, config[name], f"{path}{name}.")
        if not parameter.contains(config[name]):
            rule = written(parameter) if isinstance(parameter, Constant) else f"a value of {written(parameter)}"
            return f"parameter {path + name!r} must be {rule}, got {config[name]!r}"
    raise AssertionError("the config is in the space")


def _scalar(part: Any) -> bool:
    """Whether no value of the parameter or option is a list or a dict."""
    if isinstance(part, Choice):
        return all(map(_scalar, part.options))
    return _scalar(part.value) if isinstance(part, Constant) else not isinstance(part, (Space, dict, list))
