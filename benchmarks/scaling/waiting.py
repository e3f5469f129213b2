"""Simulates the queue in front of one study process: many workers whose pulls end at random times, and measured costs."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

SPREAD = 0.5  # standard deviation of the logarithm of the length of a pull


@dataclass(frozen=True, slots=True)
class ProcessCost:
    """Seconds that the study process needs.

    Attributes:
        start: For each pull that is started: deciding, making the task and sending it.
        end: For each outcome: receiving it, and learning from it once it is stored.
        append: For one transaction, by the number of outcomes in it.
    """

    start: float
    end: float
    append: Mapping[int, float]

    def appending(self, outcomes: int) -> float:
        """Seconds of a transaction with this number of outcomes, interpolated from the measured ones."""
        sizes = sorted(self.append)
        if outcomes > sizes[-1]:
            return self.append[sizes[-1]] * outcomes / sizes[-1]
        return float(np.interp(outcomes, sizes, [self.append[size] for size in sizes]))

    @property
    def per_pull(self) -> float:
        """Seconds of one pull when many outcomes arrive together, which is so once the process cannot keep up."""
        most = max(self.append)
        return self.start + self.end + self.append[most] / most


@dataclass(frozen=True, slots=True)
class Load:
    """How busy the study process is, and what that means for the workers.

    Attributes:
        rate: Pulls per second.
        busy: Share of the time in which the process works.
        wait: Mean seconds from the end of a pull to the start of the next one on the same worker.
        long_wait: The wait that one in a hundred pulls exceeds.
        idle: Share of the time of the workers that is spent waiting.
        first: Seconds until all workers have their first pull.
        together: Mean number of outcomes in a transaction.
    """

    rate: float
    busy: float
    wait: float
    long_wait: float
    idle: float
    first: float
    together: float


def mean_seconds(median: float) -> float:
    """The mean length of a pull."""
    return median * math.exp(SPREAD**2 / 2)


def saturation(cost: ProcessCost, median: float) -> float:
    """Workers that end as many pulls as the process can handle at most."""
    return mean_seconds(median) / cost.per_pull


def simulate(workers: int, median: float, cost: ProcessCost, pulls: int, seed: int = 0) -> Load:
    """Simulate a study that is never done.

    The process works like the loop of a study: it records all outcomes that have arrived in one transaction, learns from them,
    and then starts a pull on each free worker, one after the other.

    Args:
        workers: Number of workers.
        median: Median seconds of a pull.
        cost: Costs of the process.
        pulls: Pulls that are measured, after each worker has ended one.
        seed: Random seed.
    """
    lengths = iter(np.random.default_rng(seed).lognormal(math.log(median), SPREAD, 3 * workers + 2 * pulls).tolist())
    running: list[float] = []
    now, free = 0.0, [0.0] * workers  # when they became free
    first = began = working = 0.0
    waits: list[float] = []
    ended = transactions = measured = 0
    while measured < pulls:
        for since in free:
            now += cost.start
            working += cost.start
            waits.append(now - since)
            heapq.heappush(running, now + next(lengths))
        first = first or now
        now = max(now, running[0])
        free = []
        while running and running[0] <= now:
            free.append(heapq.heappop(running))
        seconds = cost.appending(len(free)) + len(free) * cost.end
        now, working, ended = now + seconds, working + seconds, ended + len(free)
        if ended <= workers:  # not in balance yet
            began, working, transactions = now, 0.0, 0
            waits.clear()
            continue
        measured, transactions = measured + len(free), transactions + 1
    total = now - began
    return Load(
        rate=measured / total,
        busy=working / total,
        wait=float(np.mean(waits)),
        long_wait=float(np.quantile(waits, 0.99)),
        idle=sum(waits) / (workers * total),
        first=first,
        together=measured / transactions,
    )
