"""What a journal says of each arm, in the form that scikit-learn's searches tell it."""

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
        arm: its id.
        stop: where its best pull ended, in steps, or its last one if that failed.
        steps: how many steps it had been trained then.
        failed: its last pull failed.
        told: what its best pull returned, times apart; empty if its last one failed.
        times: of all its pulls, by split and kind: "split0_fit_time".
    """

    arm: int
    stop: int = 0
    steps: int = 0
    failed: bool = False
    told: dict[str, float] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)
    _best: tuple[bool, float] = (False, -math.inf)

    @property
    def seconds(self) -> float:
        """Of training and scoring, in all."""
        return sum(self.times.values())

    def add(self, event: Event, is_final: bool) -> None:
        """Take in the end of a pull.

        Args:
            event: The end of the pull.
            is_final: Whether its score is one to choose the arm by: one on few of the rows or folds is not.
        """
        assert event.stop is not None
        self.failed = event.kind == "failed"
        if self.failed:
            self.stop, self.told = event.stop, {}
            return
        told: dict[str, float] = {}
        for name, value in event.data.get("metrics", {}).items():
            if name.partition("_")[2] in TIMES:
                self.times[name] = self.times.get(name, 0.0) + value
            else:
                told[name] = value
        found = is_final, event.reward if event.reward is not None else -math.inf
        if found >= self._best:  # of equal ones the last
            self._best, self.stop, self.steps, self.told = found, event.stop, event.stop, told

    def folds(self, n_splits: int, metrics: list[str] | None, error_score: float, train_scores: bool) -> list[dict[str, Any]]:
        """What `fit and score` of scikit-learn would have given, fold by fold; `metrics` is None for a single one."""
        return [self._fold(f"split{number}_", metrics, error_score, train_scores) for number in range(n_splits)]

    def _fold(self, split: str, metrics: list[str] | None, error_score: float, train_scores: bool) -> dict[str, Any]:
        missing = error_score if self.failed else math.nan
        found: dict[str, Any] = {name: self.times.get(f"{split}{name}", 0.0) for name in TIMES}
        for which in ("test", "train") if train_scores else ("test",):
            scores = {name: self.told.get(f"{split}{which}_{name}", missing) for name in metrics or ["score"]}
            found[f"{which}_scores"] = scores if metrics is not None else scores["score"]
        return found


def arm_results(events: Iterable[Event], is_final: Callable[[int, int], bool] = lambda arm, steps: True) -> list[ArmResult]:
    """Of every arm with a pull that ended, in the order they were made.

    Args:
        events: Of the journal.
        is_final: Whether the score of an arm after so many steps is one to choose it by.
    """
    results: dict[int, ArmResult] = {}
    for event in events:
        if event.kind in ("told", "failed"):
            assert event.arm is not None and event.stop is not None
            results.setdefault(event.arm, ArmResult(event.arm)).add(event, is_final(event.arm, event.stop))
    return [results[arm] for arm in sorted(results)]


def metrics_of(results: Iterable[ArmResult]) -> list[str]:
    """The names of the metrics that were told, in their order."""
    for result in results:
        if result.told:
            return [name.removeprefix(_TEST) for name in result.told if name.startswith(_TEST)]
    return []


def arm_params(training: Training, config: Any, stop: int) -> dict[str, Any]:
    """The parameters of an arm, with the name of its estimator if there are several, and what it had of the resource."""
    named = {"algorithm": config["algorithm"]} if isinstance(training.candidates, Mapping) else {}
    try:
        return named | training.params(config, stop)
    except (TypeError, ValueError):  # such as those of an arm that failed for its resource
        return named | training.read(config)[1]


def remembered(study: Study) -> StudyView:
    """The study as it can be looked at, and pickled, when its storage is closed."""
    journal = MemoryJournal(study.name)
    journal.create(study.header)
    journal.append(study.journal.events())
    return StudyView(journal, study.header, study.counts, study._state)
