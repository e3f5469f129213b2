"""A Gaussian process that predicts the scores of untried configs. It uses few arms, so it can be fitted for each prediction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kit.ledger import State

Array = NDArray[np.float64]

_MAX_ARMS = 64  # arms to predict from: the best 32 and the newest 32
_MAX_PENDING = 8  # arms without a reward that are taken into account, the newest: more would drive new arms away from good ones
_TYPICAL_LENGTH = 0.3  # prior length scale of the kernel, as a share of the cube's diagonal
_TYPICAL_NOISE = 0.1  # prior variance of a score after one slice, as a share of the variance of the scores
_LOWEST = -2.0  # scores are clipped here, in spreads from the median, because it does not matter how bad the bad ones are
_HIGHEST = 10.0  # scores are also clipped here, in case one has exceeded the last measured spread by far
_MIN_ARMS_TO_LEARN = 8  # with fewer arms the length scales stay as they are
_LEARNING_STEPS = (0.7, 0.5, 0.35, 0.2)  # step sizes of the gradient ascent, in logarithms of the length scales
_RELEARN_FACTOR = 1.3  # growth of the number of arms after which the length scales are learned again


def kernel(a: Array, b: Array) -> Array:
    """The squared-exponential kernel between two sets of points, which are divided by their length scales already."""
    exponents = a @ b.T
    exponents -= 0.5 * np.einsum("ij,ij->i", a, a)[:, None]
    exponents -= 0.5 * np.einsum("ij,ij->i", b, b)
    return np.asarray(np.exp(np.minimum(exponents, 0.0, out=exponents), out=exponents))


def whitening(covariance: Array, noise: Array) -> Array:
    """The inverse of the lower Cholesky factor of the covariance plus noise: it makes scores independent with variance 1."""
    from scipy.linalg.lapack import dpotrf, dtrtri  # imported here because SciPy is slow to import

    noisy = covariance.copy()  # contiguous
    noisy.flat[:: len(noisy) + 1] += noise + 1e-8
    lower, failed = dpotrf(noisy.T, lower=1, overwrite_a=1)  # symmetric, so the transpose is the same in LAPACK's order
    if failed:
        raise np.linalg.LinAlgError("the covariance is not positive definite")
    return np.asarray(dtrtri(lower, lower=1, overwrite_c=1)[0])


def likelihood(points: Array, scores: Array, noise: Array) -> tuple[float, Array]:
    """The log-likelihood of the scores, and its gradient.

    The likelihood is at the best signal variance and up to a constant. The gradient is in the logarithm of each length scale
    and, last, of the noise.

    Args:
        points: The points, divided by their length scales.
        scores: The score at each point.
        noise: The noise variance at each point.
    """
    covariance = kernel(points, points)
    whiten = whitening(covariance, noise)
    log_determinant = -2.0 * float(np.log(np.diag(whiten)).sum())
    precision = whiten.T @ whiten
    weights = precision @ scores
    variance = max(float(scores @ weights) / len(scores), 1e-12)
    slopes = np.outer(weights, weights) / variance - precision  # twice the derivative in each entry of the covariance
    shared = slopes * covariance
    by_lengths = shared.sum(0) @ points**2 - (points * (shared @ points)).sum(0)
    by_noise = 0.5 * np.diag(slopes) @ noise
    return -0.5 * (len(scores) * math.log(variance) + log_determinant), np.append(by_lengths, by_noise)


def predictions(points: Array, awaited: Array, candidates: Array, scores: Array, noise: Array) -> tuple[Array, Array, float]:
    """The mean and the relative variance of each candidate, and the signal variance by which to multiply the latter.

    An awaited point gets its predicted score as its result. This leaves all means as they are, and makes the candidates near
    it less uncertain, so that workers do not pursue the same idea.

    Args:
        points: The points with scores, divided by their length scales, as all points.
        awaited: The points whose scores are still to come.
        candidates: The points to predict.
        scores: The score at each of the first points.
        noise: The noise variance at each of the first and then at each of the awaited points.
    """
    known = np.concatenate([points, awaited])
    covariance = kernel(np.concatenate([known, candidates]), known)
    whiten = whitening(covariance[: len(known)], noise)
    shared = covariance[len(known) :] @ whiten.T
    n = len(points)
    whitened = whiten[:n, :n] @ scores  # the factor is triangular, so its first rows belong to the points with scores
    variance = float(whitened @ whitened) / n
    unexplained = np.maximum(1.0 - np.einsum("ij,ij->i", shared, shared), 0.0)
    return shared[:, :n] @ whitened, unexplained, variance


@dataclass(frozen=True, slots=True)
class ScoredArms:
    """The arms from which the scores of candidates are predicted.

    Args:
        arms: Their numbers.
        scores: The score of each arm.
        median, spread: The median score, and the best score minus the median.
        pending: Numbers of other arms, whose scores are still to come.
    """

    arms: NDArray[np.int64]
    scores: Array
    median: float
    spread: float
    pending: Sequence[int] = ()


class GaussianProcess:
    """Learns a length scale for each coordinate, and predicts the scores of candidates from the arms so far.

    Args:
        dimension: Dimension of the unit cube in which the arms are encoded.

    Attributes:
        points: The point of each arm, in order of age, followed by unused rows.
        count: Number of arms.

    >>> process = GaussianProcess(dimension=1)
    >>> for x in (0.1, 0.3, 0.5):
    ...     process.add(np.array([x]))
    >>> known = ScoredArms(np.arange(3), np.array([0.2, 0.8, 0.5]), median=0.5, spread=0.3)
    >>> process.upper_confidence_bounds(np.array([[0.1], [0.3], [0.9]]), known, slices=np.full(3, 10)).round(1)
    array([-0.5,  1.1,  1. ])
    """

    def __init__(self, dimension: int) -> None:
        self._typical_length = _TYPICAL_LENGTH * math.sqrt(max(dimension, 1))
        self._lengths = np.full(dimension, self._typical_length)
        self._noise = _TYPICAL_NOISE
        self._learned = 0  # number of arms when the length scales were last learned
        self.points = np.zeros((64, dimension))
        self.count = 0

    def add(self, point: Array) -> None:
        """Add the point of the next arm."""
        if self.count == len(self.points):
            self.points = np.concatenate([self.points, np.zeros_like(self.points)])
        self.points[self.count] = point
        self.count += 1

    def upper_confidence_bounds(self, candidates: Array, known: ScoredArms, slices: Array, deviations: float = 1.0) -> Array:
        """Upper confidence bound of each candidate: the predicted score plus standard deviations.

        The bounds are in units of the spread, above the median.

        Args:
            candidates: The points of the candidates.
            known: The arms to predict from.
            slices: Number of slices that each of these arms was trained for. The score of an arm trained longer is less noisy.
            deviations: Standard deviations that are added to each prediction.
        """
        chosen = best_and_newest(known.scores)
        points = self.points[known.arms[chosen]]
        heights, noise = _heights(known.scores[chosen], known.median, known.spread), _relative_noise(slices[chosen])
        if len(chosen) >= _MIN_ARMS_TO_LEARN and self.count >= self._learned * _RELEARN_FACTOR:
            self._learned = self.count
            self._learn(points, heights, noise)
        awaited = self.points[np.array(known.pending[-_MAX_PENDING:], dtype=np.int64)]
        noise = np.concatenate([noise, _relative_noise(np.ones(len(awaited)))])
        points, awaited, candidates = (group / self._lengths for group in (points, awaited, candidates))
        means, unexplained, variance = predictions(points, awaited, candidates, heights, self._noise * noise)
        return np.asarray(means + deviations * np.sqrt(variance * unexplained))

    def predict_each_from_the_others(self, known: ScoredArms, slices: Array) -> tuple[Array, Array]:
        """The score predicted for each arm from the other arms, and the standard deviation of each prediction.

        Args:
            known, slices: As in `upper_confidence_bounds`, but few arms, all of which are used.
        """
        points = self.points[known.arms] / self._lengths
        heights = _heights(known.scores, known.median, known.spread)
        whiten = whitening(kernel(points, points), self._noise * _relative_noise(slices))
        precision = whiten.T @ whiten
        unexplained = 1.0 / np.diag(precision)  # Rasmussen and Williams, equations 5.10 to 5.12
        whitened = whiten @ heights
        variance = float(whitened @ whitened) / len(whitened)
        means = heights - unexplained * (precision @ heights)
        return known.median + known.spread * means, known.spread * np.sqrt(variance * unexplained)

    def _learn(self, points: Array, heights: Array, noise: Array) -> None:
        """Take a few steps of gradient ascent on the posterior, in logarithms of the length scales and of the noise."""
        at = np.append(np.log(self._lengths / self._typical_length), math.log(self._noise / _TYPICAL_NOISE))

        def log_posterior(at: Array) -> tuple[float, Array]:
            lengths, level = self._typical_length * np.exp(at[:-1]), _TYPICAL_NOISE * math.exp(at[-1])
            value, slope = likelihood(points / lengths, heights, level * noise)
            return value - 0.5 * float(at @ at), slope - at  # the prior: few arms prove little

        best, slope = log_posterior(at)
        for size in _LEARNING_STEPS:
            ahead = at + size * np.tanh(slope)
            value, next_slope = log_posterior(ahead)
            if value > best + 1e-9:
                best, at, slope = value, ahead, next_slope
        self._lengths, self._noise = self._typical_length * np.exp(at[:-1]), _TYPICAL_NOISE * math.exp(at[-1])

    def state(self) -> State:
        """The learned numbers. The points are not included, because they follow from the arms."""
        return {"lengths": self._lengths.copy(), "noise": self._noise, "learned": self._learned}

    def load(self, state: State) -> None:
        """Restore a state that `state` returned."""
        self._lengths, self._noise, self._learned = np.array(state["lengths"]), state["noise"], state["learned"]


def _heights(scores: Array, median: float, spread: float) -> Array:
    """The scores in units of the spread, above the median."""
    return np.asarray(np.clip((scores - median) / (spread or 1.0), _LOWEST, _HIGHEST))


def _relative_noise(slices: Array) -> Array:
    """The noise variance of scores after these numbers of slices, relative to the typical one."""
    return np.asarray(0.1 + 1.0 / slices)


def best_and_newest(scores: Array) -> NDArray[np.int64]:
    """Positions of the arms to predict from."""
    if len(scores) <= _MAX_ARMS:
        return np.arange(len(scores))
    chosen = np.zeros(len(scores), dtype=bool)
    chosen[np.argpartition(-scores, _MAX_ARMS // 2)[: _MAX_ARMS // 2]] = True
    chosen[-_MAX_ARMS // 2 :] = True
    return np.flatnonzero(chosen)
