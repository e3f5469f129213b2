"""Reads stored studies again and again, and reports how far they are. Only what is new is read."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from ..errors import ManyarmsError
from ..journal.running_totals import RunningTotals
from ..journal.sql import SqlJournal
from ..journal.storage import study_versions
from ..journal.totals import steps_before
from ..study.progress_report import MOST_TRAINING, BestFound, InFlight, Report, seconds_left
from ..study.recommendation import stored_recommendation
from ..study.summary import limits_of
from .studies import stored_journal, unchecked_journal

_SAMPLES = 30  # readings of a study from which its pace is computed
_OLDEST = 600.0  # seconds after which a reading does not count for the pace, if there are newer ones


class Sample(NamedTuple):
    """What a study had spent at a moment."""

    time: float
    pulls: int
    steps: int
    seconds: float


class WatchedStudies:
    """The studies of a storage, or one of them.

    Args:
        storage: The file or URL of the storage.
        name: Name of the study; None for all studies.
        clock: Returns the time in seconds, from any start.

    Attributes:
        error: Why the storage or one of its studies could not be read the last time; None if all were read.
    """

    def __init__(self, storage: str, name: str | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._storage, self._name, self._clock = storage, name, clock
        self._versions: dict[str, tuple[int | None, ...]] = {}
        self._studies: dict[str, WatchedStudy] = {}
        self.error: Exception | None = None

    def read(self) -> list[WatchedStudy]:
        """Read the studies that were written since the last time. Returns those.

        What cannot be read now stays as it was, and is tried again the next time.
        """
        self.error = None
        try:
            versions = study_versions(self._storage)
        except (ManyarmsError, OSError) as error:
            self.error = error
            return []
        names = list(versions) if self._name is None else [self._name]
        changed = [name for name in names if name not in versions or versions[name] != self._versions.get(name)]
        self._studies = {name: study for name, study in self._studies.items() if name in names}
        return [study for name in changed if (study := self._read(name, versions.get(name, ()))) is not None]

    def _read(self, name: str, version: tuple[int | None, ...]) -> WatchedStudy | None:
        study = self._studies.get(name)
        try:
            with (stored_journal if study is None else unchecked_journal)(self._storage, name) as journal:
                study = study or WatchedStudy(name)
                study.read(journal, self._clock())
        except (ManyarmsError, OSError) as error:
            self.error = self.error or error
            return None
        self._studies[name], self._versions[name] = study, version
        return study

    def shown(self, most: int) -> list[WatchedStudy]:
        """The studies, oldest first. If there are more than `most`, those that were written last."""
        studies = list(self._studies.values())
        latest = sorted(range(len(studies)), key=lambda place: (studies[place].changed_at or -1.0, place))[-most:]
        return [studies[place] for place in sorted(latest)]

    def __len__(self) -> int:
        return len(self._studies)

    @property
    def changed_at(self) -> float | None:
        """When a study was last seen to be written; None if none was since the first reading."""
        return max((study.changed_at for study in self._studies.values() if study.changed_at is not None), default=None)


class WatchedStudy:
    """One study: its counts, when the best arm was found, and its pace."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._counts = RunningTotals()
        self._limits: Mapping[str, tuple[float, float]] = {}
        self._best: BestFound | None = None
        self._found_at: float | None = None  # None if it was found before the first reading
        self._samples: deque[Sample] = deque(maxlen=_SAMPLES)
        self.changed_at: float | None = None  # None if it was not written since the first reading

    def read(self, journal: SqlJournal, now: float) -> None:
        """Read what is new. The study is not replayed."""
        counts, header = self._counts, journal.header or {}
        counts.update(journal)
        self._limits = _limits(header, counts)
        best, before = _best_of(journal, header, counts), self._best
        if self._samples:
            self.changed_at = now
            if best != before:
                self._found_at = now if before is None or best is None or best.label == before.label else None
        self._best = best
        if self._samples and counts.steps < self._samples[-1].steps:  # it was created again, or restored from a backup
            self._samples.clear()
        self._samples.append(Sample(now, counts.pulls + counts.failures, counts.steps, counts.seconds))
        while len(self._samples) > 2 and now - self._samples[0].time > _OLDEST:
            self._samples.popleft()

    def report(self, now: float) -> Report:
        """How far the study is."""
        counts, first, last = self._counts, self._samples[0], self._samples[-1]
        elapsed, failures = now - first.time, counts.failures
        spent = {"steps": float(last.steps - first.steps), "seconds": last.seconds - first.seconds}
        remaining = {name: max(0.0, total - done) for name, (done, total) in self._limits.items()}
        ago = None if self._found_at is None else now - self._found_at
        return Report(
            name=self._name,
            steps=counts.steps,
            limits=self._limits,
            arms=counts.arms,
            best=None if self._best is None else replace(self._best, seconds_ago=ago),
            training=[InFlight(arm, *steps) for arm, steps in islice(counts.in_flight.items(), MOST_TRAINING)],
            in_flight=len(counts.in_flight),
            failures=failures,
            reason=counts.reasons.most_common(1)[0][0] if failures else None,
            pulls_per_second=(last.pulls - first.pulls) / elapsed if elapsed > 0 else None,
            seconds_left=seconds_left(elapsed, spent, remaining),
        )


def _best_of(journal: SqlJournal, header: Mapping[str, Any], counts: RunningTotals) -> BestFound | None:
    """The recommended arm if the writer stored it after the last event, otherwise the arm with the best reward."""
    saved = journal.recommendation()
    stored = stored_recommendation(saved[1]) if saved is not None and saved[0] == len(journal) else None
    if stored is not None:
        after = steps_before(journal, stored.arm, stored.step)
        return BestFound("best", stored.reward, stored.arm, stored.step, after, None)
    if counts.best is None:
        return None
    arm, step, reward, after = counts.best
    return BestFound("highest reward" if header["direction"] == "maximize" else "lowest reward", reward, arm, step, after, None)


def _limits(header: Mapping[str, Any], counts: RunningTotals) -> dict[str, tuple[float, float]]:
    """What is spent of the limits in steps and seconds, and the limits. What pulls cost is not counted."""
    limits = limits_of(header, counts.changed_limits)
    if limits is None:
        return {}
    totals = {"steps": (counts.steps, limits.steps), "seconds": (counts.seconds, limits.seconds)}
    return {name: (done, float(total)) for name, (done, total) in totals.items() if total is not None}
