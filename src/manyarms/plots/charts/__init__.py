"""The charts of a study. Each is a function of its history, and describes a chart without drawing it."""

from .best_reward import best_reward
from .contour import contour
from .curves import curves
from .decisions import decisions
from .failures import failures
from .family import family
from .importance import importance
from .parallel_coordinates import parallel_coordinates
from .rungs import rungs
from .scores import scores
from .slices import slices
from .timeline import timeline

CHARTS = {
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
    "failures": failures,
}
"""The charts of a history, by name."""

__all__ = [
    "CHARTS",
    "best_reward",
    "contour",
    "curves",
    "decisions",
    "failures",
    "family",
    "importance",
    "parallel_coordinates",
    "rungs",
    "scores",
    "slices",
    "timeline",
]
