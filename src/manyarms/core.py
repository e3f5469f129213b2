"""The records that every layer shares: an arm, a pull of it, and the outcome of the pull."""

from __future__ import annotations

import copy
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Arm:
    """One candidate model: a config of the space, and the ids of the arms it was mutated or crossed from."""

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
        """Number of steps to train: `stop - start`."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a pull. If it failed, `reward` is None and `reason` says why.

    Args:
        pull: The pull that ended.
        reward: The reward as the training function returned it, regardless of the direction of the study.
        reason: Why the pull failed, on one line.
        details: The traceback of a failure, if there was one.
        seconds: Time that the training took, including the time to retrain a lost checkpoint.
        cost: The cost that the function returned, if any.
        metrics: The other numbers that the function returned.
        curve: The rewards that the function reported during the pull.
        checkpoint: The name of the checkpoint that the pull saved.
        size: The size in bytes of that checkpoint, or of the one that did not fit.
        damaged: The checkpoint that could not be loaded. The pull must be run again without it.
        unsaved: Why there is no checkpoint although the function saved one.
        inherited: Whether the pull used the saved state of the arm that its arm was mutated from.
        attempts: How many times the pull was started.
        retrained: Steps trained again because a checkpoint was lost.
        attributes: Values other than numbers that the function returned, such as text and lists, as JSON. They do not affect
            any decision.
        left_out: The attributes that could not be stored, and why.
        stopped_early: Whether a time limit ended the pull at one of its reports, before it had trained all its steps.
        lost: Whether the pull must be run again because its worker left the cluster, which is not its own failure.
        ended: When the pull ended, in seconds since 1970.
        worker: The machine and process that ran the pull; None if it was the process of the study.
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
    lost: bool = False
    ended: float = field(default_factory=time.time, compare=False)
    worker: str | None = field(default=None, compare=False)


def with_own_config(arm: Arm) -> Arm:
    """The arm with a copy of its config, which the caller may change. A config that cannot be copied is shared."""
    with suppress(Exception):  # copying may be user code
        return replace(arm, config=copy.deepcopy(arm.config))
    return arm


def sign_of(direction: str) -> float:
    """1 if rewards are maximized, -1 if they are minimized. Multiplied by this, larger rewards are always better."""
    return 1.0 if direction == "maximize" else -1.0


def new_study_id() -> str:
    """A random id, which distinguishes studies with the same name."""
    return secrets.token_hex(8)
