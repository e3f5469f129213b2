"""Makes many configs at once, as points in the unit cube. Useful for making many candidates and using one of them."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .choice import Choice
from .parameters import Float, Int, Parameter, copy_of

Points = NDArray[np.float64]
Numbers = NDArray[np.int64]
Known = tuple[Any, Points]
"""A config and its point."""
Batch = tuple[Points, Callable[[int], Any]]
"""The points of many configs, and a function that makes the i-th config."""


class BatchMaker(Protocol):
    """Makes many configs at once."""

    def sample(self, count: int, rng: np.random.Generator) -> Batch:
        """Random configs."""

    def mutate(self, parent: Known, sizes: Points, rng: np.random.Generator) -> Batch:
        """Mutants of one config, one of each size."""

    def cross(self, parent: Known, others: Sequence[Known], rng: np.random.Generator) -> Batch:
        """Crossings of one config with each of the others."""


def batch_maker(space: Any) -> BatchMaker:
    """The batch maker of a space that encodes: its own or, if it has none, one that makes the configs one by one."""
    own: BatchMaker = space.batch_maker() if hasattr(space, "batch_maker") else OneByOneBatches(space)
    return own


class OneByOneBatches:
    """Makes each config by the methods of the space, and encodes it."""

    def __init__(self, space: Any) -> None:
        self._space = space
        self._sized = "size" in inspect.signature(space.mutate).parameters

    def sample(self, count: int, rng: np.random.Generator) -> Batch:
        return self._encoded([self._space.sample(rng) for _ in range(count)])

    def mutate(self, parent: Known, sizes: Points, rng: np.random.Generator) -> Batch:
        if self._sized:
            return self._encoded([self._space.mutate(parent[0], rng, float(size)) for size in sizes])
        return self._encoded([self._space.mutate(parent[0], rng) for _ in sizes])

    def cross(self, parent: Known, others: Sequence[Known], rng: np.random.Generator) -> Batch:
        return self._encoded([self._space.crossover(parent[0], config, rng) for config, _ in others])

    def _encoded(self, configs: list[Any]) -> Batch:
        points = np.array([self._space.encode(config) for config in configs]).reshape(len(configs), self._space.dimension)
        return points, configs.__getitem__


class SpaceBatches:
    """Makes the points of a `Space` as arrays. A config is made only when it is requested.

    Values that a child inherits are copied from the parent, so that they are exactly equal. Only new values are decoded.

    >>> from manyarms import Choice, Float, Int, Space
    >>> space = Space(lr=Float(0, 1), width=Int(5, 50), act=Choice("relu", "tanh"))
    >>> config = {"lr": 0.1, "width": 30, "act": "relu"}
    >>> known, rng = (config, space.encode(config)), np.random.default_rng(0)
    >>> points, child = batch_maker(space).mutate(known, np.array([0.1, 0.1]), rng)
    >>> points.shape, child(0)
    ((2, 4), {'lr': 0.1, 'width': 33, 'act': 'relu'})
    """

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        self._blocks: list[tuple[str, Parameter, slice]] = []
        at = 0
        for name, parameter in parameters.items():
            self._blocks.append((name, parameter, slice(at, at + parameter.dimension)))
            at += parameter.dimension
        self._owner = np.repeat(np.arange(len(self._blocks)), [parameter.dimension for _, parameter, _ in self._blocks])
        self._varying = np.array([i for i, (_, parameter, _) in enumerate(self._blocks) if parameter.varies], dtype=np.int64)
        starts = [block.start for _, _, block in self._blocks]
        numbers = [i for i in self._varying if isinstance(self._blocks[i][1], (Float, Int))]
        self._coordinate = np.full(len(self._blocks), -1)  # the coordinate of each number; -1 for choices
        self._coordinate[numbers] = [starts[i] for i in numbers]
        self._choices = [int(i) for i in self._varying if i not in numbers]
        self._stepped = [int(i) for i in numbers if self._blocks[i][1].n_values < math.inf]

    def sample(self, count: int, rng: np.random.Generator) -> Batch:
        points = rng.random((count, len(self._owner)))
        for number in self._choices:
            _, parameter, block = self._blocks[number]
            if _is_one_hot(parameter):
                points[:, block] = 0.0
                points[np.arange(count), block.start + rng.integers(parameter.dimension, size=count)] = 1.0
            for row in points if not _is_one_hot(parameter) else ():
                row[block] = parameter.encode(parameter.sample(rng))
        return points, lambda i: self._config(points[i], ())

    def mutate(self, parent: Known, sizes: Points, rng: np.random.Generator) -> Batch:
        """Like `Space.mutate`: one parameter changes, and half of the time a second one."""
        count, n = len(sizes), len(self._varying)
        points = np.repeat(parent[1][None], count, axis=0)
        if n:
            u = rng.random(count) * n
            first = u.astype(np.int64)
            rows = np.arange(count)
            if n > 1:
                twice = np.flatnonzero(u - first < 0.5)
                second = (first[twice] + 1 + (rng.random(len(twice)) * (n - 1)).astype(np.int64)) % n  # any but the first
                rows, first = np.concatenate([rows, twice]), np.concatenate([first, second])
            self._move(points, rows, self._varying[first], sizes[rows], parent[0], rng)
        return points, lambda i: self._config(points[i], (parent,))

    def cross(self, parent: Known, others: Sequence[Known], rng: np.random.Generator) -> Batch:
        theirs = np.array([point for _, point in others]).reshape(len(others), len(self._owner))
        own = rng.random((len(others), len(self._blocks))) < 0.5
        points = np.where(own[:, self._owner], parent[1], theirs)
        return points, lambda i: self._config(points[i], (parent, others[i]))

    def _move(self, points: Points, rows: Numbers, parameters: Numbers, sizes: Points, parent: Any, rng: Any) -> None:
        """Change one parameter in each of these rows."""
        moved = sizes * rng.standard_normal(len(rows))
        if self._choices:
            for number in self._choices:
                _, parameter, block = self._blocks[number]
                for i in np.flatnonzero(parameters == number):
                    points[rows[i], block] = _changed(parameter, points[rows[i], block], float(sizes[i]), rng)
            numbers = np.flatnonzero(self._coordinate[parameters] >= 0)
            rows, parameters, moved = rows[numbers], parameters[numbers], moved[numbers]
        columns = self._coordinate[parameters]
        start = points[rows, columns]
        if self._stepped:
            moved = self._at_least_one(start, moved, parameters, parent)
        new = np.abs(start + moved) % 2.0  # reflected into [0, 1], so that mutations near a bound do not accumulate there
        points[rows, columns] = np.minimum(new, 2.0 - new)

    def _at_least_one(self, start: Points, moved: Points, parameters: Numbers, parent: Mapping[str, Any]) -> Points:
        """Lengthen moves too short to reach another value of a stepped number. Reverse them at the end of a range."""
        least = np.zeros(len(self._blocks))
        for number in self._stepped:
            name, parameter, _ = self._blocks[number]
            least[number] = _least_move(parameter, parent[name])
        least = least[parameters]
        moved = np.where(np.abs(moved) < least, np.copysign(least, moved), moved)
        outside = np.abs(start + moved - 0.5) > 0.5
        return np.where(outside & (np.abs(moved) <= least), -moved, moved)

    def _config(self, point: Points, parents: tuple[Known, ...]) -> dict[str, Any]:
        coordinates = point.tolist()
        known = [(config, place.tolist()) for config, place in parents]
        config = {}
        for name, parameter, block in self._blocks:
            mine = coordinates[block]
            for parent, theirs in known:
                if theirs[block] == mine:
                    config[name] = copy_of(parent[name])
                    break
            else:
                config[name] = parameter.decode(mine)
        return config


def _least_move(number: Any, value: Any) -> float:
    """The smallest move of the coordinate, in either direction, that always reaches another value."""
    codes = [number.encode(near)[0] for near in number.around(value)]
    return float(max(above - below for below, above in itertools.pairwise(codes)))


def _is_one_hot(parameter: Parameter) -> bool:
    return isinstance(parameter, Choice) and not parameter.ordered and parameter.dimension == len(parameter.options)


def _changed(parameter: Parameter, block: Points, size: float, rng: np.random.Generator) -> Any:
    if not _is_one_hot(parameter):
        return parameter.encode(parameter.mutate(parameter.decode(block), rng, size))
    n = parameter.dimension
    code = [0.0] * n
    code[(int(block.argmax()) + 1 + int(rng.random() * (n - 1))) % n] = 1.0
    return code
