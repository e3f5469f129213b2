"""The probability that each of many independent Beta variables is the largest."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LEAST = 1e-300  # smaller probabilities are raised to this, so that their logarithms are finite


def log_best(a: Floats, b: Floats) -> Floats:
    """The logarithm of the probability that each of some independent Beta(a_i, b_i) variables is the largest.

    All a and b are at least 1. Equal distributions are computed once.

    >>> np.exp(log_best(np.array([1.0, 3.0]), np.array([1.0, 1.0]))).round(5)
    array([0.25, 0.75])
    """
    laws, which, counts = np.unique(a + 1j * b, return_inverse=True, return_counts=True)
    points = _points(float(np.sum(a + b)))
    rows = [_law(law.real, law.imag, points) for law in laws.tolist()]
    densities, below = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    # Sum f_i prod_{j != i} F_j over the grid, relative to the largest term of each row, since all terms may be tiny.
    terms = densities + counts @ below - below
    largest = terms.max(axis=1)
    logs: Floats = largest + np.log(np.exp(terms - largest[:, None]).sum(axis=1))
    return (logs - math.log(counts @ np.exp(logs)))[
        which
    ]  # normalized, because the sum over the grid has an error of about 1e-5


def _points(observations: float) -> int:
    """Number of grid points: enough that several fall within the narrowest density, whose width is 1 / sqrt(observations)."""
    return 1 << max(8, math.ceil(math.log2(4.0 * math.sqrt(observations))))


@lru_cache(maxsize=1024)
def _law(a: float, b: float, points: int) -> tuple[Floats, Floats]:
    """Logarithms of the probability near each point of a grid, and of the probability below it.

    The grid is even in the angle whose squared sine is x, where the width of Beta(a, b) is about 1 / sqrt(4 (a + b))
    everywhere.
    """
    from scipy.special import betainc, betaln  # imported here because SciPy is slow to import

    width = 0.5 * math.pi / points
    angles = width * (np.arange(points) + 0.5)
    sine, cosine = np.sin(angles), np.cos(angles)
    density = (2.0 * a - 1.0) * np.log(sine) + (2.0 * b - 1.0) * np.log(cosine) - betaln(a, b) + math.log(2.0 * width)
    return density, np.log(np.maximum(betainc(a, b, sine**2), _LEAST))
