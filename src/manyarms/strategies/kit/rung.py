"""A rung of ASHA: whether its best arm that was not promoted yet is among the best 1/eta, found without a scan."""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heappushpop

import numpy as np

from .entries import Entry, pack, unpack
from .ledger import State


def _turned(entry: Entry) -> Entry:
    return -entry[0], -entry[1], -entry[2]


class Rung:
    """The arms trained up to a rung: O(log n) to add one or to promote one, O(1) to see the one to promote.

    Entries are (-reward, tie, arm): the smaller, the better.
    """

    def __init__(self, eta: int) -> None:
        self._eta = eta
        self._told = 0  # failures included
        self._top: list[Entry] = []  # the best told // eta, turned: a heap with the worst of them first
        self._rest: list[Entry] = []  # a heap with the best first
        self._paused: list[Entry] = []  # those not promoted, of both; a heap with the best first

    def add(self, arm: int, reward: float | None, tie: float) -> None:
        """Take in an arm with its reward; None means that it failed: it counts as the worst, and is never promoted."""
        self._told += 1
        if reward is not None:
            entry = (-reward, tie, arm)
            heappush(self._paused, entry)
            heappush(self._rest, _turned(heappushpop(self._top, _turned(entry))))
        if self._rest and len(self._top) < self._told // self._eta:
            heappush(self._top, _turned(heappop(self._rest)))

    def candidate(self) -> int | None:
        """The arm to promote: the best of those not promoted, if it is in the top 1/eta of all."""
        if not self._paused or not self._top:
            return None
        best = self._paused[0]
        return best[2] if _turned(best) >= self._top[0] else None

    def promote(self) -> None:
        """Take the candidate as promoted. It goes on to count among the arms of this rung."""
        heappop(self._paused)

    def state(self) -> State:
        """The entries in order, and which are promoted; the heaps are made again from them."""
        paused = {entry[2] for entry in self._paused}
        entries = sorted([*map(_turned, self._top), *self._rest])
        promoted = np.array([entry[2] not in paused for entry in entries], dtype=bool)
        return {"told": self._told, "entries": pack(entries), "promoted": promoted}

    def load(self, state: State) -> None:
        """Take back what `state` gave."""
        self._told, entries = state["told"], unpack(state["entries"])
        n_top = self._told // self._eta
        self._top, self._rest = [_turned(entry) for entry in entries[:n_top]], entries[n_top:]
        heapify(self._top)
        self._paused = [entry for entry, promoted in zip(entries, state["promoted"].tolist(), strict=True) if not promoted]
