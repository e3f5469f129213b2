"""What a decision of TreeUCB and of PartitionUCB costs: one ask and one tell, as the number of observations grows.

Each round grows a strategy on seven parameters from nothing, with noisy rewards, and times the pulls around 250 and around
2,000 observations. A second TreeUCB has a large min_gain and so a tree that is hardly split: there the search for splits looks
at leaves of many hundred rewards. Decisions wait for nothing, so the clock is the processor time of this process; medians.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from report import AtMost, Row, parser, show

import manyarms as ma

SIZES = (250, 2_000)
WINDOW = 0.1  # observations before and after a size, as a share of it
SPACE = ma.Space(**{f"x{number}": ma.Float(0, 1) for number in range(7)})

STRATEGIES: dict[str, Callable[..., Any]] = {
    "TreeUCB": ma.TreeUCB,
    "TreeUCB, hardly split": partial(ma.TreeUCB, min_gain=0.02),
    "PartitionUCB": ma.PartitionUCB,
    "ContextualTreeUCB": partial(ma.ContextualTreeUCB, max_steps=27),
    "ContextualPartitionUCB": partial(ma.ContextualPartitionUCB, max_steps=27),
}
LIMITS = {"TreeUCB": 2.0, "PartitionUCB": 1.0}  # milliseconds
GROWTH = {"TreeUCB": 3.0}  # from the smaller size to the larger


def costs(make: Callable[..., Any], seed: int) -> dict[int, float]:
    """Milliseconds of an ask and tell around each size."""
    strategy, noise, found = make(SPACE, seed=seed), np.random.default_rng(seed), {}
    for size in SIZES:
        _grow(strategy, size * (1 - WINDOW), noise)
        began, before = time.process_time(), len(strategy.ledger.arms)
        _grow(strategy, size * (1 + WINDOW), noise)
        found[size] = 1e3 * (time.process_time() - began) / (len(strategy.ledger.arms) - before)
    return found


def _grow(strategy: Any, arms: float, noise: np.random.Generator) -> None:
    while len(strategy.ledger.arms) < arms:
        pull = strategy.ask()
        distance = sum(abs(value - 0.3) for value in pull.config.values()) / 7
        strategy.tell(pull, min(1.0, max(0.0, 1.0 - distance + 0.05 * noise.standard_normal())))


def rows(name: str, rounds: list[dict[int, float]]) -> list[Row]:
    """The lines of one strategy."""
    small, large = SIZES
    cost = {size: median(found[size] for found in rounds) for size in SIZES}
    growth = median(found[large] / found[small] for found in rounds)
    limit = AtMost(LIMITS[name], cost[large], "ms") if name in LIMITS else None
    ratio = AtMost(GROWTH[name], growth, "times") if name in GROWTH else None
    return [
        Row(name),
        Row(f"  {small:,} observations", f"{cost[small]:.3f} ms"),
        Row(f"  {large:,} observations", f"{cost[large]:.3f} ms", target=limit),
        Row(f"  {large:,} / {small:,}", f"{growth:.2f} times", target=ratio),
    ]


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, help="how often each is measured (default 5; 2 with --quick)")
    options = arguments.parse_args()
    rounds = options.rounds or (2 if options.quick else 5)
    found: dict[str, list[dict[int, float]]] = {name: [] for name in STRATEGIES}
    for seed in range(rounds):
        for name, make in STRATEGIES.items():
            found[name].append(costs(make, seed))
    lines = [line for name in STRATEGIES for line in rows(name, found[name])]
    show("One ask and tell on seven parameters", "no peer", lines, rounds)


if __name__ == "__main__":
    main()
