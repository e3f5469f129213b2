"""Base class of the strategies on the unit cube. Each round draws a new arm from one box of a partition and trains it once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ... import checks
from ...core import Arm, Pull
from ..kit.beliefs import Boxes
from ..kit.encoding import dimension_of
from ..kit.ledger import Ledger, State, check_one_training
from ..kit.phase import Phase
from ..kit.recommendation import Standings
from ..kit.representation import strategy_repr
from ..kit.scaling import ScaledRewards
from ..kit.scores import Scores
from .partition import Floats, Partition, Region

_DRAWS_FROM_A_BOX = 16  # draws to find a config that no arm has yet; if all of them exist already, the box counts as exhausted


class Splitter(Protocol):
    """Splits the boxes of a partition as rewards arrive."""

    def learn(self, pull: int, rng: np.random.Generator) -> None:
        """Split boxes after the reward of a pull is known."""

    def state(self) -> State:
        """Its state, without the partition."""

    def load(self, state: State) -> None:
        """Restore a state that `state` returned. The partition must be restored first."""


class CubeStrategy:
    """Draws each arm from the box with the largest upper bound, and trains it in one pull.

    Rewards are treated as values between 0 and 1. Rewards on a different scale are mapped to this range, and all of them are
    mapped again whenever the scale changes. A failed arm has the value of the worst reward so far.

    A subclass calls `__init__` and defines `_beta`.

    Args:
        space: Search space. It must have `encode` and `decode`.
        budget, max_steps, seed: As in every strategy.
        splitter: Returns the object that splits the boxes of a partition.
        context: Number of coordinates of a context, which come before those of the arm.
    """

    settings: dict[str, Any]

    def __init__(
        self,
        space: Any,
        budget: int | None,
        max_steps: int,
        seed: int | None,
        splitter: Callable[[Partition], Splitter],
        context: int = 0,
    ) -> None:
        self.max_steps = checks.whole("max_steps", max_steps, 1)
        self.ledger = Ledger(space, budget, max_steps, seed)
        check_one_training(budget, max_steps)
        self._partition = Partition(context + dimension_of(self.ledger.space), context)
        self._splitter = splitter(self._partition)
        self._standings = Standings(self.ledger)
        self._rewards = ScaledRewards()
        self._worst: float | None = None  # the worst reward so far

    @property
    def _round(self) -> int:
        """The number of the next round, from 1: t in the paper."""
        return len(self.ledger.arms) + 1

    def _beta(self, steps: int) -> float:
        """Factor of the bonus in the next round, for an arm that is trained for this many steps."""
        raise NotImplementedError

    def ask(self) -> Pull | None:
        return None if self.ledger.left < self.max_steps else self._play(self.max_steps)

    def _play(self, steps: int, context: Sequence[float] = ()) -> Pull:
        """The pull that trains a new arm from the box with the largest bound."""
        box, config, point = self._new_config(self._beta(steps), context)
        self._partition.add(box, point)
        return self.ledger.open(self.ledger.add(config), steps)

    def _new_config(self, beta: float, context: Sequence[float]) -> tuple[int, Any, Floats]:
        """The best box that is not exhausted, a config from it, and its point. If all boxes are exhausted, a config repeats."""
        ledger, partition = self.ledger, self._partition
        while (box := partition.pick(beta, context, ledger.rng)) is not None:
            if (drawn := self._draw_from(box, context)) is not None:
                return box, *drawn
            partition.close(box)
        box = partition.pick(beta, context, ledger.rng, closed=True)
        assert box is not None
        point = partition.draw(box, context, ledger.rng)
        return box, ledger.space.decode(point[len(context) :]), point

    def _draw_from(self, box: int, context: Sequence[float]) -> tuple[Any, Floats] | None:
        """A config from the box that no arm has yet, and its point; None if the box is exhausted.

        The point of a config is its encoding, so all points that decode to the same config count as one. If a box contains no
        encoding, such as the box for "neither a nor b" when these are the only options, its points are used as they are.
        """
        ledger, partition = self.ledger, self._partition
        has_encodings, elsewhere = False, None
        for _ in range(_DRAWS_FROM_A_BOX):
            point = partition.draw(box, context, ledger.rng)
            config = ledger.space.decode(point[len(context) :])
            encoding = np.array([*context, *ledger.space.encode(config)])
            known, inside = ledger.knows(config), partition.holds(box, encoding)
            if inside and not known:
                return config, encoding
            has_encodings = has_encodings or inside
            if elsewhere is None and not known:
                elsewhere = config, point
        return None if has_encodings else elsewhere

    def tell(self, pull: Pull, reward: float | None) -> None:
        settled, arm = self.ledger.settle(pull, reward), pull.arm.id
        if settled.repeated:
            return
        rescaled = False
        if settled.reward is not None:
            self._worst = settled.reward if self._worst is None else min(self._worst, settled.reward)
            self._standings.tell(arm, settled.reward)
            rescaled = self._rewards.tell(arm, settled.reward)
        self._partition.learn(arm, self._value(settled.reward))
        if rescaled:
            values = np.full(len(self.ledger.arms), self._value(None))
            values[self._rewards.arms.all] = self._rewards.values
            self._partition.revalue(values)
        self._splitter.learn(arm, self.ledger.rng)

    def _value(self, reward: float | None) -> float:
        """The value from 0 to 1 of a reward or of a failure."""
        counted = self._worst if reward is None else reward
        return 0.0 if counted is None else self._rewards.value(counted)

    def best(self) -> Arm:
        """The arm with the best reward; at a tie, the one in the box with the largest mean."""
        standings, partition = self._standings, self._partition
        leader = standings.best()
        best = standings.reward(leader.id)
        contexts = partition.points.all[:, : partition.given]
        equal = (partition.values.all == partition.values[leader.id]) & (contexts == contexts[leader.id]).all(axis=1)
        equal[list(self.ledger.failed)] = False
        arms = np.array([arm for arm in np.flatnonzero(equal).tolist() if standings.reward(arm) == best])  # values are rounded
        return self.ledger.arms[int(arms[partition.means.all[partition.homes.all[arms]].argmax()])]

    def regions(self) -> list[Region]:
        """The boxes with their bounds in the next round."""
        return self._partition.regions(self._beta(self.max_steps))

    def boxes(self) -> Boxes:
        """The same boxes as arrays, with the names of the coordinates and all pulls."""
        partition = self._partition
        return Boxes(
            coordinate_names(self.ledger.space, partition.dimension),
            partition.low.all.copy(),
            partition.high.all.copy(),
            partition.means.all.copy(),
            partition.counts.all.copy(),
            partition.upper_bounds(self._beta(self.max_steps)),
            *self.observations(),
        )

    def observations(self) -> tuple[Floats, Floats]:
        """The point of each pull on the unit cube, and its value from 0 to 1: NaN if in flight, the worst so far if it failed.

        With a context, its coordinate comes first.
        """
        return self._partition.points.all.copy(), self._partition.values.all.copy()

    def priority(self, arm: int) -> float:
        """Larger for better arms: no arm is pulled twice."""
        return self._standings.priority(arm, again=False)

    def scores(self) -> Scores:
        """The mean value and the bonus of each box."""
        means = self._partition.means.all.copy()
        bonuses = self._partition.upper_bounds(self._beta(self.max_steps)) - means
        return Scores("region", tuple(map(str, range(len(means)))), "mean value", means, "exploration bonus", bonuses)

    def plan(self) -> list[Phase]:
        arms = None if self.ledger.budget is None else self.ledger.budget // self.max_steps
        return [Phase("new arms, each fully trained", arms, None if arms is None else arms * self.max_steps)]

    def warning(self) -> str | None:
        return None

    def state(self) -> State:
        return {
            "ledger": self.ledger.state(),
            "partition": self._partition.state(),
            "standings": self._standings.state(),
            "rewards": self._rewards.state(),
            "worst": self._worst,
            "splitter": self._splitter.state(),
        }

    def load(self, state: State) -> None:
        self.ledger.load(state["ledger"])
        self._partition.load(state["partition"])
        self._standings.load(state["standings"])
        self._rewards.load(state["rewards"])
        self._worst = state["worst"]
        self._splitter.load(state["splitter"])

    __repr__ = strategy_repr


def coordinate_names(space: Any, dimension: int) -> tuple[str, ...]:
    """Names of the coordinates of the cube: the steps of a context, then the parameters of the space if it has names."""
    parameters = getattr(space, "parameters", {})
    named = [name for name, parameter in parameters.items() for _ in range(parameter.dimension)]
    context: int = dimension - space.dimension
    names = [f"{name}, from 0 to 1" for name in named or ("coordinate",) * (dimension - context)]
    return ("steps / max_steps",) * context + tuple(names)
