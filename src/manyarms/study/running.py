"""One call of `Study.optimize`: runs pulls until the search ends, and shows the progress."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ..core import Outcome, with_own_config
from ..runners import Abandoning, ProcessRunner, PullsAbandoned, SimulatedRunner
from ..runners.engines import EngineRunner, PublishingRunner
from ..runners.execute import Function
from ..runners.loop import run
from .arguments import RunArguments
from .interrupt import ABANDONING, FINISHING, first_interrupt_stops
from .progress import Progress
from .repeated_error import RepeatedError
from .search_log import SearchLog, shown_level
from .time_limits import TimeLimited
from .writer import StudyWriter

if TYPE_CHECKING:
    from .study import Study


class Run:
    """One call of `Study.optimize`.

    Args:
        study: The study, for callbacks and for the progress display.
        arguments: The arguments of `optimize`.

    Attributes:
        is_done: Whether the run ended because nothing was left to start.
    """

    def __init__(self, study: Study, arguments: RunArguments) -> None:
        self._study, self._arguments = study, arguments
        self._progress: Progress | None = None
        self._log: SearchLog | None = None
        self._stopped = self.is_done = False
        self._repeated: RepeatedError | None = None

    def stop(self) -> None:
        """Start no more pulls; those in flight are finished."""
        self._stopped = True

    @property
    def repeated_error(self) -> Outcome | None:
        """The first failed pull, if the first pulls of this run all failed with the same error and none of the study succeeded.

        No more pulls are started then. A function with a true attribute `expects_failures` is never stopped for this reason.
        """
        repeated, counts = self._repeated, self._study.counts
        return repeated.first if repeated is not None and repeated.is_persistent and not counts.pulls else None

    def run(self, function: Function, writer: StudyWriter) -> None:
        """Run pulls until the budget is spent, the time is up, or the search is stopped."""
        arguments, limits = self._arguments, writer.limits
        budget = None if limits is None or limits.seconds is None else float(limits.seconds)
        runner = Abandoning(arguments.runner)
        self._repeated = None if getattr(function, "expects_failures", False) else RepeatedError()

        def stopped() -> bool:
            return self._stopped or limited.left() <= 0 or self.repeated_error is not None

        def interrupt() -> None:
            self._study.interrupted = True
            self.stop()
            if not arguments.finish:
                runner.abandon()

        try:
            runner.start(function)
            if isinstance(arguments.runner, (ProcessRunner, EngineRunner)):
                writer.check_not_in_memory()
            if isinstance(arguments.runner, EngineRunner):
                arguments.runner.check_access(*writer.shared_directory())
            if isinstance(arguments.runner, PublishingRunner):
                arguments.runner.publish_with(writer.publish_leader)
            limited = TimeLimited(runner, arguments.limit, budget, self._study.counts)
            with (
                suppress(PullsAbandoned),
                self._showing(),
                first_interrupt_stops(interrupt, FINISHING if arguments.finish else ABANDONING),
            ):
                run(writer, limited, stopped, arguments.retries, arguments.deterministic)
            self.is_done = not stopped()
        finally:
            runner.close()

    def update(self, outcomes: list[Outcome]) -> None:
        """Log these outcomes, call the callbacks with them, and update the live display."""
        if self._log is not None:
            self._log.update(outcomes)
        if self._repeated is not None:
            self._repeated.update(outcomes)
        for outcome in outcomes:
            for callback in self._arguments.callbacks:
                callback(self._study, _own_copy(outcome))
        if self._progress is not None:
            self._progress.update()

    def _timeout(self) -> float | None:
        """Seconds after which the search ends, for the progress display and the log; None if they are simulated."""
        return None if isinstance(self._arguments.runner, SimulatedRunner) else self._arguments.limit

    @contextmanager
    def _showing(self) -> Iterator[None]:
        study, verbose = self._study, self._arguments.verbose
        try:
            with (
                Progress(study, verbose > 0, self._timeout()) as self._progress,
                SearchLog(study, shown_level(verbose, self._progress.is_live), timeout=self._timeout()) as self._log,
            ):
                yield
        finally:
            self._progress = self._log = None


def _own_copy(outcome: Outcome) -> Outcome:
    """The outcome with a copy of the config, so that a callback may change it."""
    return replace(outcome, pull=replace(outcome.pull, arm=with_own_config(outcome.pull.arm)))
