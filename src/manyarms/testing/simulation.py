"""Play a strategy with simulated rewards and many pulls in flight, and replay what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..core import Arm, Pull
from ..strategies import Strategy


def play(
    strategy: Strategy,
    reward: Callable[[Pull], float | None],
    workers: int = 1,
    seed: int = 0,
    fail: float = 0.0,
) -> Iterator[tuple[Pull, float | None]]:
    """Ask and tell until the strategy is done. Yields each pull with its reward after it was told.

    Args:
        strategy: The strategy to play. It is asked only as far as the iterator is consumed.
        reward: Function that returns the reward of a pull; None means that the pull failed.
        workers: Number of pulls in flight. They end in random order.
        seed: Random seed of that order, and of which pulls fail.
        fail: Share of pulls that fail regardless of their reward.

    >>> from manyarms import Float, RandomSearch, Space
    >>> search = RandomSearch(Space(x=Float(0, 1)), budget=8, max_steps=2, seed=0)
    >>> [(pull.arm.id, pull.stop, reward) for pull, reward in play(search, lambda pull: 0.5, workers=4)]
    [(3, 2, 0.5), (1, 2, 0.5), (0, 2, 0.5), (2, 2, 0.5)]
    """
    rng = np.random.default_rng(seed)
    in_flight: list[Pull] = []
    while True:
        while len(in_flight) < workers and (pull := strategy.ask()) is not None:
            in_flight.append(pull)
        if not in_flight:
            return
        pull = in_flight.pop(int(rng.integers(len(in_flight))))
        outcome = None if rng.random() < fail else reward(pull)
        strategy.tell(pull, outcome)
        yield pull, outcome


@dataclass(frozen=True, slots=True)
class Asked:
    """A strategy was asked, and returned this pull."""

    pull: Pull | None


@dataclass(frozen=True, slots=True)
class Told:
    """A strategy was told this reward."""

    pull: Pull
    reward: float | None


class Recorded:
    """A strategy that records what it is asked and told, in `moves`."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        self.moves: list[Asked | Told] = []

    def ask(self) -> Pull | None:
        pull = self.strategy.ask()
        self.moves.append(Asked(pull))
        return pull

    def tell(self, pull: Pull, reward: float | None) -> None:
        self.strategy.tell(pull, reward)
        self.moves.append(Told(pull, reward))

    def best(self) -> Arm:
        return self.strategy.best()


def replay(strategy: Strategy, moves: Iterable[Asked | Told]) -> Iterator[tuple[Pull | None, Pull | None]]:
    """Make the same moves with another strategy. Yields each pull as it was asked then and as it is asked now."""
    for move in moves:
        if isinstance(move, Told):
            strategy.tell(move.pull, move.reward)
        else:
            yield move.pull, strategy.ask()
