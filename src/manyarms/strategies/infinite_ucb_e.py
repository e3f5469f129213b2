"""∞-UCB-E: a bandit over a fixed number of random models. It continues a model as long as that model may be the best.

Brégère and Keisler, "A Bandit Approach with Evolutionary Operators for Model Selection", section 3.
"""

from __future__ import annotations

import math
from typing import Any

from .. import checks
from ..core import Arm, Pull
from .kit.ledger import Ledger, State
from .kit.phase import Phase
from .kit.representation import strategy_repr
from .kit.scores import Scores
from .kit.settings import remember_settings
from .kit.upper_bounds import UpperBounds

_USUAL_BUDGET = 10_000  # the paper's budget, from which defaults are computed if there is no budget


def theory_initial(budget: int, alpha: float) -> int:
    """K of order T^alpha: with alpha below 1/5 the regret is bounded by order T^-alpha (equation 6).

    >>> [theory_initial(10**4, 0.19), theory_initial(3**5, 0.2)]
    [6, 3]
    """
    return math.ceil(math.pow(budget, alpha) - 1e-9)  # 243^0.2 is 3, but slightly more in floats


def theory_exploration(budget: int, initial: int, delta: float | None = None) -> float:
    """E of theorem 3.4. For `delta` see `regret_bound`."""
    delta = 1.0 / initial if delta is None else delta
    return 25.0 / 36.0 * max(budget - initial, 0) / initial**3 * delta**2


def regret_bound(budget: int, initial: int, delta: float | None = None) -> float:
    """Theorem 3.4: a bound of the expected regret, if the means of arms are uniform on [0, 1] and E is the theory's.

    Rewards are at most 1, so a bound above 1 says nothing. It is below 1 only for a handful of arms.

    Args:
        budget: T.
        initial: K, less than the budget.
        delta: The probability that two arms are too close to be distinguished. By default 1 / K, as in the paper.

    >>> [round(regret_bound(10_000, arms), 3) for arms in (2, 3)]
    [0.834, 6103.663]
    >>> round(regret_bound(10_000, 2, tightest_delta(10_000, 2)), 3)
    0.81
    """
    initial, rate = _rate(budget, initial)
    delta = 1.0 / initial if delta is None else checks.between("delta", delta, 0, 1)
    return 1.0 / (initial + 1) + delta + 2.0 * budget * initial * math.exp(-rate * delta**2)


def tightest_delta(budget: int, initial: int) -> float:
    """The delta with the smallest `regret_bound`; 1 if every bound is above 1."""
    from scipy.special import lambertw  # imported here because SciPy is slow to import

    initial, rate = _rate(budget, initial)
    factor = 2.0 * budget * initial
    # The derivative of delta + factor exp(-rate delta^2) is zero where u exp(u) = -1 / (2 factor^2 rate), u = -2 rate delta^2.
    value = -1.0 / (2.0 * factor**2 * rate)
    if value < -math.exp(-1.0):
        return 1.0
    return min(1.0, math.sqrt(-float(lambertw(value, -1).real) / (2.0 * rate)))


def _rate(budget: int, initial: int) -> tuple[int, float]:
    """K and (T - K) / (18 K^3), after checking the conditions of the theorem."""
    initial = checks.whole("initial", initial, 1)
    if checks.whole("budget", budget, 2) <= initial:
        raise ValueError(f"budget must be more than initial={initial}, got {budget!r}")
    return initial, (budget - initial) / (18.0 * initial**3)


class InfiniteUCBE:
    """Continues the arm with the largest upper bound, one step at a time, among a fixed number of random arms.

    `initial` random arms are trained for one step each. Then the arm with the largest upper bound is trained for one more step,
    again and again. The arm with the largest mean is recommended.

    An arm in flight is skipped until its reward is known. If no arm can be trained, because there are more workers than arms,
    or because all arms have failed or are fully trained, a new random arm is drawn.

    The defaults are those of the theory, which uses few arms. Many more arms and a small `exploration`, such as 1000 arms and
    0.05 for 10,000 steps, usually find better arms.

    Args:
        space: Search space.
        budget: Total number of steps (T in the paper); None runs until the study stops it, with the defaults for 10,000 steps.
        initial: Number of random arms at the start (K). By default budget^alpha. Increasing the budget later does not change
            it.
        exploration: E of the upper bound, for rewards in [0, 1]; for other rewards, in units of their range. By default the
            theory's value for this budget and number of arms.
        alpha: Exponent of the default of `initial`. The theory holds below 1/5.
        max_steps: Maximum number of steps per arm; None means no limit.
        seed: Random seed. The same seed gives the same search.

    >>> from manyarms import Float, InfiniteUCBE, Space
    >>> search = InfiniteUCBE(Space(x=Float(0, 1)), budget=300, initial=50, exploration=0.05, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, 1 - abs(pull.config["x"] - 0.3))
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
        initial: int | None = None,
        exploration: float | None = None,
        alpha: float = 0.19,
        max_steps: int | None = None,
        seed: int | None = None,
    ) -> None:
        self.ledger = Ledger(space, budget, max_steps, seed)
        checks.between("alpha", alpha, 0, 1)
        horizon = _USUAL_BUDGET if budget is None else budget
        self.initial = theory_initial(horizon, alpha) if initial is None else checks.whole("initial", initial, 1)
        if budget is not None and budget < self.initial:
            raise ValueError(f"budget must be at least {self.initial}: one step for each of the initial arms; got {budget}")
        if exploration is None:
            exploration = theory_exploration(horizon, self.initial)
        self.exploration = checks.between("exploration", exploration, 0)
        self._bounds = UpperBounds(self.ledger, self.exploration)

    def ask(self) -> Pull | None:
        ledger, bounds = self.ledger, self._bounds
        if ledger.left < 1:
            return None
        # The first K pulls, not until there are K arms: a small space may have fewer.
        first = None if ledger.spent < self.initial else bounds.first()
        arm = ledger.sample() if first is None else ledger.arms[first]
        bounds.choose(arm.id)
        bounds.drop(arm.id)  # in flight: it is ranked again when its reward is known
        return ledger.open(arm, 1)

    def tell(self, pull: Pull, reward: float | None) -> None:
        reward = self.ledger.settle(pull, reward).reward
        if reward is None:
            return
        arm = pull.arm.id
        self._bounds.add(arm, reward)
        if self.ledger.can_train(arm):
            self._bounds.rank(arm)

    def best(self) -> Arm:
        """The arm with the largest mean; a failed arm only if there are no others."""
        return self.ledger.arms[self._bounds.largest_mean()]

    def uses_mean(self, arm: int) -> bool:
        """Always True, because the paper treats rewards as repeated measurements of one value."""
        return True

    def priority(self, arm: int) -> float:
        """The upper bound; -inf for an arm that is fully trained."""
        finished = self.ledger.steps[arm] == self.ledger.max_steps
        return -math.inf if finished else self._bounds.priority(arm)

    def scores(self) -> Scores:
        """The mean and the bonus of each arm."""
        return self._bounds.scores()

    def plan(self) -> list[Phase]:
        budget = self.ledger.budget
        rest = None if budget is None else budget - self.initial
        return [
            Phase("initial arms, one step each", self.initial, self.initial),
            Phase("the arm with the largest upper bound, step by step", None, rest),
        ]

    def warning(self) -> str | None:
        return None

    def state(self) -> State:
        return {"ledger": self.ledger.state(), **self._bounds.state()}

    def load(self, state: State) -> None:
        self.ledger.load(state["ledger"])
        self._bounds.load(state)

    __repr__ = strategy_repr
