"""A rung of ASHA: finds the arm to promote without scanning all arms."""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heappushpop

import numpy as np

from .entries import Entry, pack, unpack
from .ledger import State


def _negated(entry: Entry) -> Entry:
    return -entry[0], -entry[1], -entry[2]


class Rung:
    """The arms trained up to a rung. Adding or promoting an arm is O(log n), finding the arm to promote O(1).

    Entries are (-reward, tie, arm), so smaller is better.

    Args:
        eta: The best 1/eta of the arms are promoted.
    """

    def __init__(self, eta: int) -> None:
        self._eta = eta
        self._told = 0  # number of results, including failures
        self._top: list[Entry] = []  # the best 1/eta, negated: a heap with the worst of them first
        self._rest: list[Entry] = []  # a heap with the best first
        self._paused: list[Entry] = []  # arms from both heaps that are not promoted: a heap with the best first

    def add(self, arm: int, reward: float | None, tie: float) -> None:
        """Add an arm with its reward; None means that it failed. A failed arm counts as the worst and is never promoted."""
        self._told += 1
        if reward is not None:
            entry = (-reward, tie, arm)
            heappush(self._paused, entry)
            heappush(self._rest, _negated(heappushpop(self._top, _negated(entry))))
        if self._rest and len(self._top) < self._told // self._eta:
            heappush(self._top, _negated(heappop(self._rest)))

    def candidate(self) -> int | None:
        """The arm to promote: the best one not promoted yet, if it is among the best 1/eta of all arms; otherwise None."""
        if not self._paused or not self._top:
            return None
        best = self._paused[0]
        return best[2] if _negated(best) >= self._top[0] else None

    def promote(self) -> None:
        """Mark the candidate as promoted. It still counts among the arms of this rung."""
        heappop(self._paused)

    def state(self) -> State:
        """The entries in order, and which of them are promoted. The heaps are rebuilt from them."""
        paused = {entry[2] for entry in self._paused}
        entries = sorted([*map(_negated, self._top), *self._rest])
        promoted = np.array([entry[2] not in paused for entry in entries], dtype=bool)
        return {"told": self._told, "entries": pack(entries), "promoted": promoted}

    def load(self, state: State) -> None:
        """Restore a state that `state` returned."""
        self._told, entries = state["told"], unpack(state["entries"])
        n_top = self._told // self._eta
        self._top, self._rest = [_negated(entry) for entry in entries[:n_top]], entries[n_top:]
        heapify(self._top)
        self._paused = [entry for entry, promoted in zip(entries, state["promoted"].tolist(), strict=True) if not promoted]
