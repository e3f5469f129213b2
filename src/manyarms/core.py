"""The records every layer shares: an arm, a pull of it, and what came of the pull."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Arm:
    """One candidate model: a point of the space, and the ids of the arms it was mutated or crossed from."""

    id: int
    config: Any
    parents: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Pull:
    """Train one arm from `start` to `stop` steps."""

    arm: Arm
    start: int
    stop: int

    @property
    def config(self) -> Any:
        """The arm's config."""
        return self.arm.config

    @property
    def steps(self) -> int:
        """How many steps of training this pull is."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a pull. `reward` is as the user's function returned it; None means the pull failed, and `reason` says why.

    Args:
        pull: the pull that ended.
        reward: the reward in the user's own direction and scale.
        reason: why it failed, in one line.
        details: the traceback of a failure, if there was one.
        seconds: time the training took, retraining of a lost checkpoint included.
        cost: what the function said it cost, if it did.
        metrics: the other numbers the function returned.
        curve: the rewards it reported on the way.
        checkpoint: the name of the checkpoint it saved.
        size: the bytes of that checkpoint, or of the one that found no room.
        damaged: the checkpoint that could not be loaded; the pull must be run again without it.
        unsaved: why there is no checkpoint although the function saved one.
        inherited: it used the saved state of the arm it was mutated from.
        attempts: how often the pull was started.
        retrained: steps trained again because a checkpoint was lost.
        attributes: What the function returned besides numbers, such as text and lists, as JSON. No decision uses it.
        left_out: The attributes that could not be kept, and why.
        stopped_early: A time limit ended the pull at one of its reports, before it had trained all its steps.
    """

    pull: Pull
    reward: float | None = None
    reason: str | None = None
    details: str | None = None
    seconds: float = 0.0
    cost: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    curve: tuple[float, ...] = ()
    checkpoint: str | None = None
    size: int = 0
    damaged: str | None = None
    unsaved: str | None = None
    inherited: bool = False
    attempts: int = 1
    retrained: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)
    left_out: str | None = None
    stopped_early: bool = False


def sign_of(direction: str) -> float:
    """1 if rewards are maximized, -1 if they are minimized: times this, larger is better."""
    return 1.0 if direction == "maximize" else -1.0


def new_study_id() -> str:
    """An id that no other study has: it tells studies of the same name apart."""
    return secrets.token_hex(8)
