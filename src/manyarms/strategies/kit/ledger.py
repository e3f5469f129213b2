"""The ledger of a strategy: its arms, the pulls in flight and the steps spent."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import checks
from ...core import Arm, Pull
from ...spaces import as_space, from_json, to_json

State = dict[str, Any]
"""The state of a strategy or of a part of it: JSON values and NumPy arrays by name."""

MAX_DRAWS = 10
"""Number of draws to find a config that no arm has yet. If all of them exist already, the space counts as exhausted."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What `Ledger.settle` found: the pull has a new reward, it failed, or its result is a repetition.

    Attributes:
        reward: The reward, if it is new; otherwise None.
        repeated: Whether this pull already had a result, so that this one must not be counted.
    """

    reward: float | None
    repeated: bool = False

    @property
    def failed(self) -> bool:
        """Whether the pull failed, and this was not known before."""
        return self.reward is None and not self.repeated


_REPEATED = Settled(None, repeated=True)


class Ledger:
    """Keeps the counts of a strategy: what it asked for and what it was told. The strategy itself makes the decisions.

    Args:
        space: Search space. A dict is converted to a `Space`; see `manyarms.spaces.as_space`.
        budget: Maximum total number of steps; None means no limit.
        max_steps: Maximum number of steps per arm; None means no limit.
        seed: Random seed for all decisions. None chooses one at random.

    Attributes:
        space: The space, made from a dict if one was given.
        rng: The random generator. Use no other source of randomness.
        arms: All arms, by number.
        steps: How many steps each arm was trained, by number. Pulls in flight are not included.
        failed: Numbers of the arms with a failed pull. They are never pulled again.
        in_flight: The pull in flight of each arm that has one.
        spent: Steps asked for, including those in flight.
    """

    def __init__(self, space: Any, budget: int | None, max_steps: int | None, seed: int | None) -> None:
        self.space = as_space(space)
        self._to_json = getattr(self.space, "to_json", None)
        self._firsts = getattr(self.space, "firsts", ())
        self.budget = None if budget is None else checks.whole("budget", budget, 1)
        self.max_steps = None if max_steps is None else checks.whole("max_steps", max_steps, 1)
        self.seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else checks.whole("seed", seed, 0)
        self.rng = np.random.default_rng(self.seed)
        self.arms: list[Arm] = []
        self.steps: list[int] = []
        self.failed: set[int] = set()
        self.in_flight: dict[int, Pull] = {}
        self.spent = 0
        self._known: dict[Hashable, int] = {}  # the newest arm with each config

    @property
    def left(self) -> float:
        """Steps that may still be asked for."""
        return math.inf if self.budget is None else self.budget - self.spent

    def can_train(self, arm: int) -> bool:
        """Whether the arm can be pulled: it is not in flight, has not failed and is not fully trained."""
        capped = self.max_steps is not None and self.steps[arm] >= self.max_steps
        return not capped and arm not in self.in_flight and arm not in self.failed

    def draw(self) -> Any:
        """A random config. If the space has configs to try first, these are used up first."""
        number = len(self.arms)
        return copy.deepcopy(self._firsts[number]) if number < len(self._firsts) else self.space.sample(self.rng)

    def sample(self) -> Arm:
        """A new random arm. If an arm with the same config exists and can be trained, that arm is returned instead."""
        return self._arm(self.draw, ())

    def new_sample(self) -> Arm:
        """A new random arm, never an existing one. For strategies that need a given number of arms to start together."""
        return self._arm(self.draw, (), revisit=False)

    def mutant(self, parent: int) -> Arm:
        """A mutant of an arm, or the arm that already has this config, as in `sample`."""
        config = self.arms[parent].config
        return self._arm(lambda: self.space.mutate(config, self.rng), (parent,))

    def crossed(self, a: int, b: int) -> Arm:
        """A crossing of two arms, then mutated, or the arm that already has this config, as in `sample`."""
        one, two = self.arms[a].config, self.arms[b].config
        return self._arm(lambda: self.space.mutate(self.space.crossover(one, two, self.rng), self.rng), (a, b))

    def unseen(self, options: Iterable[tuple[Any, tuple[int, ...]]]) -> Arm | None:
        """A new arm with the first of these configs (and parents) that no arm has yet; None if all of them exist already."""
        for config, parents in options:
            key = self._key(config)
            if key is None or key not in self._known:
                return self._add(config, parents, key)
        return None

    def knows(self, config: Any) -> bool:
        """Whether some arm has this config."""
        key = self._key(config)
        return key is not None and key in self._known

    def add(self, config: Any, parents: tuple[int, ...] = ()) -> Arm:
        """A new arm with this config, whether or not another has it."""
        return self._add(config, parents, self._key(config))

    def _arm(self, make: Callable[[], Any], parents: tuple[int, ...], revisit: bool = True) -> Arm:
        """A new arm or, with `revisit`, an existing arm with the same config that can be trained."""
        for _ in range(MAX_DRAWS):
            config = make()
            key = self._key(config)
            known = self._known.get(key) if key is not None else None
            if known is None:
                break
            if revisit and self.can_train(known):
                return self.arms[known]
        return self._add(config, parents, key)

    def _add(self, config: Any, parents: tuple[int, ...], key: Hashable) -> Arm:
        arm = Arm(len(self.arms), config, parents)
        self.arms.append(arm)
        self.steps.append(0)
        if key is not None:
            self._known[key] = arm.id
        return arm

    def _key(self, config: Any) -> Hashable:
        """A key that is equal for equal configs; None if the config cannot be compared."""
        try:
            key: Hashable = _frozen(self._to_json(config) if self._to_json is not None else config)
            hash(key)
        except TypeError:
            return None
        return key

    def open(self, arm: Arm, steps: int) -> Pull:
        """Start a pull of the arm that continues its training by this many steps."""
        start = self.steps[arm.id]
        pull = Pull(arm, start, start + steps)
        self.in_flight[arm.id] = pull
        self.spent += steps
        return pull

    def settle(self, pull: Pull, reward: float | None) -> Settled:
        """Record the result of a pull; None means that it failed. A repeated result changes nothing."""
        settled = Settled(None if reward is None else _finite(reward))
        arm = pull.arm.id
        asked = self.in_flight.get(arm)
        if asked is None or (asked.start, asked.stop) != (pull.start, pull.stop):
            if self._was_told(pull):
                return _REPEATED
            raise ValueError(f"pull must be one that ask returned, got arm {arm} from {pull.start} to {pull.stop}")
        del self.in_flight[arm]
        if settled.failed:
            self.failed.add(arm)
        else:
            self.steps[arm] = pull.stop
        return settled

    def _was_told(self, pull: Pull) -> bool:
        arm = pull.arm.id
        if not 0 <= arm < len(self.arms):
            return False
        return pull.stop <= self.steps[arm] or (arm in self.failed and pull.start == self.steps[arm])

    def state(self) -> State:
        """The ledger as JSON and arrays."""
        return {
            "budget": self.budget,
            "spent": self.spent,
            "configs": [to_json(self.space, arm.config) for arm in self.arms],
            "parents": [list(arm.parents) for arm in self.arms],
            "steps": np.array(self.steps, dtype=np.int64),
            "failed": sorted(self.failed),
            "in_flight": [[pull.arm.id, pull.start, pull.stop] for pull in self.in_flight.values()],
            "known": np.array(list(self._known.values()), dtype=np.int64),
            "generator": self.rng.bit_generator.state,
        }

    def load(self, state: State) -> None:
        """Restore a state that `state` returned."""
        self.budget, self.spent = state["budget"], state["spent"]
        rows = zip(state["configs"], state["parents"], strict=True)
        self.arms = [Arm(i, from_json(self.space, config), tuple(parents)) for i, (config, parents) in enumerate(rows)]
        self.steps = state["steps"].tolist()
        self.failed = set(state["failed"])
        self.in_flight = {arm: Pull(self.arms[arm], start, stop) for arm, start, stop in state["in_flight"]}
        self._known = {self._key(self.arms[arm].config): arm for arm in state["known"].tolist()}
        self.rng.bit_generator.state = state["generator"]


def check_one_training(budget: int | None, max_steps: int) -> None:
    """Reject a budget that does not cover one full training."""
    if budget is not None and budget < max_steps:
        raise ValueError(f"budget must be at least {max_steps}, one full training of max_steps, got {budget}")


def _finite(reward: Any) -> float:
    """The reward as a float. Any type of number is accepted, such as those of NumPy and PyTorch, but not NaN or infinity."""
    rule = f"reward must be a finite number, or None if the pull failed, got {reward!r}"
    if isinstance(reward, (str, bytes, np.complexfloating)) or not hasattr(reward, "__float__"):
        raise TypeError(rule)
    try:
        number = float(reward)
    except OverflowError:  # an integer above the largest float
        raise ValueError(rule) from None
    except TypeError:  # an array of many numbers, for example
        raise TypeError(rule) from None
    if not math.isfinite(number):
        raise ValueError(rule)
    return number


def _frozen(value: Any) -> Any:
    """A hashable equivalent that includes types, because True, 1 and 1.0 are equal in Python."""
    if isinstance(value, dict):
        names = sorted(value)
        parts = [_frozen(part) if isinstance(part, (dict, list)) else part for part in map(value.__getitem__, names)]
        return (*names, *map(type, parts), *parts)
    if isinstance(value, list):
        parts = [_frozen(part) if isinstance(part, (dict, list)) else part for part in value]
        return (list, *map(type, parts), *parts)
    return (type(value), value)
