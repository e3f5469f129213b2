"""The arm with the largest index, found without a scan."""

from __future__ import annotations

import heapq

import numpy as np

from .ledger import State


class Ranking:
    """Arms by index, largest first, ties broken at random: O(log n) to change one, O(1) to see the first.

    A heap whose outdated entries are dropped when they surface: an entry counts only while it is the arm's newest.
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple[float, float, int]] = {}  # arm -> (-index, tie, arm)
        self._heap: list[tuple[float, float, int]] = []

    def put(self, arm: int, index: float, tie: float) -> None:
        """Give the arm this index. `tie` is a random number: among equal indices the smallest comes first."""
        entry = (-index, tie, arm)
        self._entries[arm] = entry
        heapq.heappush(self._heap, entry)
        if len(self._heap) > 2 * len(self._entries) + 64:
            self._heap = list(self._entries.values())
            heapq.heapify(self._heap)

    def arms(self) -> list[int]:
        """All that are in, in no order."""
        return list(self._entries)

    def clear(self) -> None:
        """Take out all arms."""
        self._entries, self._heap = {}, []

    def drop(self, arm: int) -> None:
        """Take the arm out, if it is in."""
        self._entries.pop(arm, None)

    def first(self) -> int | None:
        """The arm with the largest index; None if there is no arm."""
        leader = self.leader()
        return None if leader is None else leader[1]

    def leader(self) -> tuple[float, int] | None:
        """The largest index and its arm; None if there is no arm."""
        heap = self._heap
        while heap:
            entry = heap[0]
            if self._entries.get(entry[2]) is entry:
                return -entry[0], entry[2]
            heapq.heappop(heap)
        return None

    def state(self) -> State:
        """The entries; the heap is made again from them."""
        rows = list(self._entries.values())
        return {
            "index": np.array([row[0] for row in rows], dtype=float),
            "tie": np.array([row[1] for row in rows], dtype=float),
            "arm": np.array([row[2] for row in rows], dtype=np.int64),
        }

    def load(self, state: State) -> None:
        """Take back what `state` gave."""
        rows = zip(state["index"].tolist(), state["tie"].tolist(), state["arm"].tolist(), strict=True)
        self._entries = {row[2]: row for row in rows}
        self._heap = list(self._entries.values())
        heapq.heapify(self._heap)
