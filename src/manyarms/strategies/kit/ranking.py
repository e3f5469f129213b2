"""The arm with the largest index, found without scanning all arms."""

from __future__ import annotations

import heapq

import numpy as np

from .ledger import State


class Ranking:
    """Arms by index, largest first, with ties broken at random. Changing an arm is O(log n), finding the first O(1).

    A heap whose outdated entries are removed when they reach the top. An entry is valid only while it is the newest of its arm.
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple[float, float, int]] = {}  # arm -> (-index, tie, arm)
        self._heap: list[tuple[float, float, int]] = []

    def put(self, arm: int, index: float, tie: float) -> None:
        """Rank the arm by this index. Among equal indices the smallest `tie`, a random number, comes first."""
        entry = (-index, tie, arm)
        self._entries[arm] = entry
        heapq.heappush(self._heap, entry)
        if len(self._heap) > 2 * len(self._entries) + 64:
            self._heap = list(self._entries.values())
            heapq.heapify(self._heap)

    def arms(self) -> list[int]:
        """All ranked arms, in no particular order."""
        return list(self._entries)

    def clear(self) -> None:
        """Remove all arms."""
        self._entries, self._heap = {}, []

    def drop(self, arm: int) -> None:
        """Remove the arm, if it is ranked."""
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
        """The entries, from which the heap is rebuilt."""
        rows = list(self._entries.values())
        return {
            "index": np.array([row[0] for row in rows], dtype=float),
            "tie": np.array([row[1] for row in rows], dtype=float),
            "arm": np.array([row[2] for row in rows], dtype=np.int64),
        }

    def load(self, state: State) -> None:
        """Restore what `state` returned."""
        rows = zip(state["index"].tolist(), state["tie"].tolist(), state["arm"].tolist(), strict=True)
        self._entries = {row[2]: row for row in rows}
        self._heap = list(self._entries.values())
        heapq.heapify(self._heap)
