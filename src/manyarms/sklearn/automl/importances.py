"""`feature_importances_` of an ensemble: how much its error increases when the values of a column are shuffled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing

from .column_kinds import NOTHING
from .targets import Target

_ROWS = 200  # rows in the sample
_BATCH = 5_000  # rows that are predicted at once
_LEAST = 1e-6  # smallest probability in the log loss

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RowSample:
    """A few rows that a model was trained on, with their target.

    Args:
        table: The rows, as a frame or a sparse matrix.
        values: Their target: numbers, or positions of classes.
        are_classes: Whether the target is a class.
    """

    table: Any
    values: NDArray[Any]
    are_classes: bool

    @classmethod
    def of(cls, table: Any, target: Target) -> RowSample:
        """A random sample of a table."""
        rows = np.sort(np.random.default_rng(0).permutation(len(target.values))[:_ROWS])
        some = _safe_indexing(table, rows)
        return cls(some if sparse.issparse(some) else some.reset_index(drop=True), target.values[rows], target.n_classes > 0)

    def loss(self, predictions: Array) -> float:
        """The log loss of probabilities, or the mean squared error of numbers."""
        if self.are_classes:
            likely = predictions[np.arange(len(self.values)), self.values]
            return -float(np.log(np.clip(likely, _LEAST, 1.0)).mean())
        return float(np.mean((predictions - self.values) ** 2))


def shuffled_importances(predict: Callable[[Any], Array], sample: RowSample, kinds: Sequence[str]) -> Array:
    """The importance of each column: the increase of the loss, scaled to sum to 1. Unused columns have 0.

    Args:
        predict: Returns the predictions of the model for rows: probabilities, or numbers.
        sample: Rows to shuffle.
        kinds: What each column holds.
    """
    rng, n = np.random.default_rng(0), len(sample.values)
    whole, growth = sample.loss(predict(sample.table)), np.zeros(len(kinds))
    used = [int(place) for place in _differing(sample.table) if kinds[place] != NOTHING]
    at_once = max(1, _BATCH // n)
    for first in range(0, len(used), at_once):
        places = used[first : first + at_once]
        copies = [_shuffled(sample.table, place, rng.permutation(n)) for place in places]
        parts = np.split(predict(_stacked(copies)), len(places))
        growth[places] = [max(0.0, sample.loss(part) - whole) for part in parts]
    total = growth.sum()
    return growth / total if total > 0 else growth


def _differing(table: Any) -> Any:
    """The positions of columns that may change when they are shuffled: in a sparse matrix, those with stored values."""
    return np.unique(table.indices) if sparse.issparse(table) else range(table.shape[1])


def _stacked(tables: list[Any]) -> Any:
    return sparse.vstack(tables, format="csr") if sparse.issparse(tables[0]) else pd.concat(tables, ignore_index=True)


def _shuffled(table: Any, place: int, order: NDArray[np.int64]) -> Any:
    if sparse.issparse(table):
        return _shuffled_sparse(table, place, order)
    changed = table.copy(deep=False)
    changed[table.columns[place]] = table.iloc[order, place].set_axis(table.index)
    return changed


def _shuffled_sparse(table: Any, place: int, order: NDArray[np.int64]) -> Any:
    """Move the stored values of a column to other rows."""
    entries = table.tocoo(copy=True)
    moved = entries.col == place
    entries.row[moved] = np.argsort(order)[entries.row[moved]]
    return entries.tocsr()
