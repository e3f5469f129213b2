"""Rounds of a bandit on the unit cube: in each, a new arm is drawn from one box of a partition and trained in one pull."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import checks
from ...core import Arm, Pull
from ..kit.ledger import Ledger, State
from ..kit.recommendation import Standings
from ..kit.scaling import ScaledRewards
from ..protocol import Phase
from .partition import Floats, Partition

_TRIES = 16  # for a config not seen before; then the box is taken to be used up


def dimension_of(space: Any) -> int:
    """The number of coordinates the space encodes its configs in; one that cannot encode is refused."""
    for part in ("encode", "decode", "dimension"):
        if not hasattr(space, part):
            culprit = _without_code(space)
            why = f"its parameter {culprit!r} has no encoding" if culprit is not None else f"it has no {part}"
            raise TypeError(
                "space must map its configs to the unit cube, by encode(config), decode(vector) and dimension; "
                f"got {space!r}: {why}"
            )
    return checks.whole("the dimension of space", space.dimension, 0)


def _without_code(space: Any) -> str | None:
    """The first parameter that cannot be encoded, if the space shows its parameters."""
    for name, parameter in getattr(space, "parameters", {}).items():
        if not (hasattr(parameter, "encode") and hasattr(parameter, "decode")):
            return str(name)
    return None


class Rounds:
    """What the strategies on the unit cube share: the ledger, the partition, and drawing an arm from a box.

    A pull in flight counts in its box. One that failed counts as the worst reward so far (0 if there is none), so that the
    search leaves boxes where pulls fail. Values are from 0 to 1: rewards that are not are brought there, all of them anew
    whenever the scale changes.

    Args:
        space: makes the arms; it must encode.
        budget, max_steps, seed: of the ledger.
        given: so many coordinates, those of a context, come before the arm's.
    """

    def __init__(self, space: Any, budget: int | None, max_steps: int, seed: int | None, given: int = 0) -> None:
        self.ledger = Ledger(space, budget, checks.whole("max_steps", max_steps, 1), seed)
        if budget is not None and budget < max_steps:
            raise ValueError(f"budget must be at least {max_steps}, one whole training of max_steps, got {budget}")
        self.partition = Partition(given + dimension_of(self.ledger.space), given)
        self._standings = Standings(self.ledger)
        self._rewards = ScaledRewards()
        self._worst: float | None = None

    @property
    def number(self) -> int:
        """Of the round to come, from 1: t in the paper."""
        return len(self.ledger.arms) + 1

    def play(self, beta: float, steps: int, given: Sequence[float] = ()) -> Pull:
        """Draw a new arm from the box with the largest bound, and ask for its training."""
        box, config, point = self._found(beta, given)
        self.partition.add(box, point)
        return self.ledger.open(self.ledger.add(config), steps)

    def _found(self, beta: float, given: Sequence[float]) -> tuple[int, Any, Floats]:
        """The best box that is not used up, a config from it, and where that is; if all are used up, a config comes again."""
        ledger, partition = self.ledger, self.partition
        while (box := partition.pick(beta, given, ledger.rng)) is not None:
            if (drawn := self._drawn(box, given)) is not None:
                return box, *drawn
            partition.close(box)
        box = partition.pick(beta, given, ledger.rng, closed=True)
        assert box is not None
        point = partition.draw(box, given, ledger.rng)
        return box, ledger.space.decode(point[len(given) :]), point

    def _drawn(self, box: int, given: Sequence[float]) -> tuple[Any, Floats] | None:
        """A config from the box that no arm has, and where it is; None where some tries find none: the box is used up.

        A config is at its own code, so that all points which decode to it are one. Where a box holds no code, such as that of
        "neither a nor b" where these are the options, its points stand for themselves.
        """
        ledger, partition = self.ledger, self.partition
        holds_codes, elsewhere = False, None
        for _ in range(_TRIES):
            point = partition.draw(box, given, ledger.rng)
            config = ledger.space.decode(point[len(given) :])
            code = np.array([*given, *ledger.space.encode(config)])
            known, inside = ledger.knows(config), partition.holds(box, code)
            if inside and not known:
                return config, code
            holds_codes = holds_codes or inside
            if elsewhere is None and not known:
                elsewhere = config, point
        return None if holds_codes else elsewhere

    def settle(self, pull: Pull, reward: float | None) -> bool:
        """Note that a pull ended; False if it was told before."""
        settled = self.ledger.settle(pull, reward)
        if settled.repeated:
            return False
        arm, reward, changed = pull.arm.id, settled.reward, False
        if reward is not None:
            self._worst = reward if self._worst is None else min(self._worst, reward)
            self._standings.tell(arm, reward)
            changed = self._rewards.tell(arm, reward)
        self.partition.learn(arm, self._value(reward))
        if changed:
            values = np.full(len(self.ledger.arms), self._value(None))
            values[self._rewards.arms.all] = self._rewards.values
            self.partition.revalue(values)
        return True

    def _value(self, reward: float | None) -> float:
        """What a reward, or a failure, is worth from 0 to 1."""
        counts = self._worst if reward is None else reward
        return 0.0 if counts is None else self._rewards.value(counts)

    def best(self) -> Arm:
        """The arm with the best reward; of equal ones that in the box with the largest mean."""
        leader, partition = self._standings.best(), self.partition
        contexts = partition.points.all[:, : partition.given]
        equal = (partition.values.all == partition.values[leader.id]) & (contexts == contexts[leader.id]).all(axis=1)
        equal[list(self.ledger.failed)] = False
        arms = np.flatnonzero(equal)
        return self.ledger.arms[int(arms[partition.means.all[partition.homes.all[arms]].argmax()])]

    def priority(self, arm: int) -> float:
        """No arm is pulled twice: the better one keeps its checkpoint."""
        return self._standings.priority(arm, again=False)

    def whole_trainings(self) -> Phase:
        """The plan of a strategy that trains every arm to the end."""
        budget, steps = self.ledger.budget, self.ledger.max_steps or 1
        arms = None if budget is None else budget // steps
        return Phase("new arms, each trained to the end", arms, None if arms is None else arms * steps)

    def state(self) -> State:
        """The ledger, the partition and the rewards."""
        return {
            "ledger": self.ledger.state(),
            "partition": self.partition.state(),
            "standings": self._standings.state(),
            "rewards": self._rewards.state(),
            "worst": self._worst,
        }

    def load(self, state: State) -> None:
        """Take back what `state` gave."""
        self.ledger.load(state["ledger"])
        self.partition.load(state["partition"])
        self._standings.load(state["standings"])
        self._rewards.load(state["rewards"])
        self._worst = state["worst"]
