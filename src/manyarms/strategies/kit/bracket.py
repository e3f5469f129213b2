"""A bracket of successive halving: its rungs, and the arms that are promoted from one to the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .ledger import State


def halvings(most: int, eta: int, least: int = 1) -> int:
    """How often `least` can be multiplied by eta without exceeding `most`: s_max of the papers.

    Computed with integers: in floats log(243) / log(3) is below 5, and a bracket would be lost.
    """
    count = 0
    while least * eta ** (count + 1) <= most:
        count += 1
    return count


def survivors(rewards: Mapping[int, float], size: int, rng: np.random.Generator) -> list[int]:
    """The best `size` arms of a rung, best first; ties in random order."""
    if not size:
        return []
    arms = list(rewards)
    return sorted((arms[i] for i in rng.permutation(len(arms))), key=lambda arm: -rewards[arm])[:size]


@dataclass(frozen=True, slots=True)
class Ladder:
    """The rungs of a bracket: the number of arms that reach each rung, and the steps they have been trained by then."""

    sizes: tuple[int, ...]
    stops: tuple[int, ...]

    @classmethod
    def of(cls, arms: int, cuts: int, max_steps: int, eta: int) -> Ladder:
        """A ladder that starts with `arms` arms and cuts them to 1/eta `cuts` times.

        The sizes and stops are n_i and r_i of algorithm 1 in the Hyperband paper, rounded down.
        """
        rungs = range(cuts + 1)
        return cls(tuple(arms // eta**i for i in rungs), tuple(max_steps // eta ** (cuts - i) for i in rungs))

    @property
    def slices(self) -> tuple[int, ...]:
        """The steps of one pull at each rung. Every arm continues from the rung below."""
        return tuple(stop - start for start, stop in zip((0, *self.stops), self.stops, strict=False))

    @property
    def steps(self) -> int:
        """Total steps of the bracket if no arm fails."""
        return sum(size * steps for size, steps in zip(self.sizes, self.slices, strict=True))

    def __str__(self) -> str:
        arms = "1 arm" if self.sizes[0] == 1 else f"{self.sizes[0]} arms"
        if len(self.stops) == 1:
            return f"{arms}, fully trained"
        return f"{arms}, cut at {', '.join(map(str, self.stops[:-1]))} of {self.stops[-1]} steps"


class Bracket:
    """Arms that climb a ladder together: once all rewards of a rung are known, the best arms continue to the next rung.

    A failed arm leaves the bracket and counts as the worst of its rung. No other arm takes its place.
    """

    def __init__(self, ladder: Ladder) -> None:
        self._ladder, self._slices = ladder, ladder.slices
        self._rung = 0
        self._not_drawn = ladder.sizes[0]  # number of arms still to be drawn
        self._arms: set[int] = set()  # arms still in the bracket
        self._queue: deque[int] = deque()  # promoted arms that wait for their next pull
        self._rewards: dict[int, float] = {}  # rewards at this rung; arms that are neither here nor queued are in flight

    @property
    def waiting(self) -> int:
        """Number of pulls that can be started now."""
        return self._not_drawn + len(self._queue)

    @property
    def steps(self) -> int:
        """Steps of each of these pulls."""
        return self._slices[self._rung]

    @property
    def reserved(self) -> int:
        """The most steps that the bracket may still ask for."""
        able, above = self._not_drawn + len(self._arms), slice(self._rung + 1, None)
        later = zip(self._ladder.sizes[above], self._slices[above], strict=True)
        return self.waiting * self.steps + sum(min(size, able) * steps for size, steps in later)

    @property
    def finished(self) -> bool:
        """Whether no arm is left."""
        return not self._not_drawn and not self._arms

    def __contains__(self, arm: int) -> bool:
        return arm in self._arms

    def next(self) -> int | None:
        """The arm of the next pull, if one is waiting; None means a new arm, which the caller must `enter`."""
        return self._queue.popleft() if self._queue else None

    def enter(self, arm: int) -> None:
        """Add a new arm whose first pull is in flight."""
        self._not_drawn -= 1
        self._arms.add(arm)

    def tell(self, arm: int, reward: float | None, rng: np.random.Generator) -> None:
        """Learn the reward of a pull; None means that it failed. The generator breaks ties."""
        if reward is None:
            self._arms.remove(arm)
        else:
            self._rewards[arm] = reward
        if not self.waiting and len(self._rewards) == len(self._arms):
            self._climb(rng)

    def _climb(self, rng: np.random.Generator) -> None:
        self._rung += 1
        size = self._ladder.sizes[self._rung] if self._rung < len(self._ladder.sizes) else 0
        self._queue = deque(survivors(self._rewards, size, rng))
        self._arms = set(self._queue)
        self._rewards = {}

    def state(self) -> State:
        """The bracket as JSON and arrays."""
        return {
            "sizes": list(self._ladder.sizes),
            "stops": list(self._ladder.stops),
            "rung": self._rung,
            "not_drawn": self._not_drawn,
            "arms": np.array(sorted(self._arms), dtype=np.int64),
            "queue": np.array(self._queue, dtype=np.int64),
            "rewarded": np.array(list(self._rewards), dtype=np.int64),
            "rewards": np.array(list(self._rewards.values()), dtype=float),
        }

    @classmethod
    def of(cls, state: State) -> Bracket:
        """The bracket that returned this state."""
        bracket = cls(Ladder(tuple(state["sizes"]), tuple(state["stops"])))
        bracket._rung, bracket._not_drawn = state["rung"], state["not_drawn"]
        bracket._arms, bracket._queue = set(state["arms"].tolist()), deque(state["queue"].tolist())
        bracket._rewards = dict(zip(state["rewarded"].tolist(), state["rewards"].tolist(), strict=True))
        return bracket
