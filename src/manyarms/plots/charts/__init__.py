"""The charts of a study. Each is a function of its history or of what its strategy knows, and draws nothing itself."""

from collections.abc import Callable, Mapping
from typing import Any

from ..chart import Chart
from .algorithms import algorithms
from .best_reward import best_over_time, best_reward
from .boxes import boxes
from .contour import contour
from .curves import curves
from .decisions import decisions
from .failures import failures
from .family import family
from .importance import importance
from .latest_pulls import latest_pulls
from .parallel_coordinates import parallel_coordinates
from .posteriors import posteriors
from .predictions import predictions
from .rungs import rungs
from .scores import scores
from .slices import slices
from .timeline import timeline

CHARTS: dict[str, Callable[..., Chart]] = {
    "history": best_reward,
    "curves": curves,
    "parallel_coordinates": parallel_coordinates,
    "slices": slices,
    "contour": contour,
    "importance": importance,
    "family": family,
    "timeline": timeline,
    "rungs": rungs,
    "decisions": decisions,
    "algorithms": algorithms,
    "failures": failures,
}
"""The charts of a history, by name."""

STRATEGY_CHARTS: dict[str, Callable[[Any, Mapping[str, Any]], Chart]] = {
    "scores": scores,
    "predictions": predictions,
    "posteriors": posteriors,
    "boxes": boxes,
}
"""The charts of what a strategy knows, by name, which is also the name of the method of the strategy that returns it."""

__all__ = [
    "CHARTS",
    "STRATEGY_CHARTS",
    "algorithms",
    "best_over_time",
    "best_reward",
    "boxes",
    "contour",
    "curves",
    "decisions",
    "failures",
    "family",
    "importance",
    "latest_pulls",
    "parallel_coordinates",
    "posteriors",
    "predictions",
    "rungs",
    "scores",
    "slices",
    "timeline",
]
