"""D-TTTS: dynamic top-two Thompson sampling, which draws more arms the harder it is to find good ones.

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
from .kit.beliefs import Posteriors
from .kit.beta_laws import Floats, log_best
from .kit.ledger import MAX_DRAWS, Ledger, State
from .kit.phase import Phase
from .kit.representation import strategy_repr
from .kit.scaling import ScaledRewards
from .kit.scores import Scores
from .kit.settings import remember_settings

_BATCHES = (
    1,
    2,
    4,
    8,
    16,
)  # draws of all posteriors to find a challenger; after these, it is drawn from its exact distribution


def top_two(a: Floats, b: Floats, fresh: int, beta: float, rng: np.random.Generator) -> int:
    """The arm to pull: the number of an arm with posterior Beta(a_i, b_i), or len(a) for an arm that has not been sampled yet.

    Args:
        a, b: The parameters of the posteriors of the arms that can be pulled.
        fresh: Number of arms that were queried but not sampled (k). The best of them is the pseudo-arm, with posterior
            Beta(k, 1).
        beta: Probability of choosing the leader rather than a challenger.
        rng: The random generator.
    """
    if fresh:
        a, b = np.append(a, fresh), np.append(b, 1.0)
    if len(a) == 1:
        return 0
    leader = int(rng.beta(a, b).argmax())
    if rng.random() < beta:
        return leader
    # If the pseudo-arm wins twice, it is the same unsampled arm only one time in k.
    repeat = 1.0 - 1.0 / fresh if fresh and leader == len(a) - 1 else 0.0
    return challenger(a, b, leader, repeat, rng)


def challenger(a: Floats, b: Floats, leader: int, repeat: float, rng: np.random.Generator) -> int:
    """The largest arm of the first draw in which it is not the leader. The leader is accepted with probability `repeat`."""
    for draws in _BATCHES:
        winners = rng.beta(a, b, (draws, len(a))).argmax(axis=1)
        others = winners[(winners != leader) | (rng.random(draws) < repeat)]
        if len(others):
            return int(others[0])
    return int(rng.choice(len(a), p=challenger_law(a, b, leader, repeat)))


def challenger_law(a: Floats, b: Floats, leader: int, repeat: float) -> Floats:
    """The distribution of `challenger`: the probability that each arm is the largest, given that it is accepted."""
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
    """Thompson sampling that pulls the best arm of a random draw from the posteriors, or a challenger of that arm.

    In each round a new arm is queried without sampling it, and a value is drawn for every arm from its posterior. The arm with
    the largest value, the leader, is pulled or, with probability 1 - beta, the challenger: the largest arm of a draw in which
    it is not the leader.

    The posterior of an arm with N pulls and S successes is Beta(1 + S, 1 + N - S). A reward Y in [0, 1] is a success with
    probability Y. Rewards on a different scale are mapped to this range, and all of them are mapped again whenever the scale
    changes. Arms that have not been sampled yet count as one pseudo-arm; if it is chosen, a new arm is sampled. An arm in
    flight is skipped until its reward is known. A pull trains an arm for one more step.

    Args:
        space: Search space.
        budget: Total number of steps; None runs until the study stops it. No decision depends on it.
        beta: Probability of pulling the leader.
        max_steps: Maximum number of steps per arm; None means no limit.
        recommend: "optimal" recommends the arm that is most likely to be the best of those with a reward, "most_pulled" the one
            with the most rewards, "mean" the one with the largest mean, computed as if it had two more rewards that average
            1/2. Ties are broken by the largest mean.
        seed: Random seed. The same seed gives the same search.

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
        self._pulls = Column(float)  # rewards of each arm: N
        self._successes = Column(float)  # successes of each arm: S
        self._sums = Column(float)  # the sum of the values of each arm
        self._awake = Column(bool)  # whether each arm can be pulled
        self._rewards = ScaledRewards()
        self._coins = Column(float)  # a random number for each reward, which is a success if its value is larger
        self._best: int | None = None  # the arm to recommend until the next reward

    def ask(self) -> Pull | None:
        ledger = self.ledger
        if ledger.left < 1:
            return None
        awake = np.flatnonzero(self._awake.all)
        fresh = ledger.spent + 1 - len(ledger.arms)  # t - |L|: one arm is queried in each round, including this one
        chosen = top_two(*self._posteriors(awake), fresh, self.beta, ledger.rng)
        arm = ledger.arms[awake[chosen]] if chosen < len(awake) else self._new(awake)
        if arm.id == len(self._pulls.all):
            for column in (self._pulls, self._successes, self._sums, self._awake):
                column.append(0)
        self._awake[arm.id] = False
        return ledger.open(arm, 1)

    def _new(self, awake: Any) -> Arm:
        """A new arm; if the space is exhausted, there is no pseudo-arm, and one of the other arms is chosen."""
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
        """Sum up the values of all rewards on the new scale."""
        arms, values, n = self._rewards.arms.all, self._rewards.values, len(self.ledger.arms)
        self._successes.all[:] = np.bincount(arms, self._coins.all < values, n)
        self._sums.all[:] = np.bincount(arms, values, n)

    def best(self) -> Arm:
        """The arm chosen by `recommend`; a failed arm only if there are no others."""
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
        """Always True, because the paper treats rewards as repeated measurements of one value."""
        return True

    def priority(self, arm: int) -> float:
        """The mean of its posterior plus one standard deviation."""
        pulls = self._pulls[arm]
        if not pulls or arm in self.ledger.failed or pulls == self.ledger.max_steps:
            return -math.inf
        mean = (1.0 + self._successes[arm]) / (2.0 + pulls)
        return float(mean + math.sqrt(mean * (1.0 - mean) / (3.0 + pulls)))

    def scores(self) -> Scores:
        """The mean and the standard deviation of the posterior of each arm that has a reward and did not fail."""
        found = self.posteriors()
        a, b = found.a, found.b
        deviations = np.sqrt(a * b / (a + b + 1.0)) / (a + b)
        return Scores("arm", tuple(map(str, found.arms)), "posterior mean", a / (a + b), "standard deviation", deviations)

    def posteriors(self) -> Posteriors:
        """The posterior of each arm that has a reward and did not fail."""
        arms = np.array([arm for arm in np.flatnonzero(self._pulls.all) if arm not in self.ledger.failed], dtype=int)
        return Posteriors(arms, *self._posteriors(arms))

    def plan(self) -> list[Phase]:
        return [Phase("one step of a known or new arm, chosen by Thompson sampling", self.ledger.budget, self.ledger.budget)]

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
