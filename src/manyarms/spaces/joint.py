"""Several spaces as one. A config names one of the spaces and contains a config of it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .parameters import MUTATION_SIZE, Coordinates, copy_of
from .protocol import from_json, to_json
from .shorthand import as_space


class Joint:
    """A space of configs `{"algorithm": name, "config": a config of the space with that name}`, as made by a `Cascade`.

    All algorithms are equally likely. Mutation changes the inner config as often as the algorithm. Methods that all the spaces
    have (crossover, contains, encode and decode, describe) are available here too.

    Args:
        spaces: The spaces by name of the algorithm. Each is a `Space`, a dict that describes one (see `as_space`), or anything
            with `sample` and `mutate`.

    >>> import numpy as np
    >>> from manyarms import Float, Int, Joint, Space
    >>> space = Joint({"svm": Space(C=Float(0.1, 10, log=True)), "forest": Space(trees=Int(10, 1000))})
    >>> space.sample(np.random.default_rng(0))
    {'algorithm': 'forest', 'config': {'trees': 277}}
    """

    def __init__(self, spaces: Mapping[str, Any]) -> None:
        self.spaces = {_name(name): as_space(space) for name, space in _named(spaces).items()}
        self._names = list(self.spaces)
        parts = self.spaces.values()
        self._sized = {name for name, space in self.spaces.items() if "size" in inspect.signature(space.mutate).parameters}
        for ability in ("crossover", "contains", "describe"):
            if all(hasattr(space, ability) for space in parts):
                setattr(self, ability, getattr(self, f"_{ability}"))
        if all(hasattr(space, "encode") and hasattr(space, "dimension") for space in parts):
            self.dimension = len(self._names) + sum(int(space.dimension) for space in parts)
            self.encode = self._encode
            if all(hasattr(space, "decode") for space in parts):
                self.decode = self._decode

    def sample(self, rng: np.random.Generator) -> dict[str, Any]:
        """A random config of a random algorithm."""
        return self._sample(self._names[int(rng.random() * len(self._names))], rng)

    def mutate(self, config: Mapping[str, Any], rng: np.random.Generator, size: float = MUTATION_SIZE) -> dict[str, Any]:
        """A config near this one of the same algorithm or, half of the time, a random config of another algorithm."""
        name = config["algorithm"]
        space, others = self.spaces[name], [other for other in self._names if other != name]
        if others and (not getattr(space, "varies", True) or rng.random() < 0.5):
            return self._sample(others[int(rng.random() * len(others))], rng)
        given = (size,) if name in self._sized else ()
        return _config(name, space.mutate(config["config"], rng, *given))

    def to_json(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The config as JSON data."""
        name = config["algorithm"]
        return _config(name, to_json(self.spaces[name], config["config"]))

    def from_json(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The config that `to_json` wrote."""
        name = data["algorithm"]
        return _config(name, from_json(self.spaces[name], data["config"]))

    def _sample(self, name: str, rng: np.random.Generator) -> dict[str, Any]:
        return _config(name, self.spaces[name].sample(rng))

    def _crossover(self, a: Mapping[str, Any], b: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        name = a["algorithm"]
        if name == b["algorithm"]:
            return _config(name, self.spaces[name].crossover(a["config"], b["config"], rng))
        return dict(copy_of(dict(a if rng.random() < 0.5 else b)))

    def _contains(self, config: Any) -> bool:
        if not isinstance(config, Mapping) or config.keys() != {"algorithm", "config"}:
            return False
        name = config["algorithm"]
        return isinstance(name, str) and name in self.spaces and bool(self.spaces[name].contains(config["config"]))

    def _encode(self, config: Mapping[str, Any]) -> NDArray[np.float64]:
        """One coordinate for each algorithm, then those of each space, 0.5 for the spaces of other algorithms."""
        name = config["algorithm"]
        parts = [[float(other == name) for other in self._names]]
        for other, space in self.spaces.items():
            parts.append(list(space.encode(config["config"])) if other == name else [0.5] * space.dimension)
        return np.array([u for part in parts for u in part])

    def _decode(self, vector: Coordinates) -> dict[str, Any]:
        if len(vector) != self.dimension:
            raise ValueError(f"vector must have {self.dimension} coordinates, got {len(vector)}")
        place = max(range(len(self._names)), key=lambda i: vector[i])
        at = len(self._names) + sum(self.spaces[name].dimension for name in self._names[:place])
        name = self._names[place]
        return _config(name, self.spaces[name].decode(vector[at : at + self.spaces[name].dimension]))

    def _describe(self) -> Any:
        return {"joint": {name: space.describe() for name, space in self.spaces.items()}}

    def __repr__(self) -> str:
        return f"Joint({self.spaces!r})"

    def _repr_html_(self) -> str:
        from .space_html import space_html  # imported here, because it imports this module

        return space_html(self)


def _config(name: str, inner: Any) -> dict[str, Any]:
    return {"algorithm": name, "config": inner}


def _named(spaces: Any) -> Mapping[str, Any]:
    if not isinstance(spaces, Mapping):
        raise TypeError(f"spaces must be a dict of names to spaces, got {spaces!r}")
    if not spaces:
        raise ValueError("spaces must contain at least one space, got none")
    return spaces


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the names of spaces must be strings, got {name!r}")
    return name
