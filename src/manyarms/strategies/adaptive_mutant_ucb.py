"""AdaptiveMutantUCB: Mutant-UCB without prior knowledge of the budget, the reward scale or the shape of learning curves.

Each decision is a function in `surrogate/rules.py`. The class only keeps the counts that these functions need.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import checks
from ..core import Arm, Pull
from ..errors import NoResult
from .kit.beliefs import Predictions
from .kit.ledger import MAX_DRAWS, Ledger, State, check_one_training
from .kit.phase import Phase
from .kit.representation import strategy_repr
from .kit.scores import Scores
from .kit.settings import remember_settings
from .surrogate import rules
from .surrogate.arm_scores import ArmScores
from .surrogate.candidates import CandidateGenerator, Option
from .surrogate.gaussian_process import ScoredArms
from .surrogate.learning_curve import slice_stops


class AdaptiveMutantUCB:
    """The default strategy: trains the arms that are predicted to become best, and mutates the best ones.

    1. An arm is scored by the reward that it is predicted to reach: the running average of its rewards plus what other arms
       gained from the same step to their best step.
    2. The arm with the largest score plus exploration bonus is trained for one more slice; a fully trained arm is mutated
       instead. At least every third pull continues a paused arm, because gains can only be learned from such arms.
    3. The search starts with random arms. New arms that are not mutants are added throughout, but less and less often.
    4. If the space encodes its configs, most new arms are the most promising of 64 candidates, as predicted by a Gaussian
       process from the arms so far.
    5. Some new arms are chosen using only the fully trained arms, and then trained to completion, because early rewards may
       mislead. Once one of these is the best of all arms, most new arms are chosen this way.
    6. An arm whose curve has turned, so that more training makes it worse, counts as fully trained.
    7. If rewards turn out to be repeated measurements of one value, an arm is scored by their mean.
    8. The leader is trained to completion by 5, 10, 20, 40, ... full trainings, so that there is a complete arm to recommend.
    9. If the budget of the study is a time, an arm whose steps take twice as long must be better by a tenth of the spread.
    10. The arm with the best reward is recommended; for repeated measurements, the fully trained arm with the best mean. In
        the first five full trainings, a fully trained arm is preferred to one that is slightly better.

    Args:
        space: Search space.
        budget: Total number of steps; None runs until the study stops it.
        max_steps: Maximum number of steps per arm.
        initial: Number of random arms at the start. Reduced automatically for small budgets.
        exploration: Bonus of an arm chosen once, in units of the spread of the scores (the best minus the median).
        slices: Number of pulls in a full training; at most one for each step.
        surrogate: Choose new arms by the predictions of the Gaussian process. False draws them at random.
        stop_turned: Stop training an arm whose curve has turned. Use False if rewards are not points of one curve, such as
            scores on growing numbers of rows.
        seed: Random seed. The same seed gives the same search.

    >>> from manyarms import AdaptiveMutantUCB, Float, Space
    >>> search = AdaptiveMutantUCB(Space(x=Float(0, 1)), budget=300, max_steps=5, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, -abs(pull.config["x"] - 0.3) / pull.stop)
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
        initial: int = 24,
        exploration: float = 0.5,
        slices: int = 10,
        surrogate: bool = True,
        stop_turned: bool = True,
        seed: int | None = None,
    ) -> None:
        self.ledger = Ledger(space, budget, max_steps, seed)
        self.max_steps = checks.whole("max_steps", max_steps, 1)
        checks.whole("initial", initial, 1)
        self.exploration = checks.between("exploration", exploration, 0)
        self.stops = slice_stops(max_steps, checks.whole("slices", slices, 1))
        check_one_training(budget, max_steps)
        self.initial = rules.initial_arms(initial, budget, max_steps, self.stops[0])
        encodes = hasattr(self.ledger.space, "encode") and hasattr(self.ledger.space, "dimension")
        guided = checks.flag("surrogate", surrogate) and encodes
        self._generator = CandidateGenerator(self.ledger.space) if guided else None
        self._scores = ArmScores(self.ledger, len(self.stops), self.exploration, checks.flag("stop_turned", stop_turned))
        self._pulls = 0  # pulls asked for
        self._continued = 0  # pulls asked for that continue a paused arm
        self._to_completion: set[int] = set()  # arms to be trained to completion
        self._unfinished: list[int] = []  # the ones that are waiting for their next slice
        self._leader: int | None = None  # the arm that is trained to completion to be recommended
        self._best_completed = -math.inf  # the best reward of those that are complete
        self._best_other = -math.inf  # the best reward of the other complete arms

    def ask(self) -> Pull | None:
        ledger, scores = self.ledger, self._scores
        if ledger.left < self.max_steps:
            return self._finish()
        if self._pulls < self.initial:
            return self._train(self._random_arm())
        scores.measure()
        if (leader := self._arm_to_finish()) is not None:
            return self._train(leader)
        while self._unfinished:
            arm = self._unfinished.pop()
            if ledger.can_train(arm):
                return self._train(ledger.arms[arm])
        if self._starts_training_to_completion():
            new = self._arm_chosen_by_complete_ones()
            self._to_completion.add(new.id)
            return self._train(new)
        paused, complete = scores.best_paused(), scores.best_complete()
        probability = rules.new_arm_probability(self._pulls, guided=self._generator is not None)
        if ledger.rng.random() < probability or (paused is None and complete is None):
            return self._train(self._new_arm())
        must_continue = rules.must_continue_an_arm(self._continued, self._pulls - self.initial)
        if complete is None or (paused is not None and rules.should_continue(paused[0], complete[0], must_continue)):
            assert paused is not None
            return self._train(ledger.arms[paused[1]])
        scores.choose(complete[1])
        return self._train(self._mutant(complete[1]))

    def tell(self, pull: Pull, reward: float | None) -> None:
        reward = self.ledger.settle(pull, reward).reward
        if reward is None:
            return
        arm = pull.arm.id
        self._scores.add_reward(arm, reward)
        to_completion, best = arm in self._to_completion, self._scores.counts.bests[arm]
        if not self._scores.is_complete(arm):
            if to_completion:
                self._unfinished.append(arm)
        elif to_completion:
            self._best_completed = max(self._best_completed, best)
        else:
            self._best_other = max(self._best_other, best)

    def learn_seconds(self, pull: Pull, seconds: float) -> None:
        """Learn how long a pull took. A study whose budget is a time calls this, and fast arms are then preferred."""
        self._scores.seconds.add(pull.arm.id, pull.steps, seconds)

    def best(self) -> Arm:
        """The arm with the best reward; for repeated measurements, the fully trained arm with the best mean."""
        arm = self._scores.recommended()
        if arm is None:
            raise NoResult("no pull has succeeded yet")
        return self.ledger.arms[arm]

    def uses_mean(self, arm: int) -> bool:
        """Whether rewards turned out to be repeated measurements of one value."""
        return self._scores.curves.stationary

    def _train(self, arm: Arm) -> Pull:
        """The next slice of an arm."""
        steps = self._next_steps(arm.id)
        self._continued += self._scores.counts.slices[arm.id] > 0
        self._scores.train(arm.id)
        self._pulls += 1
        return self.ledger.open(arm, steps)

    def _next_steps(self, arm: int) -> int:
        """Number of steps in the next slice of an arm."""
        return int(self.stops[self._scores.counts.slices[arm]] - self.ledger.steps[arm])

    def _finish(self) -> Pull | None:
        """With less than a full training left, continue the best arm that can still be fully trained.

        If there is none, the last steps go to the best arm whose next slice fits, or to a new arm.
        """
        ledger, paused = self.ledger, self._scores.paused()
        fitting = [arm for arm in paused if self.max_steps - ledger.steps[arm] <= ledger.left]
        if not fitting and not ledger.in_flight:
            fitting = [arm for arm in paused if self._next_steps(arm) <= ledger.left]
            if not fitting and self.stops[0] <= ledger.left:
                return self._train(self._new_arm())
        return self._train(ledger.arms[self._scores.best_of(fitting)]) if fitting else None

    def _arm_to_finish(self) -> Arm | None:
        """The arm to complete now, so that there is a complete one to recommend; None if this can wait, or it is in flight."""
        ledger = self.ledger
        if self._leader is None or self._leader in ledger.failed or self._scores.is_complete(self._leader):
            self._leader = self._next_leader()
        return None if self._leader is None or self._leader in ledger.in_flight else ledger.arms[self._leader]

    def _next_leader(self) -> int | None:
        """The arm to complete next. Meanwhile, each of the other workers spends as many steps on other arms."""
        ledger, scores, workers = self.ledger, self._scores, len(self.ledger.in_flight) + 1
        if not rules.may_finish_an_arm(ledger.spent, workers, self.max_steps):
            return None
        recommended = scores.recommended()
        if recommended is None or scores.is_complete(recommended):
            return None
        arms = np.array([recommended] if len(scores.complete()) else scores.paused(), dtype=np.int64)
        missing = np.array([workers * (self.max_steps - ledger.steps[arm]) for arm in arms], dtype=np.int64)
        return rules.arm_to_finish(arms, scores.counts.bests.all[arms], missing, ledger.spent, self.max_steps)

    def _starts_training_to_completion(self) -> bool:
        """Whether the next arm is a new one that is trained to completion, regardless of its early rewards."""
        if len(self.stops) == 1 or self._scores.curves.stationary or self._best_other == -math.inf:
            return False
        share = rules.completion_share(self._best_completed, self._best_other)
        spent = self.ledger.spent - self.initial * self.stops[0]
        return rules.should_train_to_completion(len(self._to_completion), spent, self.max_steps, share)

    def _mutant(self, parent: int) -> Arm:
        """A mutant of an arm. If the space encodes its configs, it is usually the most promising of many candidates."""
        if self._generator is not None and self.ledger.rng.random() >= rules.RANDOM_MUTANT_PROBABILITY:
            return self._new_arm(parent)
        return self._random_mutant(parent)

    def _new_arm(self, parent: int | None = None) -> Arm:
        """A mutant of the parent, or an arm without one: the most promising of many candidates if the space encodes configs."""
        if self._generator is None or not len(arms := self._scores.trained()):
            return self._random_arm() if parent is None else self._random_mutant(parent)
        scores = self._scores
        pending = rules.pending_arms(self.ledger.in_flight, scores.counts.slices.all)
        known = ScoredArms(arms, scores.predict(arms), scores.median, scores.spread, pending)
        return self._first_unseen(self._generator.most_promising(self.ledger, scores, parent, known, rules.DEVIATIONS))

    def _arm_chosen_by_complete_ones(self) -> Arm:
        """An arm without a parent, chosen using only the best rewards of the complete arms."""
        if self._generator is None or not len(arms := self._scores.complete()):
            return self._random_arm()
        bests = self._scores.counts.bests.all[arms]
        median = float(np.median(bests))
        pending = sorted(self._to_completion - self.ledger.failed - set(arms.tolist()))
        known = ScoredArms(arms, bests, median, float(bests.max()) - median, pending)
        options = self._generator.most_promising(self.ledger, self._scores, None, known, rules.COMPLETION_DEVIATIONS)
        return self._first_unseen(options)

    def _random_arm(self) -> Arm:
        return self._first_unseen((self.ledger.draw(), ()) for _ in range(MAX_DRAWS))

    def _random_mutant(self, parent: int) -> Arm:
        ledger, config = self.ledger, self.ledger.arms[parent].config
        return self._first_unseen((ledger.space.mutate(config, ledger.rng), (parent,)) for _ in range(MAX_DRAWS))

    def _first_unseen(self, options: Iterable[Option]) -> Arm:
        """The first config that no arm has yet. If there is none, the space may be exhausted: continue the best paused arm."""
        arm = self.ledger.unseen(options)
        if arm is None and (paused := self._scores.best_paused()) is not None:
            return self.ledger.arms[paused[1]]
        arm = self.ledger.sample() if arm is None else arm
        if arm.id == len(self._scores.counts):
            self._scores.counts.append()
            if self._generator is not None:
                self._generator.add(arm.config)
        return arm

    def priority(self, arm: int) -> float:
        """The score, because the arm that is chosen next needs its checkpoint, whether it is trained or mutated."""
        return self._scores.priority(arm)

    def scores(self) -> Scores:
        """The predicted reward and the bonus of each arm."""
        return self._scores.scores()

    def predictions(self) -> Predictions | None:
        """What the Gaussian process predicts for arms whose rewards are known; None without one, or if there are none yet."""
        return None if self._generator is None else self._generator.predictions(self._scores)

    @property
    def trained_to_completion(self) -> frozenset[int]:
        """The ids of the arms that are trained to completion regardless of their early rewards."""
        return frozenset(self._to_completion)

    def plan(self) -> list[Phase]:
        budget, first = self.ledger.budget, self.initial * self.stops[0]
        first = first if budget is None else min(first, budget)
        last = None if budget is None else min(self.max_steps - 1, budget - first)
        middle = None if budget is None else budget - first - (last or 0)
        return [
            Phase("initial arms, one slice each", self.initial, first),
            Phase("trainings, mutants and new arms, one slice each", middle and middle // self.stops[0], middle),
            Phase("the most promising arms, trained to completion", 0, last),
        ]

    def warning(self) -> str | None:
        return None

    def state(self) -> State:
        bests = self._best_completed, self._best_other
        return {
            "ledger": self.ledger.state(),
            "scores": self._scores.state(),
            "pulls": [self._pulls, self._continued],
            "to_completion": sorted(self._to_completion),
            "unfinished": list(self._unfinished),
            "leader": self._leader,
            "bests": [None if best == -math.inf else best for best in bests],
            "process": None if self._generator is None else self._generator.process.state(),
        }

    def load(self, state: State) -> None:
        self.ledger.load(state["ledger"])
        self._scores.load(state["scores"])
        self._pulls, self._continued = state["pulls"]
        self._to_completion, self._unfinished = set(state["to_completion"]), list(state["unfinished"])
        self._leader = state["leader"]
        self._best_completed, self._best_other = (-math.inf if best is None else best for best in state["bests"])
        if self._generator is not None:
            self._generator = CandidateGenerator(self.ledger.space)
            for arm in self.ledger.arms:
                self._generator.add(arm.config)
            self._generator.process.load(state["process"])

    __repr__ = strategy_repr
