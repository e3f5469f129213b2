"""A steady-state evolutionary algorithm: the baseline of the Mutant-UCB paper, section 5.2."""

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
from .kit.phase import Phase
from .kit.recommendation import Standings
from .kit.representation import strategy_repr
from .kit.settings import remember_settings


def winner(population: Sequence[Entry], size: int, rng: np.random.Generator, rival: int | None = None) -> int:
    """The position of the best of `size` members drawn at random, with replacement, from all but the rival."""
    others = len(population) - (rival is not None)
    drawn = (int(rng.random() * others) for _ in range(size))
    return max((place + (rival is not None and place >= rival) for place in drawn), key=lambda place: population[place])


class SteadyStateEA:
    """Keeps a population of good arms, and makes new arms by crossing and mutating its members.

    A population of random arms is trained first. Then, whenever a worker is free, two members are crossed and the child is
    mutated. The child replaces the worst member if it is better. Every arm is fully trained in one pull.

    Each parent is the winner of a tournament, and each pair of parents has two children. If there are not enough rewards yet to
    choose parents, because of failures or more workers than members, a random arm is drawn. A failed arm of the first
    population is replaced.

    Args:
        space: Makes, mutates and crosses the arms.
        budget: Total number of steps, enough to train the population; None runs until the study stops it.
        max_steps: Steps of each arm.
        population: Size of the population (K_EA in the paper). By default the square root of the number of arms that the budget
            covers.
        mutation_only: Mutate one parent instead of crossing two. Needed for spaces without `crossover`.
        tournament: Number of members drawn to choose a parent, the best of them. With 1 all are equally likely; larger values
            prefer better members.
        seed: Random seed. The same seed gives the same search.

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
            raise ValueError(
                f"space must have crossover(a, b, rng), or mutation_only must be True; got {space!r} without crossover"
            )
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
        self._second: tuple[int, int] | None = None  # the parents of a second child that is not made yet
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
        """The arm with the best reward."""
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
        """Larger for better arms. No arm is pulled twice, but a child may start from the state of a parent."""
        return self._standings.priority(arm, again=False)

    def plan(self) -> list[Phase]:
        budget, first = self.ledger.budget, self.population * self.max_steps
        children = None if budget is None else budget // self.max_steps - self.population
        return [
            Phase("the first population, each arm fully trained", self.population, first),
            Phase("children, each fully trained", children, None if children is None else children * self.max_steps),
        ]

    def warning(self) -> str | None:
        """Warns if the first population takes more than half of the budget."""
        budget = self.ledger.budget
        if budget is None or self.population <= 2 or 2 * self.population * self.max_steps <= budget:
            return None
        return (
            f"The first population of {self.population} random arms takes most of the {budget // self.max_steps} arms that the "
            "budget covers. Use a smaller population, so that more children are made."
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
