"""A random sample of the rows of a table that does not fit into memory, drawn in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


class Sample:
    """A uniform random sample of rows, in their original order.

    Each row gets a random number, and the rows with the smallest numbers are kept.

    Args:
        size: Number of rows in the sample.
        seed: Random seed.
    """

    def __init__(self, size: int, seed: int) -> None:
        self._size, self._rng = size, np.random.default_rng(seed)
        self._kept: list[Any] = []
        self._keys = np.empty(0)
        self.seen = 0  # number of rows added

    def add(self, chunk: pd.DataFrame) -> None:
        """Add the next rows of the table."""
        import pandas as pd

        self.seen += len(chunk)
        keys = self._rng.random(len(chunk))
        if len(self._keys) == self._size:
            near = keys < self._keys.max()
            chunk, keys = chunk[near], keys[near]
        self._kept.append(chunk)
        self._keys = np.concatenate([self._keys, keys])
        if len(self._keys) > self._size:
            chosen = np.sort(np.argpartition(self._keys, self._size - 1)[: self._size])
            self._kept = [pd.concat(self._kept, ignore_index=True).iloc[chosen]]
            self._keys = self._keys[chosen]

    @property
    def rows(self) -> pd.DataFrame:
        """The sample."""
        import pandas as pd

        if len(self._kept) != 1:
            self._kept = [pd.concat(self._kept, ignore_index=True)]
        return self._kept[0].reset_index(drop=True)  # type: ignore[no-any-return]
