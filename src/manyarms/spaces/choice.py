"""A choice among options, each a plain value or a space with its own parameters."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .. import checks
from .parameters import MUTATION_SIZE, Constant, Coordinates, Float, Int, Parameter, copy_of, plain


class Choice:
    """One of a few options. If an option is a `Space`, its parameters exist only when that option is chosen.

    Args:
        options: Plain values (text, numbers, lists, ...) or spaces. Spaces with the same parameter names need a constant
            that distinguishes them. A single list, tuple, range or array contains the options: `Choice(["a", "b"])` is
            `Choice("a", "b")`. If the only option is itself a list, wrap it in another list: `Choice([["a", "b"]])`.
        ordered: Whether the options form a scale: mutation prefers neighbors, and one coordinate encodes all of them.

    >>> from manyarms import Choice, Float, Space
    >>> kernel = Choice("linear", Space(kernel="rbf", gamma=Float(0.1, 10, log=True)))
    >>> kernel.contains({"kernel": "rbf", "gamma": 1.0}), kernel.contains("poly")
    (True, False)
    >>> Choice(["relu", "tanh"]), Choice([[64, 32]]).options
    (Choice('relu', 'tanh'), ([64, 32],))
    """

    def __init__(self, *options: Any, ordered: bool = False) -> None:
        options = _listed(options)
        if not options:
            raise ValueError("options must name at least one value, got none")
        self.ordered = checks.flag("ordered", ordered)
        self._options: tuple[Parameter, ...] = tuple(
            o if isinstance(o, Parameter) else Constant(plain("an option", o)) for o in options
        )
        self.options = tuple(o.value if isinstance(o, Constant) else o for o in self._options)
        self._positions = {self._key(o): i for i, o in enumerate(self.options) if self._hashable(o)}
        self._check_options()
        self._scale = Int(0, len(options) - 1)
        self.dimension = 1 if self.ordered else len(options) + sum(o.dimension for o in self._options)
        if len(options) == 1:
            self.dimension = self._options[0].dimension
        self.varies = len(options) > 1 or self._options[0].varies

    def _check_options(self) -> None:
        for i, option in enumerate(self._options):
            if isinstance(option, Constant):
                if self.position(option.value) != i:
                    raise ValueError(f"options must differ, got {option.value!r} twice")
                continue
            if self.ordered:
                raise ValueError(f"options must be plain values with ordered=True, got {option!r}")
            for j, other in enumerate(self.options):
                if i != j and not _disjoint(option, self._options[j]):
                    hint = "add a different constant to each space to distinguish them"
                    raise ValueError(f"options must have no value in common, got {option!r} and {other!r}; {hint}")

    @staticmethod
    def _hashable(value: Any) -> bool:
        return isinstance(value, (str, int, float, bool, type(None)))

    @staticmethod
    def _key(value: Any) -> tuple[type, Any]:
        return type(value), value  # True, 1 and 1.0 are three options

    def position(self, value: Any) -> int:
        """The position of the option this value belongs to."""
        found = self._positions.get(self._key(value)) if self._hashable(value) else None
        if found is None:
            found = next((i for i, o in enumerate(self._options) if o.contains(value)), None)
        if found is None:
            raise ValueError(f"{value!r} is not one of the options of {self!r}")
        return found

    def sample(self, rng: np.random.Generator) -> Any:
        return self._options[int(rng.random() * len(self._options))].sample(rng)

    def mutate(self, value: Any, rng: np.random.Generator, size: float = MUTATION_SIZE) -> Any:
        position = self.position(value)
        if self.ordered:
            return copy_of(self.options[self._scale.mutate(position, rng, size)])
        option, others = self._options[position], len(self._options) - 1
        if option.varies and (not others or rng.random() < 0.5):
            return option.mutate(value, rng, size)
        if not others:
            return copy_of(value)
        other = int(rng.random() * others)
        return self._options[other + (other >= position)].sample(rng)

    def crossover(self, a: Any, b: Any, rng: np.random.Generator) -> Any:
        position = self.position(a)
        if position == self.position(b):
            return self._options[position].crossover(a, b, rng)
        return copy_of(a if rng.random() < 0.5 else b)

    def contains(self, value: Any) -> bool:
        try:
            return self.position(value) >= 0
        except ValueError:
            return False

    def encode(self, value: Any) -> Coordinates:
        """One coordinate if ordered; otherwise one per option, then those of the parameters of each option, 0.5 if inactive."""
        position = self.position(value)
        if len(self._options) == 1:
            return self._options[0].encode(value)
        if self.ordered:
            return self._scale.encode(position)
        code = [0.0] * len(self._options)
        code[position] = 1.0
        if self.dimension == len(code):
            return code
        for i, option in enumerate(self._options):
            code.extend(option.encode(value) if i == position else [0.5] * option.dimension)  # += would add a space's array
        return code

    def decode(self, coordinates: Coordinates) -> Any:
        if len(self._options) == 1:
            return self._options[0].decode(coordinates)
        if self.ordered:
            return copy_of(self.options[self._scale.decode(coordinates)])
        n = len(self._options)
        position = max(range(n), key=lambda i: coordinates[i])
        at = n + sum(o.dimension for o in self._options[:position])
        return self._options[position].decode(coordinates[at : at + self._options[position].dimension])

    def describe(self) -> Any:
        return {"choice": [o.describe() for o in self._options], "ordered": self.ordered}

    def __eq__(self, other: object) -> bool:
        # compared as text, because 1 equals True in Python but is another option
        return isinstance(other, Choice) and json.dumps(self.describe()) == json.dumps(other.describe())

    def __hash__(self) -> int:
        return hash((len(self.options), self.ordered))

    def __repr__(self) -> str:
        alone = len(self.options) == 1 and isinstance(self.options[0], list)  # would be read as a list of options
        options = repr(list(self.options)) if alone else ", ".join(map(repr, self.options))
        return f"Choice({options}{', ordered=True' if self.ordered else ''})"


def _listed(options: tuple[Any, ...]) -> tuple[Any, ...]:
    """The options, taken from a list if that is the only argument."""
    if len(options) == 1 and isinstance(options[0], (list, tuple, range, np.ndarray)):
        return tuple(options[0])
    return options


def _disjoint(a: Parameter, b: Parameter) -> bool:
    """Whether no value belongs to both, so that each value identifies its option."""
    if isinstance(a, Constant):
        return not b.contains(a.value)
    if isinstance(a, Choice):
        return all(_disjoint(option, b) for option in a._options)
    if isinstance(b, (Constant, Choice)):
        return _disjoint(b, a)
    if isinstance(a, (Float, Int)) and isinstance(b, (Float, Int)):
        return a.high < b.low or b.high < a.low
    mine, theirs = getattr(a, "parameters", None), getattr(b, "parameters", None)  # of two spaces
    if mine is None or theirs is None:
        return True
    return bool(mine.keys() != theirs.keys() or any(_disjoint(mine[name], theirs[name]) for name in mine))
