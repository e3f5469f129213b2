"""Rows of reward, tie-breaker and arm, which can be sorted, kept in a heap and stored."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .ledger import State

Entry = tuple[float, float, int]
"""A reward (or its negative), a random number that breaks ties, and an arm."""


def pack(entries: Iterable[Entry]) -> State:
    """Entries as arrays."""
    rows = list(entries)
    return {
        "reward": np.array([row[0] for row in rows], dtype=float),
        "tie": np.array([row[1] for row in rows], dtype=float),
        "arm": np.array([row[2] for row in rows], dtype=np.int64),
    }


def unpack(state: State) -> list[Entry]:
    """The entries that were given to `pack`, in the same order."""
    return list(zip(state["reward"].tolist(), state["tie"].tolist(), state["arm"].tolist(), strict=True))
