"""A bracket of successive halving: its rungs, and the arms that climb them together."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .ledger import State


def halvings(most: int, eta: int, least: int = 1) -> int:
    """How often `least` can be multiplied by eta up to `most`: s_max of the papers.

    With whole numbers: in floats log(243) / log(3) is below 5, and a bracket would be lost.
    """
    count = 0
    while least * eta ** (count + 1) <= most:
        count += 1
    return count


def survivors(rewards: Mapping[int, float], size: int, rng: np.random.Generator) -> list[int]:
    """The best arms of a rung, best first; equal ones in random order."""
    if not size:
        return []
    arms = list(rewards)
    return sorted((arms[i] for i in rng.permutation(len(arms))), key=lambda arm: -rewards[arm])[:size]


@dataclass(frozen=True, slots=True)
class Ladder:
    """The rungs of a bracket: how many arms reach each, and how many steps they are trained for by then."""

    sizes: tuple[int, ...]
    stops: tuple[int, ...]

    @classmethod
    def of(cls, arms: int, cuts: int, max_steps: int, eta: int) -> Ladder:
        """So many arms, cut to 1/eta so many times: n_i and r_i of the Hyperband paper's algorithm 1, rounded down."""
        rungs = range(cuts + 1)
        return cls(tuple(arms // eta**i for i in rungs), tuple(max_steps // eta ** (cuts - i) for i in rungs))

    @property
    def slices(self) -> tuple[int, ...]:
        """The steps of one pull at each rung: every arm goes on from the rung below."""
        return tuple(stop - start for start, stop in zip((0, *self.stops), self.stops, strict=False))

    @property
    def steps(self) -> int:
        """What the bracket costs if no arm fails."""
        return sum(size * steps for size, steps in zip(self.sizes, self.slices, strict=True))

    def __str__(self) -> str:
        arms = "1 arm" if self.sizes[0] == 1 else f"{self.sizes[0]} arms"
        if len(self.stops) == 1:
            return f"{arms} trained to the end"
        return f"{arms}, cut at {', '.join(map(str, self.stops[:-1]))} of {self.stops[-1]} steps"


class Bracket:
    """Arms that climb a ladder together: when all of a rung are told, the best go on to the next.

    A failed arm is out, and counts as the worst of its rung: no other takes its place.
    """

    def __init__(self, ladder: Ladder) -> None:
        self._ladder, self._slices = ladder, ladder.slices
        self._rung = 0
        self._unborn = ladder.sizes[0]  # arms still to be drawn
        self._arms: set[int] = set()  # those still in
        self._queue: deque[int] = deque()  # of them, promoted and not pulled yet
        self._told: dict[int, float] = {}  # of them, the rewards of this rung; those in neither are in flight

    @property
    def waiting(self) -> int:
        """Pulls that can be started now."""
        return self._unborn + len(self._queue)

    @property
    def steps(self) -> int:
        """Of each of them."""
        return self._slices[self._rung]

    @property
    def reserved(self) -> int:
        """The most steps that it may still ask for."""
        able, above = self._unborn + len(self._arms), slice(self._rung + 1, None)
        later = zip(self._ladder.sizes[above], self._slices[above], strict=True)
        return self.waiting * self.steps + sum(min(size, able) * steps for size, steps in later)

    @property
    def finished(self) -> bool:
        """Whether no arm is left."""
        return not self._unborn and not self._arms

    def __contains__(self, arm: int) -> bool:
        return arm in self._arms

    def next(self) -> int | None:
        """The arm of the next pull, where one is waiting; None means a new arm, which is then to be entered."""
        return self._queue.popleft() if self._queue else None

    def enter(self, arm: int) -> None:
        """Take in a new arm, in flight already."""
        self._unborn -= 1
        self._arms.add(arm)

    def tell(self, arm: int, reward: float | None, rng: np.random.Generator) -> None:
        """Learn the reward of a pull; None means that it failed. The generator is for ties."""
        if reward is None:
            self._arms.remove(arm)
        else:
            self._told[arm] = reward
        if not self.waiting and len(self._told) == len(self._arms):
            self._climb(rng)

    def _climb(self, rng: np.random.Generator) -> None:
        self._rung += 1
        size = self._ladder.sizes[self._rung] if self._rung < len(self._ladder.sizes) else 0
        self._queue = deque(survivors(self._told, size, rng))
        self._arms = set(self._queue)
        self._told = {}

    def state(self) -> State:
        """The bracket as JSON and arrays."""
        return {
            "sizes": list(self._ladder.sizes),
            "stops": list(self._ladder.stops),
            "rung": self._rung,
            "unborn": self._unborn,
            "arms": np.array(sorted(self._arms), dtype=np.int64),
            "queue": np.array(self._queue, dtype=np.int64),
            "told": np.array(list(self._told), dtype=np.int64),
            "rewards": np.array(list(self._told.values()), dtype=float),
        }

    @classmethod
    def of(cls, state: State) -> Bracket:
        """The bracket that gave the state."""
        bracket = cls(Ladder(tuple(state["sizes"]), tuple(state["stops"])))
        bracket._rung, bracket._unborn = state["rung"], state["unborn"]
        bracket._arms, bracket._queue = set(state["arms"].tolist()), deque(state["queue"].tolist())
        bracket._told = dict(zip(state["told"].tolist(), state["rewards"].tolist(), strict=True))
        return bracket
