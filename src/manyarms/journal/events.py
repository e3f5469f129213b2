"""Makes the events of a journal from pulls and outcomes."""

from __future__ import annotations

from typing import Any

from ..core import Outcome, Pull
from .protocol import Event

_COPIED = (
    "reason",
    "details",
    "cost",
    "checkpoint",
    "unsaved",
    "inherited",
    "retrained",
    "left_out",
    "stopped_early",
    "worker",
)
"""Fields of an outcome that are written unchanged, unless they are empty."""


def asked_event(pull: Pull, config: Any, is_new: bool) -> Event:
    """The event of a pull that was asked for. Only the first pull of an arm stores the config, as JSON."""
    data: dict[str, Any] = {"config": config} if is_new else {}
    if is_new and pull.arm.parents:
        data["parents"] = list(pull.arm.parents)
    return Event("asked", pull.arm.id, pull.start, pull.stop, data=data)


def ended_event(outcome: Outcome) -> Event:
    """The event of a pull that ended."""
    data: dict[str, Any] = {}
    for name in _COPIED:
        if value := getattr(outcome, name):
            data[name] = value
    if outcome.attempts > 1:
        data["attempts"] = outcome.attempts
    if outcome.checkpoint and outcome.size:
        data["checkpoint_bytes"] = outcome.size
    if outcome.metrics:
        data["metrics"] = dict(outcome.metrics)
    if outcome.attributes:
        data["attributes"] = dict(outcome.attributes)
    if outcome.curve:
        data["curve"] = list(outcome.curve)
    data["ended"] = round(outcome.ended, 3)
    kind = "failed" if outcome.reward is None else "told"
    pull = outcome.pull
    return Event(kind, pull.arm.id, pull.start, pull.stop, outcome.reward, outcome.seconds, data)  # type: ignore[arg-type]
