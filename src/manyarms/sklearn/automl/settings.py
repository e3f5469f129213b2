"""The settings of an automatic search, and the data that it learns from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from ..training.fitting import count_rows
from .sparse_tables import is_sparse
from .targets import Target


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a search, checked; see `Auto`."""

    seconds: float | None
    steps: int | None
    scoring: Any
    families: Sequence[str] | None
    ensemble: bool
    cv: Any
    workers: int
    storage: str | os.PathLike[str] | None
    name: str
    seed: int | None
    progress: bool
    max_predict_ms: float | None = None
    max_model_mb: float | None = None

    @property
    def limits(self) -> tuple[float, float]:
        """The limits of the ensemble: milliseconds to predict 1,000 rows, and size in megabytes."""
        return self.max_predict_ms or np.inf, self.max_model_mb or np.inf


@dataclass(frozen=True, slots=True)
class Data:
    """A table (a frame or a sparse matrix), its target, and sample weights or None."""

    table: Any
    target: Target
    weights: Any

    def some(self, rows: Any) -> Data:
        """A subset of the rows."""
        values = replace(self.target, values=self.target.values[rows])
        return Data(_safe_indexing(self.table, rows), values, None if self.weights is None else np.asarray(self.weights)[rows])

    def __len__(self) -> int:
        return count_rows(self.table)

    @property
    def sparse_columns(self) -> int:
        """Number of columns of a sparse table; 0 if the table is dense."""
        return int(self.table.shape[1]) if is_sparse(self.table) else 0
