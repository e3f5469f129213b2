"""The results of each arm from the journal, in the form of scikit-learn's searches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...journal import Event, MemoryJournal
from ...study.study import Study
from ...study.view import StudyView
from .training import TIMES, Training

_TEST = "split0_test_"


@dataclass(slots=True)
class ArmResult:
    """The result of one arm.

    Attributes:
        arm: Id of the arm.
        stop: The step at which its best pull ended, or its last pull if that failed.
        steps: Number of steps it was trained for at its best.
        failed: Whether its last pull failed.
        metrics: What its best pull returned, without the times; empty if its last pull failed.
        times: Total times of its pulls, by split and kind, such as "split0_fit_time".
    """

    arm: int
    stop: int = 0
    steps: int = 0
    failed: bool = False
    metrics: dict[str, float] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)
    _best: tuple[bool, float] = (False, -math.inf)

    @property
    def seconds(self) -> float:
        """Total time of training and scoring."""
        return sum(self.times.values())

    def add(self, event: Event, is_final: bool) -> None:
        """Add the end of a pull.

        Args:
            event: The event of the journal.
            is_final: Whether its score is comparable. A score based on only some of the rows or folds is not.
        """
        assert event.stop is not None
        self.failed = event.kind == "failed"
        if self.failed:
            self.stop, self.metrics = event.stop, {}
            return
        metrics: dict[str, float] = {}
        for name, value in event.data.get("metrics", {}).items():
            if name.partition("_")[2] in TIMES:
                self.times[name] = self.times.get(name, 0.0) + value
            else:
                metrics[name] = value
        found = is_final, event.reward if event.reward is not None else -math.inf
        if found >= self._best:  # among equal rewards, the last
            self._best, self.stop, self.steps, self.metrics = found, event.stop, event.stop, metrics

    def folds(self, n_splits: int, metrics: list[str] | None, train_scores: bool) -> list[dict[str, Any]]:
        """What scikit-learn's `_fit_and_score` would return for each fold; `metrics` is None for a single metric."""
        return [self._fold(f"split{number}_", metrics, train_scores) for number in range(n_splits)]

    def _fold(self, split: str, metrics: list[str] | None, train_scores: bool) -> dict[str, Any]:
        found: dict[str, Any] = {name: self.times.get(f"{split}{name}", 0.0) for name in TIMES}
        for which in ("test", "train") if train_scores else ("test",):
            scores = {name: self.metrics.get(f"{split}{which}_{name}", math.nan) for name in metrics or ["score"]}
            found[f"{which}_scores"] = scores if metrics is not None else scores["score"]
        return found


def arm_results(events: Iterable[Event], is_final: Callable[[int, int], bool] = lambda arm, steps: True) -> list[ArmResult]:
    """The result of every arm with a finished pull, by id.

    Args:
        events: The events of the journal.
        is_final: Whether the score of an arm after this many steps is comparable.
    """
    results: dict[int, ArmResult] = {}
    for event in events:
        if event.kind in ("told", "failed"):
            assert event.arm is not None and event.stop is not None
            results.setdefault(event.arm, ArmResult(event.arm)).add(event, is_final(event.arm, event.stop))
    return [results[arm] for arm in sorted(results)]


def metrics_of(results: Iterable[ArmResult]) -> list[str]:
    """The names of the recorded metrics, in order."""
    for result in results:
        if result.metrics:
            return [name.removeprefix(_TEST) for name in result.metrics if name.startswith(_TEST)]
    return []


def arm_params(training: Training, config: Any, stop: int) -> dict[str, Any]:
    """The parameters of an arm, with the name of its estimator if there are several, and how much it was trained."""
    named = {"algorithm": config["algorithm"]} if isinstance(training.candidates, Mapping) else {}
    try:
        return named | training.params(config, stop)
    except (TypeError, ValueError):  # for example, those of an arm that failed because of its resource
        return named | training.read(config)[1]


def stored_view(study: Study) -> StudyView:
    """A copy of the study for reading, which can be pickled and does not need the storage."""
    journal = MemoryJournal(study.name)
    journal.create(study.header)
    journal.append(study.journal.events())
    return StudyView(journal, study.header, study.counts, study._state)
