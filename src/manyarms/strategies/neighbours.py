"""A cheap forecast of untried arms: the mean score of the arms nearby."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_REACH = 0.25  # of the kernel, on a unit cube of 7.5 dimensions
_MOST = 512  # arms that are looked at: the best half and the newest


class Neighbours:
    """A kernel mean over the arms so far, shrunk to the median score where there are few nearby.

    Args:
        dimension: of the unit cube the arms are encoded in.
    """

    def __init__(self, dimension: int) -> None:
        self._reach = _REACH * math.sqrt(max(dimension, 1) / 7.5)
        self._points = np.zeros((64, dimension))
        self._count = 0

    def add(self, point: Array) -> None:
        """The next arm's place, in the order of arms."""
        if self._count == len(self._points):
            self._points = np.concatenate([self._points, np.zeros_like(self._points)])
        self._points[self._count] = point
        self._count += 1

    def outlook(self, candidates: Array, arms: Array, scores: Array, trainings: Array, median: float, spread: float) -> Array:
        """What each candidate promises: its forecast, and as much again as it is uncertain.

        Args:
            candidates: their points.
            arms: the arms to learn from, by number.
            scores: theirs.
            trainings: how often each was trained: what is known better counts more.
            median, spread: of all scores.
        """
        if len(arms) > _MOST:
            chosen = np.zeros(len(arms), dtype=bool)
            chosen[np.argpartition(-scores, _MOST // 2)[: _MOST // 2]] = True
            chosen[-_MOST // 2 :] = True
            some = np.flatnonzero(chosen)
            arms, scores, trainings = arms[some], scores[some], trainings[some]
        points = self._points[arms]
        squares = (candidates**2).sum(1)[:, None] + (points**2).sum(1) - 2.0 * candidates @ points.T
        weights = np.exp(squares / (-2.0 * self._reach**2)) * np.sqrt(trainings)
        total = weights.sum(1)
        forecast = (weights @ scores + median) / (total + 1.0)
        return np.asarray(forecast + spread / np.sqrt(1.0 + total))
