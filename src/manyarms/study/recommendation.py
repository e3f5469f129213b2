"""The recommended arm, and where in its training it was best."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass

from ..strategies import Strategy, uses_mean
from .counts import ArmRecord, Counts


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What a study recommends.

    Attributes:
        arm: The id of the arm.
        step: The step at which it was best.
        reward: Its reward there, as the function returned it, or the mean of its rewards.
        by_mean: Its rewards are repeated measurements of one value, so that their mean decides and the newest state is used.
    """

    arm: int
    step: int
    reward: float
    by_mean: bool

    def text(self) -> str:
        """The recommendation as JSON, to be stored."""
        return json.dumps(asdict(self))


def stored_recommendation(text: str) -> Recommendation | None:
    """The recommendation that was stored; None if it is not one of this version."""
    try:
        found = Recommendation(**json.loads(text))
    except (TypeError, ValueError, AttributeError):
        return None
    whole = type(found.arm) is int and type(found.step) is int and type(found.by_mean) is bool
    return found if whole and isinstance(found.reward, float) and math.isfinite(found.reward) else None


def recommend(strategy: Strategy, counts: Counts) -> Recommendation:
    """What the strategy recommends now. `NoResult` if no pull has succeeded."""
    arm = strategy.best().id
    return recommended(counts.arms[arm], uses_mean(strategy, arm))


def recommended(record: ArmRecord, by_mean: bool) -> Recommendation:
    """The recommendation of an arm that has a reward."""
    step = record.steps if by_mean else record.best_step
    return Recommendation(record.arm.id, step, worth(record, by_mean), by_mean)


def worth(record: ArmRecord, by_mean: bool) -> float:
    """What an arm with a reward is worth: its best reward, or the mean where its rewards are repeated measurements."""
    reward = record.mean_reward if by_mean else record.best_reward
    assert reward is not None
    return reward
