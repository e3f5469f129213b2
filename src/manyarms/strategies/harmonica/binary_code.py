"""The parameters of a space as bits: in which half of its range a number is, in which half of that half, and so on."""

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
    """A number, which has one coordinate of the cube, or a choice, which has one for each option.

    Attributes:
        name: Name of the parameter.
        options: Number of options of a choice; 0 for a number.
        bits: Number of bits.
    """

    name: str
    options: int
    bits: int


@dataclass(frozen=True, slots=True)
class Restriction:
    """Some bits that are fixed: their signs are one of these rows."""

    bits: list[int]
    rows: Signs


def slots(part: Any, bits: int, name: str = "") -> Iterator[Slot]:
    """The numbers and choices of a space or parameter, in the order in which it encodes them.

    A number gets `bits` bits, or fewer if they distinguish all its values; a choice as many as distinguish its options.
    Parameters that are not part of the library are treated as one number for each coordinate.

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
        dimension = getattr(part, "dimension", 0)  # options that are not spaces have none
        for place in range(dimension):
            yield Slot(name if dimension == 1 else f"{name}[{place}]", 0, min(bits, enough) if _varies(part) else 0)


def _choice(name: str, options: Any, bits: int) -> Iterator[Slot]:
    if len(options) > 1:
        yield Slot(name, len(options), _halvings(len(options)))
    for place, option in enumerate(options):
        yield from slots(option, bits, f"{name}[{place}]")


def _n_values(part: Any, most: int) -> int:
    """Number of values of a number or of an ordered choice; `most` if there are more or it is not known."""
    return int(min(getattr(part, "n_values", len(getattr(part, "options", range(most)))), most))


def _halvings(values: int) -> int:
    """How often this many values must be halved until one is left."""
    return (values - 1).bit_length()


def _varies(part: Any) -> bool:
    return bool(getattr(part, "varies", True))


class BinaryCode:
    """Draws configs with given bits.

    A number from 0 to 1 lies in one of 2^b cells, which its b bits name in Gray code. The first bit is 1 in the upper half, so
    that it describes a slope; the second is 1 in the middle half, so that it describes a hill or a valley. A choice is also
    encoded as a number, which selects the option. With random bits, configs are distributed as the space samples them.

    Args:
        space: Makes the configs; it must encode them.
        bits: Number of bits of each number.
    """

    def __init__(self, space: Any, bits: int) -> None:
        self._space, dimension = space, dimension_of(space)
        self._slots = list(slots(space, bits))
        if sum(slot.options or 1 for slot in self._slots) != dimension:  # a space with its own encoding
            self._slots = [Slot(f"[{place}]", 0, bits) for place in range(dimension)]
        self.names = [f"{slot.name}/{bit}" for slot in self._slots for bit in range(1, slot.bits + 1)]

    def draw(self, restrictions: Sequence[Restriction], rng: np.random.Generator) -> tuple[Signs, Any]:
        """A random config that satisfies the restrictions, and its bits."""
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
            option = min(int(number * slot.options), slot.options - 1)  # rounding may give 1, the end of the last option
            point.extend([float(place == option) for place in range(slot.options)] or [number])
        return np.array(point)
