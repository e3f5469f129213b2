"""Counts the free slots of the workers of a cluster. A slot is room for one pull."""

from __future__ import annotations

from collections import Counter, defaultdict


class Slots:
    """The slots of the workers of a cluster. The time of each operation does not depend on the number of workers.

    Workers are identified by name. If a worker leaves and comes back, slots that were not given back are still taken.
    """

    def __init__(self) -> None:
        self.total = 0
        self._depth = 1
        self._sizes: dict[str, int] = {}
        self._taken: Counter[str] = Counter()
        self._by_free: defaultdict[int, dict[str, None]] = defaultdict(dict)  # workers by the number of their free slots
        self._most = 0  # no worker has more free slots than this

    def __contains__(self, worker: str) -> bool:
        return worker in self._sizes

    @property
    def depth(self) -> int:
        """Number of pulls for each slot: one that runs, and others that wait."""
        return self._depth

    @depth.setter
    def depth(self, depth: int) -> None:
        if depth != self._depth:
            self._depth, self._most = depth, 0
            self._by_free.clear()
            for worker in self._sizes:
                self._insert(worker)

    def add(self, worker: str, size: int) -> None:
        """Add a worker with this number of slots."""
        self.remove(worker)
        self._sizes[worker] = size
        self.total += size
        self._insert(worker)

    def remove(self, worker: str) -> None:
        """Remove a worker, if it is there."""
        if worker in self._sizes:
            del self._by_free[self._free(worker)][worker]
            self.total -= self._sizes.pop(worker)

    def size(self, worker: str) -> int:
        """Number of pulls that the worker runs at once. Any others that it was given wait."""
        return self._sizes.get(worker, 0)

    def take(self, preferred: str | None = None) -> str | None:
        """Take a slot of the preferred worker, or else of the one with the most free slots. None if no slot is free.

        Ties go to the worker that was used last, because its processes are already running.
        """
        worker = preferred if preferred in self._sizes and self._taken[preferred] < self._sizes[preferred] else self._freest()
        if worker is not None:
            self._change(worker, 1)
        return worker

    def give_back(self, worker: str) -> None:
        """Give back a slot that was taken. The worker may have left."""
        self._change(worker, -1)

    def clear(self) -> None:
        """Remove all workers, but remember which slots are taken."""
        self._sizes.clear()
        self._by_free.clear()
        self.total = self._most = 0

    def _free(self, worker: str) -> int:
        return self._sizes[worker] * self._depth - self._taken[worker]

    def _freest(self) -> str | None:
        while self._most > 0 and not self._by_free[self._most]:
            del self._by_free[self._most]
            self._most -= 1
        return next(reversed(self._by_free[self._most])) if self._most > 0 else None

    def _change(self, worker: str, taken: int) -> None:
        known = worker in self._sizes
        if known:
            del self._by_free[self._free(worker)][worker]
        self._taken[worker] += taken
        if not self._taken[worker]:
            del self._taken[worker]
        if known:
            self._insert(worker)

    def _insert(self, worker: str) -> None:
        free = self._free(worker)
        self._by_free[free][worker] = None
        self._most = max(self._most, free)
