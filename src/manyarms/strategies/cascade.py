"""A strategy made of others: a picker decides which of them makes the next pull."""

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
from .kit.representation import one_line
from .pickers.extreme_ucb import ExtremeUCB
from .pickers.picker import Picker
from .protocol import ExtendedStrategy, Phase, extended, fresh_copy, kind_of, restart, uses_mean

_FEW = 5  # failures that say nothing yet


def hopeless(failed: int, rewarded: int) -> bool:
    """Whether a child fails nearly always, and is better left alone."""
    return failed >= _FEW and failed >= 9 * rewarded


def child_seed(seed: int, name: str) -> int:
    """Of a child that was given none: another child more or less does not change it."""
    return int(np.random.SeedSequence([seed, zlib.crc32(name.encode())]).generate_state(1)[0])


class Cascade:
    """Let a picker choose a child strategy, let the child make a pull, and tell the reward to both.

    The arms' configs are `{"algorithm": name of the child, "config": the child's config}`, as those of a `Joint` space of the
    children's spaces. A child that has to wait for a reward, or is done, is passed over. One that fails nearly always is left
    alone, unless all do. Recommended is what one of the children recommends: the one that is worth most.

    Args:
        children: by name, fresh strategies of any kind. One with a budget ends at that; one without goes on as long as the
            cascade does. One without a seed gets one that derives from the cascade's. They are the cascade's from now on.
        picker: over the children; by default `ExtremeUCB()`. A copy of it is used.
        budget: steps in all; None goes on until the study stops it. What is left of it is what each child may spend.
        seed: of the picker's choices, and of the children's seeds.

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
        self.children = _checked(children)
        self._seeds = {name: child.settings.get("seed") for name, child in self.children.items()}
        picker = ExtremeUCB() if picker is None else _checked_picker(picker)
        self.settings = {
            "children": {name: {"strategy": kind_of(child), **child.settings} for name, child in self.children.items()},
            "picker": {"picker": kind_of(picker), **picker.settings},
            "budget": budget,
            "seed": seed,
        }
        self.ledger = Ledger(_joint(self.children), budget, _most_steps(self.children, budget), seed)
        for name, child in self.children.items():
            if self._seeds[name] is None:
                restart(child, seed=child_seed(self.ledger.seed, name))
        self._names = list(self.children)
        self.picker = copy.copy(picker)
        self.picker.start(len(self._names))
        self._owners: list[tuple[int, int]] = []  # by arm: the child's place, and its own number of the arm
        self._arms: list[dict[int, int]] = [{} for _ in self._names]  # by child, by its own number: the arm
        self._bests: list[float] = []  # by arm: its best reward
        self._totals: list[float] = []  # by arm: the sum of its rewards
        self._counts: list[int] = []  # by arm: how many there are
        self._rewarded = [0] * len(self._names)  # by child: pulls
        self._failed = [0] * len(self._names)

    def fresh_copy(self, **changes: Any) -> Cascade:
        """A new cascade with the same arguments, and another budget or seed, that has not been asked for anything yet."""
        children = {name: fresh_copy(child, seed=self._seeds[name]) for name, child in self.children.items()}
        given = {"budget": self.settings["budget"], "seed": self.settings["seed"], **changes}
        return type(self)(children, self.picker, **given)

    def restart(self, **changed: Any) -> None:
        """Be as at the beginning, with another budget or seed."""
        for name, child in self.children.items():
            restart(child, seed=self._seeds[name])
        given = {"budget": self.settings["budget"], "seed": self.settings["seed"], **changed}
        self.__init__(self.children, self.picker, **given)  # type: ignore[misc]

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
        ledger.rng.bit_generator.state = before  # nothing was asked, so nothing was drawn
        return None

    def _able(self) -> list[int]:
        """The children that may be picked: those with hope or, if there is none, all."""
        places = range(len(self._names))
        return [i for i in places if not hopeless(self._failed[i], self._rewarded[i])] or list(places)

    def _step(self, place: int) -> Pull | None:
        """A pull of a child, as one of the cascade's own."""
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
        arm, in_flight = pull.arm.id, len(self.ledger.in_flight)
        reward = self.ledger.settle(pull, reward)
        if len(self.ledger.in_flight) == in_flight:
            return  # told before
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

    def best(self) -> Arm:
        """Of the arms that the children recommend, the one that is worth most; a failed one only if all did."""
        found = [arm for place in range(len(self._names)) if (arm := self._best_of(place)) is not None]
        if not found:
            raise NoResult("no pull has succeeded yet")
        return self.ledger.arms[max(found, key=lambda arm: (arm not in self.ledger.failed, self._worth(arm)))]

    def _worth(self, arm: int) -> float:
        return self._totals[arm] / self._counts[arm] if self.uses_mean(arm) else self._bests[arm]

    def uses_mean(self, arm: int) -> bool:
        """As the child that made the arm says."""
        place, own = self._owners[arm]
        return uses_mean(self.children[self._names[place]], own)

    def _best_of(self, place: int) -> int | None:
        try:
            return self._arms[place][self.children[self._names[place]].best().id]
        except NoResult:
            return None

    def priority(self, arm: int) -> float:
        """The child's own, brought to 0 to 1: its order among the child's arms; between children only a rough one."""
        place, own = self._owners[arm]
        priority = self.children[self._names[place]].priority(own)
        return 0.5 + 0.5 * priority / (1.0 + abs(priority)) if math.isfinite(priority) else priority

    def plan(self) -> list[Phase]:
        return [Phase(f"pulls of {', '.join(self._names)}, as {self.picker} picks", None, self.ledger.budget)]

    def warning(self) -> str | None:
        """What the children say, and which of them were left alone."""
        said = [f"{name}: {warning}" for name, child in self.children.items() if (warning := child.warning()) is not None]
        for place, name in enumerate(self._names):
            failed, rewarded = self._failed[place], self._rewarded[place]
            if hopeless(failed, rewarded):
                said.append(
                    f"{name}: {failed} of {failed + rewarded} pulls failed, so it was left alone while others had hope."
                )
        return "\n".join(said) or None

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
    """While it is asked, a child knows what is left for it: so it ends as it would alone, with a last training say."""
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
            raise TypeError(f"the names of children must be text, got {name!r}")
        if isinstance(child, type) or extended(child) is None:
            raise TypeError(f"child {name!r} must be a strategy with all that the library's own have, got {child!r}")
        if child.ledger.arms:
            raise ValueError(f"child {name!r} must be fresh, got one that was asked already")
    if len(set(map(id, children.values()))) < len(children):
        raise ValueError(f"each child must be a strategy of its own, got one twice among {', '.join(map(repr, children))}")
    return dict(children)


def _checked_picker(picker: Any) -> Picker:
    if not isinstance(picker, Picker):
        raise TypeError(f"picker must be one such as ERUCB() or UCB1(), got {picker!r}")
    return picker


def _joint(children: Mapping[str, ExtendedStrategy]) -> Joint:
    return Joint({name: child.ledger.space for name, child in children.items()})


def _most_steps(children: Mapping[str, ExtendedStrategy], budget: int | None) -> int | None:
    """The most steps that an arm may get; the budget must hold as many."""
    most = {name: child.ledger.max_steps for name, child in children.items()}
    if budget is not None:
        checks.whole("budget", budget, 1)
        for name, steps in most.items():
            if steps is not None and budget < steps:
                raise ValueError(f"budget must be at least {steps}, one whole training of child {name!r}, got {budget}")
    limits = [steps for steps in most.values() if steps is not None]
    return max(limits) if len(limits) == len(most) else None
