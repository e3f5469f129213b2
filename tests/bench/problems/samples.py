"""Random configs, and a small table of curves that nobody trained, which the tests of problems share."""

from __future__ import annotations

import numpy as np

from manyarms import Float, Int, Space
from manyarms.bench.problems import TableProblem, TableSpace

KINDS = ("fast", "slow", "crossing")


def samples(problem, n, seed=50):
    """Random configs, by a generator that no landscape was drawn from."""
    rng = np.random.default_rng(seed)
    return [problem.space.sample(rng) for _ in range(n)]


def table(diverged=True):
    """Nine settings and four steps; the best is a rate of 0.1 at depth 3, and the last one diverges at its third step."""
    space = Space(rate=Float(0.01, 1, log=True), depth=Int(1, 3))
    rows = [{"rate": rate, "depth": depth} for rate in (0.01, 0.1, 1.0) for depth in (1, 2, 3)]
    curves = np.array([[row["depth"] * step / 4 - abs(row["rate"] - 0.1) for step in (1, 2, 3, 4)] for row in rows])
    if diverged:
        curves[-1, 2:] = np.nan
    return TableProblem("nine", TableSpace(space, rows), curves)
