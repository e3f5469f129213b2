"""Statistics for comparing methods: standard errors, ranks, the Friedman test and the critical difference.

Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import stats

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 0.05
"""Significance level."""

_TIE = 1e-9  # values that differ by less are equal


def standard_error(values: NDArray[np.float64]) -> float:
    """Standard error of the mean, ignoring NaN. NaN if there are fewer than two values."""
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1) / math.sqrt(len(known))) if len(known) > 1 else math.nan


def mean_and_error(values: Iterable[float]) -> tuple[float, float]:
    """The mean and its standard error, which is NaN for a single value."""
    array = np.asarray(list(values), dtype=float)
    return float(array.mean()), standard_error(array)


def ranks(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks of values, 1 for the smallest. Tied values share their mean rank.

    >>> ranks([0.3, 0.1, 0.1 + 1e-12, 0.2]).tolist()
    [4.0, 1.5, 1.5, 3.0]
    """
    array = np.asarray(values, dtype=float)
    order = np.argsort(array, kind="stable")
    group = np.empty(len(array), dtype=int)
    group[order] = np.cumsum(np.diff(array[order], prepend=-math.inf) > _TIE)
    return np.asarray(stats.rankdata(group), dtype=float)


def critical_difference(methods: int, problems: int, alpha: float = ALPHA) -> float:
    """Nemenyi's critical difference: mean ranks that are further apart differ significantly (Demšar, section 3.2.2).

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    q = stats.studentized_range.ppf(1 - alpha, methods, math.inf) / math.sqrt(2)
    return float(q * math.sqrt(methods * (methods + 1) / (6 * problems)))


def friedman(ranks: pd.DataFrame) -> float:
    """The p-value of the Friedman test, in the F form of Iman and Davenport, which allows ties.

    Args:
        ranks: Ranks, with a row for each problem and a column for each method.
    """
    values = ranks.to_numpy(float)
    n, k = values.shape
    total = (values**2).sum()
    middle = n * k * (k + 1) ** 2 / 4
    between = (values.sum(axis=0) ** 2).sum() / n - middle
    within = total - middle - between
    if within <= 1e-12 * total:  # every problem ranks the methods alike
        return 0.0 if between > 1e-12 * total else 1.0
    return float(stats.f.sf((n - 1) * between / within, k - 1, (n - 1) * (k - 1)))
