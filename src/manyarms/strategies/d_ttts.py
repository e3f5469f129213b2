"""D-TTTS: dynamic top-two Thompson sampling, which samples the more arms the harder it is to find good ones.

Shang, Kaufmann and Valko, "A simple dynamic bandit algorithm for hyper-parameter tuning".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import checks
from ..core import Arm, Pull
from ..errors import NoResult
from .kit.arrays import Column
from .kit.beta_laws import Floats, log_best
from .kit.ledger import MAX_DRAWS, Ledger, State
from .kit.representation import strategy_repr
from .kit.scaling import ScaledRewards
from .kit.settings import remember_settings
from .protocol import Phase

_BATCHES = (1, 2, 4, 8, 16)  # draws of all posteriors, in the search for a challenger; past them it comes from its exact law


def top_two(a: Floats, b: Floats, fresh: int, beta: float, rng: np.random.Generator) -> int:
    """The arm to pull: the number of an arm with posterior Beta(a_i, b_i), or len(a) for an arm that was not sampled yet.

    Args:
        a, b: of the posteriors of the arms that can be pulled.
        fresh: how many arms were queried but not sampled (k); the best of them is the pseudo-arm, with posterior Beta(k, 1).
        beta: the probability of taking the leader rather than a challenger.
        rng: what it draws from.
    """
    if fresh:
        a, b = np.append(a, fresh), np.append(b, 1.0)
    if len(a) == 1:
        return 0
    leader = int(rng.beta(a, b).argmax())
    if rng.random() < beta:
        return leader
    # Trap: where the pseudo-arm wins twice, only one time in k is it by the same fresh arm.
    repeat = 1.0 - 1.0 / fresh if fresh and leader == len(a) - 1 else 0.0
    return challenger(a, b, leader, repeat, rng)


def challenger(a: Floats, b: Floats, leader: int, repeat: float, rng: np.random.Generator) -> int:
    """The arm that is the largest in draws where this is not the leader; but the leader passes with probability `repeat`."""
    for draws in _BATCHES:
        winners = rng.beta(a, b, (draws, len(a))).argmax(axis=1)
        others = winners[(winners != leader) | (rng.random(draws) < repeat)]
        if len(others):
            return int(others[0])
    return int(rng.choice(len(a), p=challenger_law(a, b, leader, repeat)))


def challenger_law(a: Floats, b: Floats, leader: int, repeat: float) -> Floats:
    """The probabilities of what `challenger` gives: of each being the best, given that it may be taken."""
    logs = log_best(a, b)
    logs[leader] += math.log(repeat) if repeat else -math.inf
    weights = np.exp(logs - logs.max())
    law: Floats = weights / weights.sum()
    return law


_RULES: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
    "optimal": lambda a, b, means: log_best(a, b),
    "most_pulled": lambda a, b, means: a + b,
    "mean": lambda a, b, means: means,
}


class DTTTS:
    """In each round query a new arm without sampling it, draw a value for every arm from its posterior, and pull the one with
    the largest or, with probability 1 - beta, the one that is largest in draws where that is another arm.

    The posterior of an arm with N pulls and S successes is Beta(1 + S, 1 + N - S); a reward Y in [0, 1] is a success with
    probability Y. Rewards of any other scale are brought there, all of them anew when the scale changes. Arms not sampled yet
    count as one pseudo-arm; if it is to be pulled, a new arm is sampled. An arm in training is asleep: it is left out until its
    reward comes. A pull is one step of an arm, from where it stands.

    Args:
        space: makes the arms.
        budget: steps in all; None goes on until the study stops it. It decides nothing else: this strategy is anytime.
        beta: the probability of pulling the leader.
        max_steps: the most steps an arm may get; None means no limit.
        recommend: "optimal" is the arm most probably the best of those with a reward, "most_pulled" the one with most rewards,
            "mean" the one with the largest mean, as if it had two rewards more that average 1/2. Equal ones: the largest mean.
        seed: of its generator.

    >>> from manyarms import DTTTS, Float, Space
    >>> search = DTTTS(Space(x=Float(0, 1)), budget=1000, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, 1 - 2 * abs(pull.config["x"] - 0.3))
    >>> round(search.best().config["x"], 1)
    0.3
    """

    settings: dict[str, Any]

    @remember_settings
    def __init__(
        self,
        space: Any,
        *,
        budget: int | None = None,
        beta: float = 0.5,
        max_steps: int | None = None,
        recommend: str = "optimal",
        seed: int | None = None,
    ) -> None:
        self.ledger = Ledger(space, budget, max_steps, seed)
        self.beta = checks.between("beta", beta, 0, 1)
        self.recommend = checks.one_of("recommend", recommend, _RULES)
        self._pulls = Column(float)  # by arm: N, told
        self._successes = Column(float)  # by arm: S
        self._sums = Column(float)  # by arm: of the values of its rewards
        self._awake = Column(bool)  # by arm: can be pulled
        self._rewards = ScaledRewards()
        self._coins = Column(float)  # by reward: a number from 0 to 1; it is a success if its value is above
        self._best: int | None = None  # until the next reward

    def ask(self) -> Pull | None:
        ledger = self.ledger
        if ledger.left < 1:
            return None
        awake = np.flatnonzero(self._awake.all)
        fresh = ledger.spent + 1 - len(ledger.arms)  # t - |L|: one arm was queried in each round, this one included
        chosen = top_two(*self._posteriors(awake), fresh, self.beta, ledger.rng)
        arm = ledger.arms[awake[chosen]] if chosen < len(awake) else self._new(awake)
        if arm.id == len(self._pulls.all):
            for column in (self._pulls, self._successes, self._sums, self._awake):
                column.append(0)
        self._awake[arm.id] = False
        return ledger.open(arm, 1)

    def _new(self, awake: Any) -> Arm:
        """A new arm; where the space has none left, the pseudo-arm stands for nothing, and one of the others is chosen."""
        ledger = self.ledger
        arm = ledger.unseen((ledger.draw(), ()) for _ in range(MAX_DRAWS))
        if arm is None and len(awake):
            arm = ledger.arms[awake[top_two(*self._posteriors(awake), 0, self.beta, ledger.rng)]]
        return ledger.sample() if arm is None else arm

    def tell(self, pull: Pull, reward: float | None) -> None:
        reward = self.ledger.settle(pull, reward).reward
        self._best = None
        if reward is None:
            return
        arm, coin = pull.arm.id, self.ledger.rng.random()
        self._pulls[arm] += 1
        self._awake[arm] = self.ledger.can_train(arm)
        self._coins.append(coin)
        if self._rewards.tell(arm, reward):
            self._count()
            return
        value = self._rewards.value(reward)
        self._successes[arm] += coin < value
        self._sums[arm] += value

    def _count(self) -> None:
        """Add up what all rewards are worth now."""
        arms, values, n = self._rewards.arms.all, self._rewards.values, len(self.ledger.arms)
        self._successes.all[:] = np.bincount(arms, self._coins.all < values, n)
        self._sums.all[:] = np.bincount(arms, values, n)

    def best(self) -> Arm:
        """As `recommend` says, among the arms that never failed, if any."""
        if self._best is None:
            self._best = self._recommended()
        return self.ledger.arms[self._best]

    def _recommended(self) -> int:
        rewarded = np.flatnonzero(self._pulls.all)
        if not len(rewarded):
            raise NoResult("no pull has succeeded yet")
        sound = rewarded[~np.isin(rewarded, list(self.ledger.failed))]
        arms = sound if len(sound) else rewarded
        means = (1.0 + self._sums.all[arms]) / (2.0 + self._pulls.all[arms])
        scores = _RULES[self.recommend](*self._posteriors(arms), means)
        return int(arms[np.lexsort((-arms, means, scores))[-1]])

    def _posteriors(self, arms: Any) -> tuple[Floats, Floats]:
        pulls, successes = self._pulls.all[arms], self._successes.all[arms]
        return 1.0 + successes, 1.0 + pulls - successes

    def uses_mean(self, arm: int) -> bool:
        """Always: to the paper rewards are draws from one law."""
        return True

    def priority(self, arm: int) -> float:
        """The mean of its posterior and one standard deviation: where its draws are when they are large."""
        pulls = self._pulls[arm]
        if not pulls or arm in self.ledger.failed or pulls == self.ledger.max_steps:
            return -math.inf
        mean = (1.0 + self._successes[arm]) / (2.0 + pulls)
        return float(mean + math.sqrt(mean * (1.0 - mean) / (3.0 + pulls)))

    def plan(self) -> list[Phase]:
        return [Phase("one step of an arm or of a new one, as its posterior deserves", self.ledger.budget, self.ledger.budget)]

    def warning(self) -> str | None:
        return None

    def state(self) -> State:
        return {"ledger": self.ledger.state(), "rewards": self._rewards.state(), "coins": self._coins.all.copy()}

    def load(self, state: State) -> None:
        self.ledger.load(state["ledger"])
        self._pulls = Column.of(np.array(self.ledger.steps, dtype=float))
        self._successes, self._sums = Column.of(0.0 * self._pulls.all), Column.of(0.0 * self._pulls.all)
        self._rewards.load(state["rewards"])
        self._coins = Column.of(state["coins"])
        self._count()
        self._awake = Column.of(np.array([self.ledger.can_train(arm) for arm in range(len(self.ledger.arms))], dtype=bool))
        self._best = None

    __repr__ = strategy_repr
