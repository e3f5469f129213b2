"""A sparse polynomial of bits, fitted to rewards by the Lasso: which few bits matter, and their best values.

Hazan, Klivans and Yuan, "Hyperparameter Optimization: A Spectral Approach", 2017, algorithms 1 and 2. Bits are -1 or 1, so that
a product of bits is their parity. For random bits all parities are orthogonal.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]
Monomial = tuple[int, ...]
"""The numbers of the bits in a product."""

_PENALTY = 0.35  # penalty of the Lasso, as a share of the largest coefficient that noise alone produces
_WORST = 2.0  # rewards are clipped at this multiple of the distance from the median to the best, below the median
_ENTRIES = 16_000_000  # maximum number of entries in a matrix of parities: 128 MB
_DIGITS = 9  # numbers are rounded, so that ties are the same on every machine
_FIXED = 16  # maximum number of bits fixed together: 65,536 assignments are compared


def count_monomials(bits: int, degree: int) -> int:
    """Number of products of at least one and at most `degree` of the bits."""
    return sum(math.comb(bits, size) for size in range(1, degree + 1))


def samples_needed(bits: int, degree: int, terms: int) -> int:
    """Samples needed to identify a polynomial with this many terms: 2 terms ln(monomials), as in compressed sensing."""
    return math.ceil(2 * terms * math.log(max(1, count_monomials(bits, degree))))


def learnable_degree(bits: int, samples: int, degree: int, terms: int) -> int:
    """The largest degree up to `degree` for which there are enough samples and memory; at least 1.

    >>> [learnable_degree(60, samples, degree=3, terms=5) for samples in (50, 80, 300)]
    [1, 2, 3]
    """
    fits = [
        size
        for size in range(2, degree + 1)
        if samples_needed(bits, size, terms) <= samples and samples * count_monomials(bits, size) <= _ENTRIES
    ]
    return max(fits, default=1)


def monomials(bits: Sequence[int], degree: int) -> list[Monomial]:
    """All products of at least one and at most `degree` of the bits."""
    return [monomial for size in range(1, degree + 1) for monomial in itertools.combinations(bits, size)]


def parities(signs: Signs, products: Sequence[Monomial]) -> Floats:
    """The value of each product (columns) for each row of signs.

    >>> parities(np.array([[1, -1, -1]], dtype=np.int8), [(0,), (1,), (1, 2), (0, 1, 2)])
    array([[ 1., -1.,  1.,  1.]])
    """
    values = np.ones((len(signs), len(products)))
    for size, group in itertools.groupby(range(len(products)), key=lambda place: len(products[place])):
        places = list(group)
        bits = np.array([products[place] for place in places]).reshape(-1, size)
        for column in range(size):
            values[:, places] *= signs[:, bits[:, column]]
    return values


def lasso(features: Floats, values: Floats, penalty: float, tolerance: float = 1e-7) -> Floats:
    """The coefficients c that, with an intercept, minimize |values - features c|^2 / 2n + penalty |c|_1.

    Coordinate descent on a growing set of columns: columns whose slope exceeds the penalty are added until there are none.
    """
    n, coefficients, columns = len(values), np.zeros(features.shape[1]), np.zeros(0, dtype=np.intp)
    values = values - values.mean()
    residual = values
    while True:
        slopes = np.abs(features.T @ residual) / n  # the same as for centered columns, because the mean of the residual is 0
        slopes[columns] = 0.0
        steep = np.flatnonzero(slopes > penalty + tolerance)
        if not len(steep):
            return coefficients
        columns = np.concatenate([columns, steep[np.argsort(-slopes[steep], kind="stable")][:n]])
        chosen = features[:, columns] - features[:, columns].mean(axis=0)
        start = coefficients[columns]
        coefficients[columns] = _descend(chosen.T @ chosen / n, chosen.T @ values / n, penalty, start, tolerance)
        residual = values - chosen @ coefficients[columns]


def _descend(gram: Floats, slopes: Floats, penalty: float, start: Floats, tolerance: float) -> Floats:
    """Coordinate descent for c'Gc / 2 - s'c + penalty |c|_1, with all diagonal entries of G above 0."""
    found, moved = start.copy(), math.inf
    for _ in range(10_000):
        if moved <= tolerance:
            break
        before = found.copy()
        for i in range(len(found)):
            slope = slopes[i] - gram[i] @ found + gram[i, i] * found[i]
            found[i] = math.copysign(max(abs(slope) - penalty, 0.0), slope) / gram[i, i]
        moved = float(np.abs(found - before).max())
    return found


def standardized(rewards: Floats) -> Floats:
    """The rewards scaled to mean 0 and standard deviation 1; zeros if all are equal. NaN, a failure, counts as the worst.

    >>> standardized(np.array([1.0, 2.0, np.nan, 3.0])).round(2).tolist()
    [-0.9, 0.3, -0.9, 1.51]
    """
    rewards = np.clip(np.where(np.isnan(rewards), np.nanmin(rewards, initial=1e300), rewards), -1e300, 1e300)
    distances = rewards - np.median(rewards)
    reach = distances.max() or -distances.min() or 1.0
    distances = np.maximum(distances, -_WORST * reach) / reach
    distances -= distances.mean()
    deviation = distances.std()
    return np.asarray(distances / deviation if deviation > 1e-12 else np.zeros(len(distances)))


def learned(signs: Signs, rewards: Floats, bits: Sequence[int], degree: int, terms: int) -> dict[Monomial, float]:
    """The terms of a sparse polynomial of these bits that predicts the rewards, largest first; empty if no bits matter.

    Args:
        signs: The bits of each sample.
        rewards: The reward of each sample; NaN if it failed.
        bits: The bits that were drawn at random.
        degree: Maximum number of bits in one product. Reduced if there are too few samples.
        terms: Maximum number of terms.
    """
    values = standardized(rewards)
    if not len(bits) or not values.any():
        return {}
    products = monomials(bits, learnable_degree(len(bits), len(values), degree, terms))
    # The largest of p averages over n of noise with deviation 1 is about sqrt(2 ln p / n).
    penalty = _PENALTY * math.sqrt(2.0 * math.log(max(2, len(products))) / len(values))
    coefficients = lasso(parities(signs, products), values, penalty).round(_DIGITS)
    largest = np.argsort(-np.abs(coefficients), kind="stable")[:terms]
    return {products[place]: float(coefficients[place]) for place in largest.tolist() if coefficients[place]}


def best_assignments(polynomial: Mapping[Monomial, float], keep: int) -> tuple[list[int], Signs]:
    """The bits of the polynomial, and the `keep` assignments of signs that maximize it, best first.

    The smallest terms are left out if there are more than 16 bits.

    >>> best_assignments({(4,): 2.0, (4, 7): -1.0}, keep=2)
    ([4, 7], array([[ 1, -1],
           [ 1,  1]], dtype=int8))
    """
    bits: list[int] = []
    terms: dict[Monomial, float] = {}
    for monomial, coefficient in sorted(polynomial.items(), key=lambda term: -abs(term[1])):
        wider = sorted({*bits, *monomial})
        if len(wider) <= _FIXED:
            bits, terms[monomial] = wider, coefficient
    rows = np.array(list(itertools.product((1, -1), repeat=len(bits))), dtype=np.int8)
    own = [tuple(map(bits.index, monomial)) for monomial in terms]
    heights = parities(rows, own) @ np.array(list(terms.values()))
    return bits, rows[np.argsort(-heights.round(_DIGITS), kind="stable")[:keep]]
