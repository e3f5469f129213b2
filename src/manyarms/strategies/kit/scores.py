"""How a strategy scores its arms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Scores:
    """How a strategy scores its choices now: a value for each arm, child or region, and a bonus for those with little data.

    Args:
        rows: What a row is: "arm", "child" or "region".
        names: The name of each row; of an arm, its id.
        value: What the values are, such as "predicted reward".
        values: The values. Larger is better.
        bonus: What the bonuses are, such as "exploration bonus"; empty if there are none.
        bonuses: What is added to each value when the strategy chooses.
    """

    rows: str
    names: tuple[str, ...]
    value: str
    values: NDArray[np.float64]
    bonus: str = ""
    bonuses: NDArray[np.float64] | None = None

    @property
    def sums(self) -> NDArray[np.float64]:
        """Value plus bonus of each row."""
        return self.values if self.bonuses is None else self.values + self.bonuses
