"""The settings of an automatic search, and the data that it learns from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

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


@dataclass(frozen=True, slots=True)
class Data:
    """A table, its target, and sample weights or None."""

    table: pd.DataFrame
    target: Target
    weights: Any

    def some(self, rows: Any) -> Data:
        """A subset of the rows."""
        values = replace(self.target, values=self.target.values[rows])
        return Data(self.table.iloc[rows], values, None if self.weights is None else np.asarray(self.weights)[rows])

    def __len__(self) -> int:
        return len(self.table)
