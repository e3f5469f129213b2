"""AdaptiveMutantUCB: Mutant-UCB made anytime, free of the budget, of the scale of rewards, and of the shape of the curves."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..core import Arm, Pull
from ..errors import NoResult
from .kit.arrays import Column
from .kit.ledger import Ledger, State
from .kit.ranking import Ranking
from .kit.representation import strategy_repr
from .protocol import Phase
from .surrogate.candidates import Nursery, Option
from .surrogate.learning_curve import Outlook, gain, rung_stops

Array = NDArray[Any]

_DRAWS = 10  # for a config not seen before
_PLAIN = 0.25  # of the mutants are drawn and not chosen: the search also goes finer than the forecast can see
_FLOOR = 5.0  # spreads below the median: a diverged run is no worse than bad
_STRAIGHT = (0.15, 0.7)  # of the steps for arms trained straight to the end: while they find nothing better, and once they do
_DOOMED = 100.0  # spreads by which a candidate promises less where the arm next to it failed
_DIGITS = 9  # of what candidates promise: beyond, machines differ
_TRAINED = 1 / 3  # of the pulls after the initial arms at least train an arm on
_STALE = 1.2  # how far the spread may drift before all indices are made anew
_FALL = 0.1  # spreads below its best reward, twice in a row: the curve of an arm has turned
_FALLS = 2


def fresh_probability(pulls: int, guided: bool) -> float:
    """Of making a fresh arm instead: less and less, and never none; rarely where it can only be drawn and not chosen."""
    return (0.5 if guided else 0.1) / math.sqrt(1.0 + pulls / 50.0)


class AdaptiveMutantUCB:
    """The default strategy: trains the arms that are predicted to become best, and mutates the best ones.

    1. Each arm is scored by the reward that it is predicted to reach: its running average plus the gains that other arms made
       from the same step to where they were best. Where rewards are repeated measurements of one value, it is their mean. A
       bonus for exploration, proportional to the spread of the scores, is added.
    2. The arm with the largest sum is trained for another slice; once it is fully trained, it is mutated instead.
    3. At least every third pull continues a paused arm, because the gains can only be learned from arms that are continued.
    4. It starts with a few random arms, and draws new random arms throughout, more and more rarely.
    5. Where the space encodes, a new arm is the most promising of many candidates, as predicted from the arms so far.
    6. Some new arms are trained straight to the end, and chosen by fully trained arms only, because early rewards may mislead.
       Once they find something better than the others, most new arms are.
    7. An arm whose curve has turned, so that more training makes it worse, counts as fully trained: it is only mutated.
    8. It recommends the arm with the best reward. Where rewards are repeated measurements of one value, it recommends the best
       mean of the fully trained arms, as soon as there is one.

    Args:
        space: Makes and mutates the arms.
        budget: Total number of steps; None runs until the study stops it.
        max_steps: The most steps an arm may get.
        initial: Number of random arms at the start. Reduced automatically for small budgets.
        exploration: Bonus of an arm chosen once, in units of the spread of the scores (the best minus the median).
        slices: Number of pulls in a full training; at most one for each step.
        surrogate: Choose new arms by predictions, where the space encodes.
        stop_turned: Stop training an arm whose curve has turned. False where rewards are not points of one curve, such as
            scores on ever more rows.
        seed: Random seed. The same seed gives the same search.

    >>> from manyarms import AdaptiveMutantUCB, Float, Space
    >>> search = AdaptiveMutantUCB(Space(x=Float(0, 1)), budget=300, max_steps=5, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, -abs(pull.config["x"] - 0.3) / pull.stop)
    >>> round(search.best().config["x"], 1)
    0.3
    """

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
        self.settings = {
            "budget": budget,
            "max_steps": max_steps,
            "initial": initial,
            "exploration": exploration,
            "slices": slices,
            "surrogate": surrogate,
            "stop_turned": stop_turned,
            "seed": seed,
        }
        self.ledger = Ledger(space, budget, max_steps, seed)
        self.max_steps = checks.whole("max_steps", max_steps, 1)
        self.initial = checks.whole("initial", initial, 1)
        self.exploration = checks.between("exploration", exploration, 0)
        self._stop_turned = checks.flag("stop_turned", stop_turned)
        self.stops = rung_stops(max_steps, checks.whole("slices", slices, 1))
        if budget is not None and budget < max_steps:
            raise ValueError(f"budget must be at least {max_steps}, one full training of max_steps, got {budget}")
        if budget is not None:  # at most half of what comes before the last full training
            self.initial = min(self.initial, max(1, (budget - max_steps) // (2 * self.stops[0])))
        self._outlook = Outlook(len(self.stops))
        self._turned = len(self.stops) + 1  # the place of arms whose curves have turned; that of the others is their rung
        self._rankings = [Ranking() for _ in range(self._turned + 1)]  # by place, so that a correction moves them all at once
        self._paused, self._whole = range(1, len(self.stops)), range(len(self.stops), self._turned + 1)  # places
        encodes = hasattr(self.ledger.space, "encode") and hasattr(self.ledger.space, "dimension")
        self._nursery = Nursery(self.ledger.space) if checks.flag("surrogate", surrogate) and encodes else None
        self._averages = Column(float)  # by arm: the running average of its rewards
        self._means = Column(float)  # by arm: their plain mean
        self._rewards = Column(float)  # by arm: the last
        self._bests = Column(float)  # by arm: the best
        self._falls = Column(np.int64)  # by arm: how many of its last rewards were well below its best one
        self._rungs = Column(np.int64)  # by arm: slices told
        self._chosen: list[int] = []  # by arm: trainings and mutations, those in flight included
        self._pulls = 0  # asked for
        self._trainings = 0  # of them, those that train an arm on
        self._told = 0
        self._measured = 0  # pulls told when the scores were last measured
        self._median, self._spread = 0.0, 0.0  # of the scores then
        self._straight: set[int] = set()  # arms that are trained to the end, whatever they show on the way
        self._unfinished: list[int] = []  # of them, those that wait for their next slice
        self._finals = [-math.inf, -math.inf]  # the best last reward: of the other arms, and of these

    def ask(self) -> Pull | None:
        ledger = self.ledger
        if ledger.left < self.max_steps:
            return self._finish()
        if self._pulls < self.initial:
            return self._train(self._drawn(None))
        self._measure()
        while self._unfinished:
            arm = self._unfinished.pop()
            if ledger.can_train(arm):
                return self._train(ledger.arms[arm])
        if self._goes_straight():
            newcomer = self._newcomer(None, straight=True)
            self._straight.add(newcomer.id)
            return self._train(newcomer)
        paused, whole = self._leader(self._paused), self._leader(self._whole)
        fresh = ledger.rng.random() < fresh_probability(self._pulls, self._nursery is not None)
        if fresh or (paused is None and whole is None):
            return self._train(self._newcomer(None))
        due = self._trainings < _TRAINED * (self._pulls - self.initial)
        if whole is None or (paused is not None and (due or paused[0] >= whole[0])):
            return self._train(ledger.arms[paused[1]])  # type: ignore[index]  # not both are None
        arm = whole[1]
        self._chosen[arm] += 1
        self._rank(arm)
        return self._train(self._newcomer(arm))

    def tell(self, pull: Pull, reward: float | None) -> None:
        reward = self.ledger.settle(pull, reward)
        if reward is None:
            return
        arm = pull.arm.id
        rung = self._rungs[arm] + 1
        floor = self._floor() - self._outlook.to_best[rung]
        diverged, reward = reward < floor, max(reward, floor)
        average, mean = self._averages[arm], self._means[arm]
        if rung > 1 and not diverged:  # what ruins one arm says nothing about what the others should become
            self._outlook.learn(rung - 1, reward, self._rewards[arm], mean)
        self._averages[arm] = average + gain(rung) * (reward - average)
        self._means[arm] = mean + (reward - mean) / rung
        self._rewards[arm] = reward
        self._bests[arm] = best = reward if rung == 1 else max(self._bests[arm], reward)
        self._falls[arm] = self._falls[arm] + 1 if self._spread and reward < best - _FALL * self._spread else 0
        self._rungs[arm] = rung
        self._told += 1
        self._rank(arm)
        straight = arm in self._straight
        if self._place(arm) in self._whole:
            self._finals[straight] = max(self._finals[straight], best)
        elif straight:
            self._unfinished.append(arm)

    def _place(self, arm: int) -> int:
        """The arm's rung, or that of the arms whose curves have turned."""
        return self._turned if self._falls[arm] >= _FALLS and self._stops() else int(self._rungs[arm])

    def _stops(self) -> bool:
        """Whether arms whose curves have turned are trained no further."""
        return self._stop_turned and not self._outlook.level

    def _places(self, arms: Array) -> Array:
        """The place of each of the arms."""
        turned = (self._falls.all[arms] >= _FALLS) & self._stops()
        return np.where(turned, self._turned, self._rungs.all[arms])

    def _goes_straight(self) -> bool:
        """Whether the next newcomer is to be trained to the end, whatever it shows on the way: the first steps may mislead.

        Few are, as long as they find nothing better than the others do; then most.
        """
        if len(self.stops) == 1 or self._outlook.level or self._finals[0] == -math.inf:
            return False
        share = _STRAIGHT[self._finals[1] > self._finals[0]]
        spent = self.ledger.spent - self.initial * self.stops[0]
        return (len(self._straight) + 1) * self.max_steps <= share * spent

    def best(self) -> Arm:
        """The arm with the best reward; where rewards are draws about one value, the best mean of those trained to the end."""
        arms = self._trained(failed_too=True)
        if not len(arms):
            raise NoResult("no pull has succeeded yet")
        sound = self._trained()
        arms = sound if len(sound) else arms
        whole = arms[self._rungs.all[arms] == len(self.stops)]
        if self._outlook.level and len(whole):
            best = whole[self._means.all[whole].argmax()]
        elif self._outlook.level:
            best = arms[self._scores(arms).argmax()]
        else:
            best = arms[np.lexsort((-arms, self._rungs.all[arms], self._bests.all[arms]))[-1]]
        return self.ledger.arms[int(best)]

    def uses_mean(self, arm: int) -> bool:
        """Whether rewards turned out to be draws about one value."""
        return self._outlook.level

    def _trained(self, failed_too: bool = False) -> Array:
        """The arms with a reward, by number."""
        has_reward = self._rungs.all > 0
        if self.ledger.failed and not failed_too:
            has_reward[list(self.ledger.failed)] = False
        return np.flatnonzero(has_reward)

    def _scores(self, arms: Array) -> Array:
        """What the arms should become."""
        places = self._places(arms)
        levels = np.where(places == self._turned, self._bests.all[arms], self._levels().all[arms])
        return np.asarray(levels + np.array(self._corrections())[places])

    def _corrections(self) -> list[float]:
        """By place: what to add to the level of an arm there."""
        return [*self._outlook.corrections, 0.0]

    def _levels(self) -> Column:
        """The averages that scores are made of."""
        return self._means if self._outlook.level else self._averages

    def _measure(self) -> None:
        """See how far the scores spread, now and then: the bonus follows them."""
        if self._told < self._measured * 1.1 + 1:
            return
        self._measured = self._told
        arms = self._trained()
        if len(arms) < 2:
            return
        changed = self._outlook.decide()
        scores = self._scores(arms)
        self._median = float(np.median(scores))
        before, self._spread = self._spread, float(scores.max() - self._median)
        self._lift()
        if changed or not before / _STALE <= self._spread <= before * _STALE:
            ranked = [arm for ranking in self._rankings for arm in ranking.arms()]
            for ranking in self._rankings:
                ranking.clear()
            for arm in ranked:
                self._rank(arm)

    def _floor(self) -> float:
        """The least score there is."""
        return self._median - _FLOOR * self._spread if self._spread else -math.inf

    def _lift(self) -> None:
        """Bring what was told before the floor was known up to it: one diverged run must not set the scale of what follows."""
        rungs, floor = self._rungs.all, self._floor()
        rewards = floor - np.array(self._outlook.to_best)[rungs]
        for column in (self._means, self._rewards, self._bests):
            np.maximum(column.all, rewards, out=column.all)
        np.maximum(self._averages.all, floor - np.array(self._outlook.rising)[rungs], out=self._averages.all)

    def _leader(self, places: range) -> tuple[float, int] | None:
        """The largest index of the arms at these places, and its arm: the largest of the places' largest."""
        best, corrections = None, self._corrections()
        for place in places:
            if (leader := self._rankings[place].leader()) is not None:
                index = leader[0] + corrections[place]
                if best is None or index > best[0]:  # at a tie the first place, whatever the arms
                    best = index, leader[1]
        return best

    def _rank(self, arm: int) -> None:
        bonus = self.exploration * self._spread / math.sqrt(self._chosen[arm])
        place = self._place(arm)
        level = self._bests[arm] if place == self._turned else self._levels()[arm]
        self._rankings[place].put(arm, level + bonus, self.ledger.rng.random())

    def _train(self, arm: Arm) -> Pull:
        """The arm's next slice. Until its reward comes it is asleep: in no ranking."""
        rung = self._rungs[arm.id]
        self._rankings[self._place(arm.id)].drop(arm.id)
        self._chosen[arm.id] += 1
        self._pulls += 1
        self._trainings += rung > 0
        return self.ledger.open(arm, self.stops[rung] - self.ledger.steps[arm.id])

    def _new(self, arm: Arm) -> Arm:
        """Begin to count for an arm, unless it is one that is counted already."""
        if arm.id == len(self._chosen):
            self._averages.append(0.0)
            self._means.append(0.0)
            self._rewards.append(-math.inf)
            self._bests.append(-math.inf)
            self._falls.append(0)
            self._rungs.append(0)
            self._chosen.append(0)
            if self._nursery is not None:
                self._nursery.add(arm.config)
        return arm

    def _newcomer(self, parent: int | None, straight: bool = False) -> Arm:
        """A mutant of the parent, or a fresh arm: where the space encodes, the most promising of many."""
        chosen = self._nursery is not None and (parent is None or self.ledger.rng.random() >= _PLAIN)
        if self._nursery is None or not chosen or not len(arms := self._trained()):
            return self._drawn(parent)
        median, spread = self._median, self._spread
        if straight:
            arms = arms[self._places(arms) >= len(self.stops)]
            if not len(arms):
                return self._drawn(parent)
            median = float(np.median(self._bests.all[arms]))
            spread = float(self._bests.all[arms].max()) - median
        scores = self._bests.all[arms] if straight else self._scores(arms)
        parent = int(arms[scores.argmax()]) if (fresh := parent is None) else parent
        known = self._with_failed(arms, scores)
        trainings = np.maximum(self._rungs.all[known[0]], 1)
        candidates = self._nursery.candidates(self.ledger, parent, fresh, arms, scores)
        heights = self._nursery.forecast.outlook(candidates.points, *known, trainings, median, spread)
        if self.ledger.failed:
            heights[self._nursery.doomed(candidates.points, self.ledger.failed)] -= _DOOMED
        order = np.argsort(-heights.round(_DIGITS), kind="stable")
        return self._unseen(map(candidates.option, order.tolist()))

    def _with_failed(self, arms: Array, scores: Array) -> tuple[Array, Array]:
        """The arms and scores, those that failed among them: as bad as can be, lest their places look merely unknown."""
        if not self.ledger.failed:
            return arms, scores
        failed = np.array(list(self.ledger.failed), dtype=np.int64)
        arms = np.concatenate([arms, failed])
        scores = np.concatenate([scores, np.full(len(failed), max(self._floor(), scores.min()))])
        order = arms.argsort()  # by age
        return arms[order], scores[order]

    def _drawn(self, parent: int | None) -> Arm:
        """The first new arm of a few draws."""
        ledger = self.ledger
        if parent is None:
            return self._unseen((ledger.draw(), ()) for _ in range(_DRAWS))
        config = ledger.arms[parent].config
        return self._unseen((ledger.space.mutate(config, ledger.rng), (parent,)) for _ in range(_DRAWS))

    def _unseen(self, options: Iterable[Option]) -> Arm:
        """The first config that is new; where none is, the space may be used up, and the best paused arm is trained on."""
        arm = self.ledger.unseen(options)
        if arm is None and (paused := self._leader(self._paused)) is not None:
            return self.ledger.arms[paused[1]]
        return self._new(arm if arm is not None else self.ledger.sample())

    def _finish(self) -> Pull | None:
        """With less than a full training left nothing new is begun: the best arm that can be trained to the end is."""
        arms = [arm for place in self._paused for arm in self._rankings[place].arms()]
        able = [arm for arm in arms if self.max_steps - self.ledger.steps[arm] <= self.ledger.left]
        if not able:
            return None
        numbers = np.array(able)
        arm = int(numbers[self._scores(numbers).argmax()])
        return self._train(self.ledger.arms[arm])

    def priority(self, arm: int) -> float:
        """The score: trained or mutated, the arm that is chosen next needs its checkpoint."""
        if arm in self.ledger.failed or not self._rungs[arm]:
            return -math.inf
        return float(self._scores(np.array([arm]))[0])

    def plan(self) -> list[Phase]:
        budget, first = self.ledger.budget, self.initial * self.stops[0]
        last = None if budget is None else self.max_steps - 1
        middle = None if budget is None else max(0, budget - first - (last or 0))
        return [
            Phase("initial arms, a slice each", self.initial, first if budget is None else min(first, budget)),
            Phase("trainings, mutants and fresh arms, a slice each", middle and middle // self.stops[0], middle),
            Phase("the most promising arms, trained to the end", 0, last),
        ]

    def warning(self) -> str | None:
        return None

    def state(self) -> State:
        return {
            "ledger": self.ledger.state(),
            "outlook": self._outlook.state(),
            "rankings": [ranking.state() for ranking in self._rankings],
            "averages": self._averages.all.copy(),
            "means": self._means.all.copy(),
            "rewards": self._rewards.all.copy(),
            "bests": self._bests.all.copy(),
            "falls": self._falls.all.copy(),
            "rungs": self._rungs.all.copy(),
            "chosen": np.array(self._chosen, dtype=np.int64),
            "counts": [self._pulls, self._trainings, self._told, self._measured],
            "spread": [self._median, self._spread],
            "straight": sorted(self._straight),
            "unfinished": list(self._unfinished),
            "finals": [None if final == -math.inf else final for final in self._finals],
            "forecast": None if self._nursery is None else self._nursery.forecast.state(),
        }

    def load(self, state: State) -> None:
        self.ledger.load(state["ledger"])
        self._outlook.load(state["outlook"])
        for ranking, part in zip(self._rankings, state["rankings"], strict=True):
            ranking.load(part)
        names = ("averages", "means", "rewards", "bests", "falls", "rungs")
        self._averages, self._means, self._rewards, self._bests, self._falls, self._rungs = (
            Column.of(state[name]) for name in names
        )
        self._chosen = state["chosen"].tolist()
        self._pulls, self._trainings, self._told, self._measured = state["counts"]
        self._median, self._spread = state["spread"]
        self._straight, self._unfinished = set(state["straight"]), list(state["unfinished"])
        self._finals = [-math.inf if final is None else final for final in state["finals"]]
        if self._nursery is not None:
            self._nursery = Nursery(self.ledger.space)
            for arm in self.ledger.arms:
                self._nursery.add(arm.config)
            self._nursery.forecast.load(state["forecast"])

    __repr__ = strategy_repr
