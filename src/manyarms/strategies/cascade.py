"""A strategy made of other strategies: a picker decides which of them makes the next pull."""

from __future__ import annotations

import copy
import math
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import checks
from ..core import Arm, Pull
from ..errors import NoResult
from ..spaces import Joint
from .kit.ledger import Ledger, State
from .kit.phase import Phase
from .kit.representation import one_line
from .kit.scores import Scores
from .pickers import ExtremeUCB, Picker
from .protocol import ExtendedStrategy, extended, fresh_copy, kind_of, uses_mean

_MIN_FAILURES = 5  # a child with fewer failures is always kept


def hopeless(failed: int, rewarded: int) -> bool:
    """Whether a child fails so often that it should no longer be picked."""
    return failed >= _MIN_FAILURES and failed >= 9 * rewarded


def child_seed(seed: int, name: str) -> int:
    """The seed for a child without one. It does not depend on the other children."""
    return int(np.random.SeedSequence([seed, zlib.crc32(name.encode())]).generate_state(1)[0])


class Cascade:
    """Lets a picker choose a child strategy for each pull, and tells both of them the reward.

    Configs are `{"algorithm": name of the child, "config": config of the child}`, as in a `Joint` space of the children's
    spaces. A child that must wait for a reward, or is done, is skipped. A child that nearly always fails is no longer picked,
    unless all children do. It recommends the best of the arms that its children recommend.

    Args:
        children: New strategies of any kind, by name. The cascade uses copies of them. A child with a budget stops when it is
            spent; a child without one continues as long as the cascade. A child without a seed gets one derived from the
            cascade's.
        picker: Chooses among the children; `ExtremeUCB()` by default. The cascade uses a copy of it.
        budget: Total number of steps; None runs until the study stops it. Each child may spend what is left of it.
        seed: Random seed for the picker, and for children without a seed.

    >>> from manyarms import Cascade, ERUCB, Float, MutantUCB, RandomSearch, Space
    >>> near, far = Space(x=Float(0, 0.5)), Space(x=Float(0.5, 1))
    >>> search = Cascade({"near": MutantUCB(near, max_steps=1), "far": RandomSearch(far)}, ERUCB(), budget=300, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, 1 - abs(pull.config["config"]["x"] - 0.3))
    >>> search.best().config["algorithm"], round(search.best().config["config"]["x"], 1)
    ('near', 0.3)
    """

    def __init__(
        self,
        children: Mapping[str, ExtendedStrategy],
        picker: Picker | None = None,
        *,
        budget: int | None = None,
        seed: int | None = None,
    ) -> None:
        given = _checked(children)
        self._child_seeds = {name: child.settings.get("seed") for name, child in given.items()}
        picker = ExtremeUCB() if picker is None else _checked_picker(picker)
        self.settings = {
            "children": {name: {"strategy": kind_of(child), **child.settings} for name, child in given.items()},
            "picker": {"picker": kind_of(picker), **picker.settings},
            "budget": budget,
            "seed": seed,
        }
        self.ledger = Ledger(_joint(given), budget, _most_steps(given, budget), seed)
        self.children = {name: self._own_copy(name, child) for name, child in given.items()}
        self._names = list(self.children)
        self.picker = copy.copy(picker)
        self.picker.start(len(self._names))
        self._owners: list[tuple[int, int]] = []  # for each arm: the number of its child, and its own number in that child
        self._arms: list[dict[int, int]] = [{} for _ in self._names]  # for each child: its arm numbers, mapped to ours
        self._bests: list[float] = []  # the best reward of each arm
        self._totals: list[float] = []  # the sum of the rewards of each arm
        self._counts: list[int] = []  # the number of rewards of each arm
        self._rewarded = [0] * len(self._names)  # the number of rewards of each child
        self._failed = [0] * len(self._names)  # the number of failed pulls of each child

    def _own_copy(self, name: str, child: ExtendedStrategy) -> ExtendedStrategy:
        """A copy of a child. If it has no seed, it gets one derived from the cascade's seed."""
        seed = self._child_seeds[name]
        return fresh_copy(child, seed=child_seed(self.ledger.seed, name) if seed is None else seed)

    def fresh_copy(self, **changes: Any) -> Cascade:
        """A new cascade with the same children and picker, and optionally a different budget or seed."""
        children = {name: fresh_copy(child, seed=self._child_seeds[name]) for name, child in self.children.items()}
        given = {"budget": self.settings["budget"], "seed": self.settings["seed"], **changes}
        return Cascade(children, self.picker, **given)

    def ask(self) -> Pull | None:
        ledger = self.ledger
        if ledger.left < 1:
            return None
        before = ledger.rng.bit_generator.state
        able = self._able()
        while able:
            place = self.picker.choose(ledger.rng, able)
            pull = self._step(place)
            if pull is not None:
                self.picker.open(place)
                return pull
            able.remove(place)
        ledger.rng.bit_generator.state = before  # an ask that returns None must change nothing
        return None

    def _able(self) -> list[int]:
        """The children that may be picked: those that are not hopeless, or all of them if all are hopeless."""
        places = range(len(self._names))
        return [i for i in places if not hopeless(self._failed[i], self._rewarded[i])] or list(places)

    def _step(self, place: int) -> Pull | None:
        """A pull of a child, with the cascade's number of the arm."""
        child, ledger, arms = self.children[self._names[place]], self.ledger, self._arms[place]
        with _within(child.ledger, ledger.left):
            pull = child.ask()
        if pull is None:
            return None
        own = pull.arm
        if own.id not in arms:
            config = {"algorithm": self._names[place], "config": own.config}
            arms[own.id] = ledger.add(config, tuple(arms[parent] for parent in own.parents if parent in arms)).id
            self._owners.append((place, own.id))
            self._bests.append(-math.inf)
            self._totals.append(0.0)
            self._counts.append(0)
        return ledger.open(ledger.arms[arms[own.id]], pull.steps)

    def tell(self, pull: Pull, reward: float | None) -> None:
        settled, arm = self.ledger.settle(pull, reward), pull.arm.id
        if settled.repeated:
            return
        reward = settled.reward
        place, own = self._owners[arm]
        child = self.children[self._names[place]]
        child.tell(Pull(child.ledger.arms[own], pull.start, pull.stop), reward)
        self.picker.update(place, reward)
        if reward is None:
            self._failed[place] += 1
        else:
            self._rewarded[place] += 1
            self._bests[arm] = max(self._bests[arm], reward)
            self._totals[arm] += reward
            self._counts[arm] += 1

    def learn_seconds(self, pull: Pull, seconds: float) -> None:
        """Tell the child how long a pull took, if it wants to know."""
        place, own = self._owners[pull.arm.id]
        child = self.children[self._names[place]]
        if hasattr(child, "learn_seconds"):
            child.learn_seconds(Pull(child.ledger.arms[own], pull.start, pull.stop), seconds)

    def best(self) -> Arm:
        """The best of the arms that the children recommend; a failed arm only if there are no others."""
        found = [arm for place in range(len(self._names)) if (arm := self._best_of(place)) is not None]
        if not found:
            raise NoResult("no pull has succeeded yet")
        return self.ledger.arms[max(found, key=lambda arm: (arm not in self.ledger.failed, self._worth(arm)))]

    def _worth(self, arm: int) -> float:
        return self._totals[arm] / self._counts[arm] if self.uses_mean(arm) else self._bests[arm]

    def uses_mean(self, arm: int) -> bool:
        """Whether the child of this arm compares its arms by mean rewards."""
        place, own = self._owners[arm]
        return uses_mean(self.children[self._names[place]], own)

    def _best_of(self, place: int) -> int | None:
        try:
            return self._arms[place][self.children[self._names[place]].best().id]
        except NoResult:
            return None

    def priority(self, arm: int) -> float:
        """The priority that the child gives the arm, mapped to [0, 1]. Between children it is only approximate."""
        place, own = self._owners[arm]
        priority = self.children[self._names[place]].priority(own)
        return 0.5 + 0.5 * priority / (1.0 + abs(priority)) if math.isfinite(priority) else priority

    def scores(self) -> Scores:
        """The share of the pulls of each child."""
        trials = self.picker.trials
        return Scores("child", tuple(self._names), "share of the pulls", trials / max(1.0, trials.sum()))

    def plan(self) -> list[Phase]:
        return [Phase(f"pulls of {', '.join(self._names)}, chosen by {self.picker}", None, self.ledger.budget)]

    def warning(self) -> str | None:
        """The warnings of the children, and which children were no longer picked."""
        warnings = [f"{name}: {warning}" for name, child in self.children.items() if (warning := child.warning()) is not None]
        for place, name in enumerate(self._names):
            failed, rewarded = self._failed[place], self._rewarded[place]
            if hopeless(failed, rewarded):
                warnings.append(f"{name}: {failed} of {failed + rewarded} pulls failed, so it was no longer picked.")
        return "\n".join(warnings) or None

    def state(self) -> State:
        return {
            "ledger": self.ledger.state(),
            "picker": self.picker.state(),
            "children": {name: child.state() for name, child in self.children.items()},
            "owners": np.array(self._owners, dtype=np.int64).reshape(-1),
            "bests": np.array(self._bests, dtype=float),
            "totals": np.array(self._totals, dtype=float),
            "rewards": np.array(self._counts, dtype=np.int64),
            "counts": [self._rewarded.copy(), self._failed.copy()],
        }

    def load(self, state: State) -> None:
        self.ledger.load(state["ledger"])
        self.picker.load(state["picker"])
        for name, child in self.children.items():
            child.load(state["children"][name])
        self._owners = [(place, own) for place, own in state["owners"].reshape(-1, 2).tolist()]
        self._arms = [{} for _ in self._names]
        for arm, (place, own) in enumerate(self._owners):
            self._arms[place][own] = arm
        self._bests, self._totals, self._counts = (state[name].tolist() for name in ("bests", "totals", "rewards"))
        self._rewarded, self._failed = map(list, state["counts"])

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name!r}: {type(child).__name__}" for name, child in self.children.items())
        settings = {"picker": self.picker, "budget": self.settings["budget"], "seed": self.settings["seed"]}
        return one_line(type(self).__name__, [f"{{{kinds}}}", f"{len(self.children)} children"], settings, self.ledger)


@contextmanager
def _within(ledger: Ledger, left: float) -> Iterator[None]:
    """Limit a child to the remaining steps, so that it ends as it would on its own, for example with a final training."""
    own = ledger.budget
    if math.isfinite(left):
        ledger.budget = int(min(ledger.left, left)) + ledger.spent
    try:
        yield
    finally:
        ledger.budget = own


def _checked(children: Any) -> dict[str, ExtendedStrategy]:
    if not isinstance(children, Mapping):
        raise TypeError(f"children must be a dict of names to strategies, got {children!r}")
    if not children:
        raise ValueError("children must name at least one strategy, got none")
    for name, child in children.items():
        if not isinstance(name, str):
            raise TypeError(f"the names of children must be strings, got {name!r}")
        if isinstance(child, type) or extended(child) is None:
            raise TypeError(f"child {name!r} must be a strategy with all the attributes of ExtendedStrategy, got {child!r}")
        if child.ledger.arms:
            raise ValueError(f"child {name!r} must be a new strategy, got one that is already in use")
    if len(set(map(id, children.values()))) < len(children):
        raise ValueError(
            f"each child must be a different strategy, got the same one twice among {', '.join(map(repr, children))}"
        )
    return dict(children)


def _checked_picker(picker: Any) -> Picker:
    if not isinstance(picker, Picker):
        raise TypeError(f"picker must be a picker such as ERUCB() or UCB1(), got {picker!r}")
    return picker


def _joint(children: Mapping[str, ExtendedStrategy]) -> Joint:
    return Joint({name: child.ledger.space for name, child in children.items()})


def _most_steps(children: Mapping[str, ExtendedStrategy], budget: int | None) -> int | None:
    """Maximum number of steps per arm, which the budget must cover; None if a child has no limit."""
    most = {name: child.ledger.max_steps for name, child in children.items()}
    if budget is not None:
        checks.whole("budget", budget, 1)
        for name, steps in most.items():
            if steps is not None and budget < steps:
                raise ValueError(f"budget must be at least {steps}, one full training of child {name!r}, got {budget}")
    limits = [steps for steps in most.values() if steps is not None]
    return max(limits) if len(limits) == len(most) else None
