"""The recommended arm, and its best step."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..strategies import Strategy
    from .counts import ArmRecord, Counts


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The recommendation of a study.

    Attributes:
        arm: The id of the arm.
        step: The step at which it was best.
        reward: Its reward there, as the function returned it, or the mean of its rewards.
        by_mean: Whether its rewards are repeated measurements of one value, so that their mean counts.
    """

    arm: int
    step: int
    reward: float
    by_mean: bool

    def text(self) -> str:
        """The recommendation as JSON."""
        return json.dumps(asdict(self))


def stored_recommendation(text: str) -> Recommendation | None:
    """The stored recommendation; None if another version of the library wrote it."""
    try:
        found = Recommendation(**json.loads(text))
    except (TypeError, ValueError, AttributeError):
        return None
    whole = type(found.arm) is int and type(found.step) is int and type(found.by_mean) is bool
    return found if whole and isinstance(found.reward, float) and math.isfinite(found.reward) else None


def recommend(strategy: Strategy, counts: Counts) -> Recommendation:
    """The recommendation of the strategy. Raises `NoResult` if no pull has succeeded."""
    from ..strategies import uses_mean  # here: reading a stored recommendation must not import NumPy

    arm = strategy.best().id
    return recommended(counts.arms[arm], uses_mean(strategy, arm))


def recommended(record: ArmRecord, by_mean: bool) -> Recommendation:
    """The recommendation of an arm that has a reward."""
    step = record.steps if by_mean else record.best_step
    return Recommendation(record.arm.id, step, worth(record, by_mean), by_mean)


def worth(record: ArmRecord, by_mean: bool) -> float:
    """The value of an arm that has a reward: its best reward, or the mean if its rewards are repeated measurements."""
    reward = record.mean_reward if by_mean else record.best_reward
    assert reward is not None
    return reward
