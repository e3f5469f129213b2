"""Helpers for the strategy contract: states, recommendations and pulls as values that can be compared."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import Arm, Pull
from ..errors import NoResult
from ..spaces import to_json
from ..strategies import Strategy, extended
from ..study.replay import StudyState


def state(strategy: Strategy) -> str | None:
    """The state of a strategy as the text of a snapshot; None if it has no state."""
    return None if extended(strategy) is None else StudyState(strategy, "maximize", None).state()


def load(strategy: Strategy, text: str) -> None:
    """Restore a state that `state` returned."""
    StudyState(strategy, "maximize", None).load(text)


def best(strategy: Strategy) -> int | None:
    """The arm that a strategy recommends; None if it raises `NoResult`."""
    try:
        return strategy.best().id
    except NoResult:
        return None


def space(strategy: Strategy) -> Any:
    """The space of a strategy; None if it has no ledger."""
    own = extended(strategy)
    return None if own is None else own.ledger.space


def is_endless(strategy: Strategy) -> bool:
    """Whether a strategy has no budget, so that it never ends."""
    own = extended(strategy)
    return own is not None and own.ledger.budget is None


def arm_text(arm: Arm, space: Any) -> str:
    """An arm as text, to compare arms whose configs do not define equality."""
    return json.dumps([arm.id, to_json(space, arm.config), arm.parents], sort_keys=True, default=repr)


def pull_text(pull: Pull | None, space: Any) -> str:
    """A pull as text."""
    return "nothing" if pull is None else f"{pull.start} to {pull.stop} of {arm_text(pull.arm, space)}"


def noise(pull: Pull) -> float:
    """A meaningless reward from 0 to 1 that depends on the arm and the step."""
    return zlib.crc32(f"{pull.arm.id} {pull.stop}".encode()) / 2**32


def loss(pull: Pull) -> float:
    """The same on a different scale. Every fifth arm diverges, starting with the first."""
    return -100.0 * noise(pull) - (1e9 if pull.arm.id % 5 == 0 else 0.0)


def landscape(space: Any) -> Callable[[Any], float]:
    """How close a config is to a random target, from 0 to 1; an arbitrary fixed value if the space does not encode."""
    if not hasattr(space, "encode"):
        return lambda config: zlib.crc32(json.dumps(to_json(space, config)).encode()) / 2**32
    target = np.asarray(space.encode(space.sample(np.random.default_rng(12345))), dtype=float)
    return lambda config: 1.0 - float(np.abs(np.asarray(space.encode(config)) - target).mean())
