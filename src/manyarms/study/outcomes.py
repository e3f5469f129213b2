"""Checks outcomes before they are written."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from itertools import pairwise
from numbers import Integral
from typing import Any

from .. import checks
from ..core import Arm, Outcome, Pull
from ..spaces import to_json
from .counts import ArmRecord


class Recorded(Enum):
    """The result of recording an outcome."""

    NEW = "new"
    """The pull was in flight and has a reward."""

    FAILED = "failed"
    """The pull was in flight and failed."""

    REPEATED = "repeated"
    """The pull had ended before, so that its outcome changed nothing."""


_TEXTS = ("reason", "details", "checkpoint", "damaged", "unsaved")


def checked_outcome(outcome: Outcome) -> Outcome:
    """The outcome with plain numbers. Raises an error that names the invalid field."""
    if not isinstance(outcome, Outcome):
        raise TypeError(f"outcomes must be of the class Outcome, got {outcome!r}")
    _check_pull(outcome.pull)
    return outcome if _is_plain(outcome) else _made_plain(outcome)


def _is_plain(outcome: Outcome) -> bool:
    """Whether all fields are plain and valid, as nearly always. Ten times faster than the full checks."""
    reward, seconds, cost = outcome.reward, outcome.seconds, outcome.cost
    return (
        type(outcome.metrics) is dict
        and (reward is None or _is_finite(reward))
        and (_is_finite(seconds) and seconds >= 0.0)
        and (cost is None or (_is_finite(cost) and cost >= 0.0))
        and all(map(_is_finite, (*outcome.metrics.values(), *outcome.curve)))
        and all(type(name) is str for name in outcome.metrics)
        and all(text is None or type(text) is str for text in map(outcome.__getattribute__, _TEXTS))
        and (type(outcome.size), type(outcome.attempts), type(outcome.retrained)) == (int, int, int)
        and outcome.size >= 0
        and outcome.attempts >= 1
        and outcome.retrained >= 0
        and type(outcome.inherited) is bool
        and type(outcome.stopped_early) is bool
    )


def _is_finite(number: Any) -> bool:
    return type(number) is float and math.isfinite(number)


def _made_plain(outcome: Outcome) -> Outcome:
    for name in _TEXTS:
        if not isinstance(getattr(outcome, name), (str, type(None))):
            raise TypeError(f"{name} must be text or None, got {getattr(outcome, name)!r}")
    if not isinstance(outcome.metrics, Mapping):
        raise TypeError(f"metrics must be a dict of names to numbers, got {outcome.metrics!r}")
    return replace(
        outcome,
        reward=None if outcome.reward is None else checks.finite("reward", outcome.reward),
        seconds=checks.between("seconds", outcome.seconds, 0),
        cost=None if outcome.cost is None else checks.between("cost", outcome.cost, 0),
        metrics={str(name): checks.finite(f"metric {name!r}", value) for name, value in outcome.metrics.items()},
        curve=tuple(checks.finite("a point of the curve", point) for point in outcome.curve),
        size=checks.whole("size", outcome.size, 0),
        inherited=checks.flag("inherited", outcome.inherited),
        attempts=checks.whole("attempts", outcome.attempts, 1),
        retrained=checks.whole("retrained", outcome.retrained, 0),
        stopped_early=checks.flag("stopped_early", outcome.stopped_early),
    )


def _check_pull(pull: Any) -> None:
    whole = isinstance(pull, Pull) and isinstance(pull.arm, Arm) and isinstance(pull.arm.id, Integral)
    if not whole:
        raise TypeError(f"pull must be one that ask gave, got {pull!r:.200}")


def is_same_config(space: Any, asked: Any, given: Any) -> bool:
    """Whether two configs are equal. Configs that can neither be compared nor written as JSON count as equal."""
    try:
        if asked is given or asked == given:
            return True
    except ValueError:  # arrays, which compare element by element
        pass
    text = _text(space, asked)
    return text is None or text == _text(space, given)


def _text(space: Any, config: Any) -> str | None:
    try:
        return json.dumps(to_json(space, config), sort_keys=True)
    except Exception:  # `to_json` may be user code
        return None


def has_ended(record: ArmRecord, pull: Pull) -> bool:
    """Whether this pull of the arm has ended, as far as its record shows: of failed pulls, it only shows the last."""
    told = (pull.start, pull.stop) in pairwise((0, *record.stops))
    return told or (record.failed and pull.start == record.steps)
