"""A steady-state evolutionary algorithm: the Mutant-UCB paper's baseline, section 5.2."""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heappush, heapreplace
from typing import Any

import numpy as np

from .. import checks
from ..core import Arm, Pull
from .kit.entries import Entry, pack, unpack
from .kit.ledger import Ledger, State
from .kit.recommendation import Standings
from .kit.representation import strategy_repr
from .kit.settings import remember_settings
from .protocol import Phase


def winner(population: Sequence[Entry], size: int, rng: np.random.Generator, rival: int | None = None) -> int:
    """The place of the best of `size` members drawn at random, with replacement, from all but the rival's place."""
    others = len(population) - (rival is not None)
    drawn = (int(rng.random() * others) for _ in range(size))
    return max((place + (rival is not None and place >= rival) for place in drawn), key=lambda place: population[place])


class SteadyStateEA:
    """Train a population of random arms; then, whenever a worker is free, cross two of its members and mutate the child, which
    takes the place of the worst member if it is better. Every arm is trained to the end, in one pull.

    Parents win a tournament each and have two children. While fewer arms are told than parents are needed (more workers than
    members, or failures), a random arm is drawn rather than wait; a first arm that failed is replaced by another.

    Args:
        space: makes, mutates and crosses the arms.
        budget: steps in all, enough to train the population; None goes on until the study stops it.
        max_steps: steps of each arm.
        population: its size (K_EA in the paper); by default the square root of how many arms the budget trains.
        mutation_only: mutate one parent and cross none, as in spaces without `crossover`.
        tournament: members drawn to choose a parent, the best of them: 1 chooses evenly, more prefers the better.
        seed: of its generator.

    >>> from manyarms import Float, Space, SteadyStateEA
    >>> search = SteadyStateEA(Space(x=Float(0, 1), y=Float(0, 1)), budget=1000, max_steps=10, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, -abs(pull.config["x"] - 0.3) - abs(pull.config["y"] - 0.6))
    >>> {name: round(value, 1) for name, value in search.best().config.items()}
    {'x': 0.3, 'y': 0.6}
    """

    settings: dict[str, Any]

    @remember_settings
    def __init__(
        self,
        space: Any,
        *,
        budget: int | None = None,
        max_steps: int = 10,
        population: int | None = None,
        mutation_only: bool = False,
        tournament: int = 2,
        seed: int | None = None,
    ) -> None:
        self.max_steps = checks.whole("max_steps", max_steps, 1)
        self.ledger = Ledger(space, budget, max_steps, seed)
        self._parents = 1 if checks.flag("mutation_only", mutation_only) else 2
        if not mutation_only and not callable(getattr(self.ledger.space, "crossover", None)):
            raise ValueError(f"space must have crossover(a, b, rng), or mutation_only be True; got {space!r} without crossover")
        self.tournament = checks.whole("tournament", tournament, 1)
        if population is None:
            self.population = 20 if budget is None else max(2, math.isqrt(budget // max_steps))
        else:
            self.population = checks.whole("population", population, self._parents)
        smallest = self.population * max_steps
        if budget is not None and budget < smallest:
            raise ValueError(
                f"budget must be at least {smallest}, a population of {self.population} arms trained for "
                f"max_steps={max_steps} each; got {budget}"
            )
        self._members: list[Entry] = []  # a heap with the worst first
        self._second: tuple[int, int] | None = None  # the parents of a second child still to be made
        self._standings = Standings(self.ledger)

    def ask(self) -> Pull | None:
        ledger = self.ledger
        if ledger.left < self.max_steps:
            return None
        first = len(ledger.arms) - len(ledger.failed) < self.population
        arm = ledger.sample() if first or len(self._members) < self._parents else self._child()
        return ledger.open(arm, self.max_steps)

    def tell(self, pull: Pull, reward: float | None) -> None:
        reward = self.ledger.settle(pull, reward).reward
        if reward is None:
            return
        self._standings.tell(pull.arm.id, reward)
        member = (reward, self.ledger.rng.random(), pull.arm.id)
        if len(self._members) < self.population:
            heappush(self._members, member)
        elif reward > self._members[0][0]:
            heapreplace(self._members, member)

    def best(self) -> Arm:
        """The arm with the largest reward."""
        return self._standings.best()

    def _child(self) -> Arm:
        ledger, members = self.ledger, self._members
        if self._second is not None:
            (a, b), self._second = self._second, None
            return ledger.crossed(a, b)
        place = winner(members, self.tournament, ledger.rng)
        a = members[place][2]
        if self._parents == 1:
            return ledger.mutant(a)
        b = members[winner(members, self.tournament, ledger.rng, rival=place)][2]
        self._second = b, a
        return ledger.crossed(a, b)

    def priority(self, arm: int) -> float:
        """The better the higher: no arm is trained on, but the members are the best, and a child may begin from their state."""
        return self._standings.priority(arm, again=False)

    def plan(self) -> list[Phase]:
        budget, first = self.ledger.budget, self.population * self.max_steps
        children = None if budget is None else budget // self.max_steps - self.population
        return [
            Phase("the first population, each arm trained to the end", self.population, first),
            Phase("children, each trained to the end", children, None if children is None else children * self.max_steps),
        ]

    def warning(self) -> str | None:
        """Evolution takes many more arms than its population."""
        budget = self.ledger.budget
        if budget is None or self.population <= 2 or 2 * self.population * self.max_steps <= budget:
            return None
        return (
            f"the first population of {self.population} random arms takes most of the {budget // self.max_steps} arms that the "
            "budget trains: make it smaller, so that more are bred."
        )

    def state(self) -> State:
        second = None if self._second is None else list(self._second)
        own = {"members": pack(self._members), "second": second}
        return {"ledger": self.ledger.state(), "standings": self._standings.state(), **own}

    def load(self, state: State) -> None:
        self.ledger.load(state["ledger"])
        self._standings.load(state["standings"])
        self._members = unpack(state["members"])
        self._second = None if state["second"] is None else (state["second"][0], state["second"][1])

    __repr__ = strategy_repr
