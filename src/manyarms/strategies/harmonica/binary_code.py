"""The parameters of a space as bits: in which half of its range each number is, in which half of that, and so on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...spaces import Choice, Joint, Space
from ..kit.encoding import dimension_of
from .sparse_polynomial import Floats, Signs


@dataclass(frozen=True, slots=True)
class Slot:
    """A number, which is one coordinate of the cube, or a choice, which is one for each option.

    Attributes:
        name: of the parameter.
        options: of a choice; 0 if it is a number.
        bits: that tell its parts apart.
    """

    name: str
    options: int
    bits: int


@dataclass(frozen=True, slots=True)
class Restriction:
    """Some bits that are no longer free: their signs are one of these rows."""

    bits: list[int]
    rows: Signs


def slots(part: Any, bits: int, name: str = "") -> Iterator[Slot]:
    """The numbers and choices of a space or parameter, in the order in which it encodes them.

    A number gets `bits`, or as many as tell its values apart; a choice as many as tell its options apart. What is not one of
    the library's own is taken as so many numbers.

    >>> from manyarms import Choice, Int, Space
    >>> [(slot.name, slot.bits) for slot in slots(Space(width=Int(1, 100), layers=Int(1, 2), act=Choice(*"abcde")), bits=2)]
    [('width', 2), ('layers', 1), ('act', 3)]
    """
    if isinstance(part, Space):
        for key, parameter in part.parameters.items():
            yield from slots(parameter, bits, f"{name}.{key}" if name else key)
    elif isinstance(part, Joint):
        yield from _choice(f"{name}algorithm", part.spaces.values(), bits)
    elif isinstance(part, Choice) and not part.ordered:
        yield from _choice(name, part.options, bits)
    else:
        enough = _halvings(_n_values(part, 2**bits))
        dimension = getattr(part, "dimension", 0)  # plain options have none
        for place in range(dimension):
            yield Slot(name if dimension == 1 else f"{name}[{place}]", 0, min(bits, enough) if _varies(part) else 0)


def _choice(name: str, options: Any, bits: int) -> Iterator[Slot]:
    if len(options) > 1:
        yield Slot(name, len(options), _halvings(len(options)))
    for place, option in enumerate(options):
        yield from slots(option, bits, f"{name}[{place}]")


def _n_values(part: Any, most: int) -> int:
    """Number of values of a number or of an ordered choice; `most` if it has more, or cannot say."""
    return int(min(getattr(part, "n_values", len(getattr(part, "options", range(most)))), most))


def _halvings(values: int) -> int:
    """How often so many values can be halved until each is alone."""
    return (values - 1).bit_length()


def _varies(part: Any) -> bool:
    return bool(getattr(part, "varies", True))


class BinaryCode:
    """Draws configs with given bits.

    A number from 0 to 1 lies in one of 2^b cells, which its b bits name in Gray code: the first is 1 in the upper half, the
    second in the middle half, so that one alone is a slope, and the other a hill or a valley. A choice is a number too, which
    says where among the options it is. With random bits, configs are drawn as the space draws them.

    Args:
        space: makes the configs; it must encode.
        bits: of each number.
    """

    def __init__(self, space: Any, bits: int) -> None:
        self._space, dimension = space, dimension_of(space)
        self._slots = list(slots(space, bits))
        if sum(slot.options or 1 for slot in self._slots) != dimension:  # a space that has a way of its own to encode
            self._slots = [Slot(f"[{place}]", 0, bits) for place in range(dimension)]
        self.names = [f"{slot.name}/{bit}" for slot in self._slots for bit in range(1, slot.bits + 1)]

    def draw(self, restrictions: Sequence[Restriction], rng: np.random.Generator) -> tuple[Signs, Any]:
        """A random config within the restrictions, and its bits."""
        signs: Signs = (2 * rng.integers(2, size=len(self.names)) - 1).astype(np.int8)
        for restriction in restrictions:
            signs[restriction.bits] = restriction.rows[rng.integers(len(restriction.rows))]
        return signs, self._space.decode(self._point(signs, rng))

    def _point(self, signs: Signs, rng: np.random.Generator) -> Floats:
        """A random point of the cube with these bits."""
        point: list[float] = []
        bits, within = iter((signs > 0).tolist()), iter(rng.random(len(self._slots)).tolist())
        for slot in self._slots:
            cell = digit = 0
            for _ in range(slot.bits):
                digit ^= next(bits)  # from Gray code to binary
                cell = 2 * cell + digit
            number = (cell + next(within)) / 2**slot.bits
            option = min(int(number * slot.options), slot.options - 1)  # not the one after the last, where it is rounded to 1
            point.extend([float(place == option) for place in range(slot.options)] or [number])
        return np.array(point)
