"""Strategies played on the shared problem, without a study, and what their decisions cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

WINDOW = 0.1  # arms, pulls or trials before and after a size, as a share of it

Reward = Callable[..., float]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one ask and tell took on average, and the share of them that made a new arm."""

    microseconds: float
    newcomers: float


def play(strategy: Any, pulls: int, reward: Reward) -> int:
    """Pull this many times, and return the number of pulls."""
    for _ in range(pulls):
        pull = strategy.ask()
        strategy.tell(pull, reward(pull.config, pull.stop))
    return pulls


def grow(strategy: Any, arms: float, reward: Reward) -> int:
    """Pull until there are this many arms, and return the number of pulls."""
    pulls = 0
    while len(strategy.ledger.arms) < arms:
        pull = strategy.ask()
        strategy.tell(pull, reward(pull.config, pull.stop))
        pulls += 1
    return pulls


def cost(strategy: Any, run: Callable[[], int]) -> Cost:
    """The cost of the pulls of a run, which returns their number."""
    arms, began = len(strategy.ledger.arms), time.process_time()
    pulls = run()
    seconds = time.process_time() - began
    return Cost(1e6 * seconds / pulls, (len(strategy.ledger.arms) - arms) / pulls)


def cost_around(strategy: Any, size: int, reward: Reward) -> Cost:
    """The cost of pulls around a number of arms, to which the strategy is grown first."""
    grow(strategy, size * (1 - WINDOW), reward)
    return cost(strategy, lambda: grow(strategy, size * (1 + WINDOW), reward))
