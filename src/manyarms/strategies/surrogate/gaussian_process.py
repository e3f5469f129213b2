"""A forecast of untried arms: a Gaussian process over the arms that matter, small enough to be solved at every question."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..kit.ledger import State

Array = NDArray[np.float64]

_MOST = 64  # arms that are looked at: the best half and the newest
_REACH = 0.3  # a typical length of the kernel, as a share of the cube's diagonal
_NOISE = 0.1  # a typical variance of a score after one slice, as a share of the scores'
_WORST = 2.0  # spreads below the median: how bad the bad ones are is of no interest
_BEST = 10.0  # above it: one that is far ahead of the spread as it was last measured
_LEAST = 8  # arms to learn lengths from
_STRIDES = (0.7, 0.5, 0.35, 0.2)  # of learning, in logarithms
_STALE = 1.3  # how far the number of arms may grow before the lengths are learned anew


def kernel(a: Array, b: Array) -> Array:
    """How much the scores at these points have in common, 1 at no distance; the points are in units of their lengths."""
    exponents = a @ b.T
    exponents -= 0.5 * np.einsum("ij,ij->i", a, a)[:, None]
    exponents -= 0.5 * np.einsum("ij,ij->i", b, b)
    return np.asarray(np.exp(np.minimum(exponents, 0.0, out=exponents), out=exponents))


def whitening(covariance: Array, noise: Array) -> Array:
    """The inverse of the lower Cholesky factor of the covariance of noisy scores: it makes them independent, of variance 1."""
    from scipy.linalg.lapack import dpotrf, dtrtri  # at the first question: the library imports without SciPy

    noisy = covariance.copy()  # in one piece
    noisy.flat[:: len(noisy) + 1] += noise + 1e-8
    lower, failed = dpotrf(noisy.T, lower=1, overwrite_a=1)  # symmetric: the transpose is the same, in LAPACK's order
    if failed:
        raise np.linalg.LinAlgError("the covariance is not positive definite")
    return np.asarray(dtrtri(lower, lower=1, overwrite_c=1)[0])


def likelihood(points: Array, scores: Array, noise: Array) -> tuple[float, Array]:
    """The log-likelihood of scores at points in units of their lengths, at the best variance and up to a constant; and its
    slope along the logarithm of each length, and last of the noise."""
    covariance = kernel(points, points)
    whiten = whitening(covariance, noise)
    log_determinant = -2.0 * float(np.log(np.diag(whiten)).sum())
    precision = whiten.T @ whiten
    weights = precision @ scores
    variance = max(float(scores @ weights) / len(scores), 1e-12)
    slopes = np.outer(weights, weights) / variance - precision  # along each entry of the covariance, twice
    shared = slopes * covariance
    along_lengths = shared.sum(0) @ points**2 - (points * (shared @ points)).sum(0)
    along_noise = 0.5 * np.diag(slopes) @ noise
    return -0.5 * (len(scores) * math.log(variance) + log_determinant), np.append(along_lengths, along_noise)


class Forecast:
    """Learns how far a score reaches along each coordinate, and foretells those of candidates from the arms so far.

    Args:
        dimension: of the unit cube the arms are encoded in.

    >>> forecast = Forecast(dimension=1)
    >>> for x in (0.1, 0.3, 0.5):
    ...     forecast.add(np.array([x]))
    >>> arms, scores = np.arange(3), np.array([0.2, 0.8, 0.5])
    >>> candidates = np.array([[0.1], [0.3], [0.9]])
    >>> forecast.outlook(candidates, arms, scores, trainings=np.full(3, 10), median=0.5, spread=0.3).round(1)
    array([-0.5,  1.1,  1. ])
    """

    def __init__(self, dimension: int) -> None:
        self._typical = _REACH * math.sqrt(max(dimension, 1))
        self._lengths = np.full(dimension, self._typical)
        self._noise = _NOISE
        self._learned = 0  # arms when the lengths were learned
        self.points = np.zeros((64, dimension))
        """Of the arms, in their order, and room for more."""
        self.count = 0
        """How many arms there are."""

    def add(self, point: Array) -> None:
        """The next arm's place, in the order of arms."""
        if self.count == len(self.points):
            self.points = np.concatenate([self.points, np.zeros_like(self.points)])
        self.points[self.count] = point
        self.count += 1

    def outlook(self, candidates: Array, arms: Array, scores: Array, trainings: Array, median: float, spread: float) -> Array:
        """What each candidate promises, in spreads above the median: its forecast, and as much again as it is uncertain.

        Args:
            candidates: their points.
            arms: the arms to learn from, by number.
            scores: theirs.
            trainings: how often each was trained: what is known better counts more.
            median, spread: of all scores.
        """
        some = _that_matter(scores)
        points = self.points[arms[some]]
        heights = np.clip((scores[some] - median) / (spread or 1.0), -_WORST, _BEST)
        doubt = 0.1 + 1.0 / trainings[some]
        if len(some) >= _LEAST and self.count >= self._learned * _STALE:
            self._learned = self.count
            self._learn(points, heights, doubt)
        n, both = len(some), np.concatenate([points, candidates]) / self._lengths
        covariance = kernel(both, both[:n])
        whiten = whitening(covariance[:n], self._noise * doubt)
        shared = covariance[n:] @ whiten.T
        residue = whiten @ heights
        variance = float(residue @ residue) / len(residue)
        left = np.maximum(1.0 - np.einsum("ij,ij->i", shared, shared), 0.0)
        return np.asarray(shared @ residue + np.sqrt(variance * left))

    def _learn(self, points: Array, heights: Array, doubt: Array) -> None:
        """A few steps uphill, in the logarithms of the lengths and of the noise: what explains the scores better is kept."""
        at = np.append(np.log(self._lengths / self._typical), math.log(self._noise / _NOISE))

        def explains(at: Array) -> tuple[float, Array]:
            lengths, noise = self._typical * np.exp(at[:-1]), _NOISE * math.exp(at[-1])
            found, slope = likelihood(points / lengths, heights, noise * doubt)
            return found - 0.5 * float(at @ at), slope - at  # few arms prove little

        best, slope = explains(at)
        for stride in _STRIDES:
            ahead = at + stride * np.tanh(slope)
            found, next_slope = explains(ahead)
            if found > best + 1e-9:
                best, at, slope = found, ahead, next_slope
        self._lengths, self._noise = self._typical * np.exp(at[:-1]), _NOISE * math.exp(at[-1])

    def state(self) -> State:
        """What it learned; the points are those of the arms."""
        return {"lengths": self._lengths.copy(), "noise": self._noise, "learned": self._learned}

    def load(self, state: State) -> None:
        """Take that back."""
        self._lengths, self._noise, self._learned = np.array(state["lengths"]), state["noise"], state["learned"]


def _that_matter(scores: Array) -> NDArray[np.int64]:
    """The numbers of the best and the newest."""
    if len(scores) <= _MOST:
        return np.arange(len(scores))
    chosen = np.zeros(len(scores), dtype=bool)
    chosen[np.argpartition(-scores, _MOST // 2)[: _MOST // 2]] = True
    chosen[-_MOST // 2 :] = True
    return np.flatnonzero(chosen)
