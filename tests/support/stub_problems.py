"""Small problems to race on."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from manyarms import Choice, Float, Int, Space
from manyarms.bench.problems import TableProblem, TableSpace

SIMPLE = Space(x=Float(0, 1), y=Float(0, 1))
CONDITIONAL = Space(
    rate=Float(1e-4, 1, log=True),
    width=Int(1, 64, log=True),
    depth=Int(1, 8),
    size=Choice("small", "middle", "large", ordered=True),
    kind=Choice("linear", Space(name="tree", split=Choice("gini", Space(name="own", alpha=Float(0, 1)))), Float(2, 3)),
    only=Choice(Space(inner=Float(-1, 1))),
    same=Float(2, 2),
    constant=[1, 2],
)


class Stub:
    """A problem whose curves are straight lines to a number made from the config, between 0 and 1.

    Args:
        space: makes the configs; any other is refused.
        failing: the share of configs whose training diverges.
        max_steps: of a full training.
    """

    name, best, typical = "stub", 1.0, 0.5

    def __init__(self, space: Space = SIMPLE, failing: float = 0.0, max_steps: int = 9) -> None:
        self.space, self.max_steps, self._failing = space, max_steps, failing

    def reward(self, config: Any, step: int, seed: int) -> float | None:
        assert self.space.contains(config), config
        assert 1 <= step <= self.max_steps and isinstance(step, int)
        diverges = zlib.crc32(repr(config).encode()) / 2**32 < self._failing
        return None if diverges else self.value(config) * step / self.max_steps

    def value(self, config: Any) -> float:
        return float(np.mean(self.space.encode(config)))


def table() -> TableProblem:
    """Seven rows, the last of which diverges."""
    space = Space(x=Float(0, 1), kind=Choice("a", "b"))
    rows = [{"x": i / 6, "kind": "ab"[i % 2]} for i in range(7)]
    curves = np.outer(np.linspace(0.1, 0.9, 7), np.linspace(0.5, 1.0, 9))
    curves[-1] = np.nan
    return TableProblem("table", TableSpace(space, rows), curves)
