"""Mutant-UCB: a bandit over models that continues or mutates the promising ones.

Brégère and Keisler, "A Bandit Approach with Evolutionary Operators for Model Selection", algorithm 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import checks
from ..core import Arm, Pull
from .kit.ledger import Ledger, State
from .kit.phase import Phase
from .kit.representation import strategy_repr
from .kit.scores import Scores
from .kit.settings import remember_settings
from .kit.upper_bounds import UpperBounds
from .kit.upper_bounds import upper_bound as upper_bound


def linear(trained: int, max_steps: int) -> float:
    """The paper's probability of continuing an arm rather than mutating it."""
    return 1.0 - trained / max_steps


def exponential(trained: int, max_steps: int) -> float:
    """The paper's second option for this probability: nearly 1 until just before the end."""
    return 1.0 - math.exp(trained - max_steps)


_PROBABILITIES: dict[str, Callable[[int, int], float]] = {"linear": linear, "exponential": exponential}


class MutantUCB:
    """Continues or mutates the arm with the largest upper bound, one step at a time.

    `initial` random arms are trained for one step each. Then the arm with the largest upper bound is chosen again and again: it
    is either trained for one more step or mutated. The longer it has been trained, the more likely it is to be mutated. At the
    end the arm with the best mean is fully trained.

    An arm in flight can be mutated, but not trained. If it is chosen for training, it is skipped until its reward is known. If
    no arm can be chosen, because all of them failed or because there are more workers than arms, a new random arm is drawn.

    Args:
        space: Search space.
        budget: Total number of steps (T in the paper); None runs until the study stops it, without the final training.
        max_steps: Maximum number of steps per arm (N).
        initial: Number of random arms at the start (K). By default a twentieth of the budget.
        exploration: E of the upper bound, for rewards in [0, 1]; for other rewards, in units of their range.
        train_probability: Probability of training the chosen arm rather than mutating it: "linear", "exponential", or a
            function of (trained, max_steps).
        seed: Random seed. The same seed gives the same search.

    >>> from manyarms import Float, MutantUCB, Space
    >>> search = MutantUCB(Space(x=Float(0, 1)), budget=300, max_steps=5, initial=10, seed=0)
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
        max_steps: int = 10,
        initial: int | None = None,
        exploration: float = 0.05,
        train_probability: str | Callable[[int, int], float] = "linear",
        seed: int | None = None,
    ) -> None:
        self.ledger = Ledger(space, budget, max_steps, seed)
        self.max_steps = checks.whole("max_steps", max_steps, 1)
        self.exploration = checks.between("exploration", exploration, 0)
        if not callable(train_probability):
            train_probability = _PROBABILITIES[checks.one_of("train_probability", train_probability, _PROBABILITIES)]
        self._train_probability = checks.function("train_probability", train_probability, "trained", "max_steps")
        if initial is None:
            self.initial = 50 if budget is None else max(1, min(budget // 20, budget - max_steps + 1))
        else:
            self.initial = checks.whole("initial", initial, 1)
        smallest = self.initial + max_steps - 1
        if budget is not None and budget < smallest:
            raise ValueError(
                f"budget must be at least {smallest}: one step for each of {self.initial} initial arms, "
                f"then max_steps={max_steps} of the best; got {budget}"
            )
        self._bounds = UpperBounds(self.ledger, self.exploration)  # N_k counts training steps and mutations
        self._finalist: int | None = None

    def ask(self) -> Pull | None:
        ledger = self.ledger
        if ledger.budget is None or ledger.spent <= ledger.budget - self.max_steps:  # t = 1 .. T-N+1
            return self._explore()
        return self._finish()

    def tell(self, pull: Pull, reward: float | None) -> None:
        settled, arm = self.ledger.settle(pull, reward), pull.arm.id
        if settled.reward is not None:
            self._bounds.add(arm, settled.reward)
            self._bounds.rank(arm)
        elif settled.failed:
            self._bounds.drop(arm)

    def best(self) -> Arm:
        """The finally trained arm; before that, the arm with the largest mean. A failed arm only if there are no others."""
        ledger = self.ledger
        if self._finalist is not None and self._finalist not in ledger.failed:
            return ledger.arms[self._finalist]
        return ledger.arms[self._bounds.largest_mean()]

    def _explore(self) -> Pull:
        self._finalist = None  # there is one already if the budget was increased after the end
        if len(self.ledger.arms) < self.initial:
            return self._train(self.ledger.sample())
        while (arm := self._bounds.first()) is not None:
            if self._mutates(arm):
                self._bounds.choose(arm)
                self._bounds.rank(arm)
                return self._train(self.ledger.mutant(arm))
            if arm not in self.ledger.in_flight:
                return self._train(self.ledger.arms[arm])
            self._bounds.drop(arm)  # in flight: it is ranked again when its reward is known
        return self._train(self.ledger.sample())

    def _mutates(self, arm: int) -> bool:
        trained = self.ledger.steps[arm]
        draw = self.ledger.rng.random()
        return trained >= self.max_steps or draw >= self._train_probability(trained, self.max_steps)

    def _train(self, arm: Arm) -> Pull:
        self._bounds.choose(arm.id)
        pull = self.ledger.open(arm, 1)
        if pull.start:
            self._bounds.rank(arm.id)
        return pull

    def _finish(self) -> Pull | None:
        ledger = self.ledger
        if ledger.left < 1 or ledger.in_flight:
            return None
        if len(ledger.failed) == len(ledger.arms):
            return self._train(ledger.sample())
        finalist = self.best().id
        if ledger.steps[finalist] >= self.max_steps:
            return None
        self._finalist = finalist
        return self._train(ledger.arms[finalist])

    def priority(self, arm: int) -> float:
        """The upper bound, because the arm that is chosen next needs its checkpoint, whether it is trained or mutated."""
        return self._bounds.priority(arm)

    def scores(self) -> Scores:
        """The mean and the bonus of each arm."""
        return self._bounds.scores()

    def plan(self) -> list[Phase]:
        budget = self.ledger.budget
        middle = None if budget is None else budget - self.max_steps + 1 - self.initial
        last = None if budget is None else self.max_steps - 1
        return [
            Phase("initial arms, one step each", self.initial, self.initial),
            Phase("trainings and mutants, one step each", middle, middle),
            Phase("the best arm, fully trained", 0, last),
        ]

    def warning(self) -> str | None:
        """Warns if nearly all steps went to new mutants. With slow curves, a mutant never reaches the mean of its parent."""
        arms, budget = len(self.ledger.arms), self.ledger.budget
        if (
            budget is None or self.max_steps < 4 or arms <= max(budget / 2, self.initial)
        ):  # with N < 4 this happens on any curve
            return None
        return (
            f"{arms} arms for {budget} steps: mutants crowd out training, as happens when rewards increase slowly. "
            "Use longer steps, or use AdaptiveMutantUCB, which predicts how rewards will increase."
        )

    def state(self) -> State:
        return {"ledger": self.ledger.state(), **self._bounds.state(), "finalist": self._finalist}

    def load(self, state: State) -> None:
        self.ledger.load(state["ledger"])
        self._bounds.load(state)
        self._finalist = state["finalist"]

    __repr__ = strategy_repr
