"""Arms in order of their rewards, as rows that can be sorted, heaped and stored."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .ledger import State

Entry = tuple[float, float, int]
"""A reward (or its negative), a random number against ties, an arm."""


def pack(entries: Iterable[Entry]) -> State:
    """Entries as arrays."""
    rows = list(entries)
    return {
        "reward": np.array([row[0] for row in rows], dtype=float),
        "tie": np.array([row[1] for row in rows], dtype=float),
        "arm": np.array([row[2] for row in rows], dtype=np.int64),
    }


def unpack(state: State) -> list[Entry]:
    """The entries that `pack` was given, in their order."""
    return list(zip(state["reward"].tolist(), state["tie"].tolist(), state["arm"].tolist(), strict=True))
