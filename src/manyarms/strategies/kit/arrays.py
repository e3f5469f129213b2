"""Columns of numbers, one number for each arm, that grow with the arms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Column:
    """One number for each arm. Indexing returns a plain Python number; `all` is the array.

    Args:
        kind: The NumPy type of the numbers.
    """

    def __init__(self, kind: Any) -> None:
        self._values: NDArray[Any] = np.zeros(64, dtype=kind)
        self._length = 0

    @classmethod
    def of(cls, values: NDArray[Any]) -> Column:
        """A column with these numbers."""
        column = cls(values.dtype)
        column._values, column._length = np.concatenate([values, np.zeros(64, dtype=values.dtype)]), len(values)
        return column

    @property
    def all(self) -> NDArray[Any]:
        """All numbers, as a view."""
        return self._values[: self._length]

    def append(self, value: float) -> None:
        """Add the number of the next arm."""
        if self._length == len(self._values):
            self._values = np.concatenate([self._values, np.zeros_like(self._values)])
        self._values[self._length] = value
        self._length += 1

    def __getitem__(self, arm: int) -> Any:
        return self._values.item(arm)

    def __setitem__(self, arm: int, value: float) -> None:
        self._values[arm] = value
