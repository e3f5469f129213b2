"""A study: one search, from the first pull to the trained model."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..budget import Budget
from ..checkpoints import Checkpoints
from ..checkpoints.assignment import Assignment
from ..core import Outcome, Pull, with_own_config
from ..errors import ManyarmsWarning, NoResult
from ..journal import Journal, MemoryJournal
from ..runners import Runner
from ..runners.execute import BadReward, Function, read_value
from ..safe_text import storable_text
from ..strategies import Strategy, extended
from .arguments import check_remaining, check_study, run_arguments
from .models import check_saved_states, model_of
from .no_result import no_result_of_run
from .opening import open_study
from .plan import Plan
from .replay import StudyState
from .running import Run
from .view import StudyView
from .writer import StudyWriter

Callback = Callable[["Study", Outcome], object]


class Study(StudyView):
    """One search: its space, strategy, seed and budget, and the journal of everything that happened.

    If the storage already holds a study with this name, it is resumed: the journal is replayed into the strategy, and pulls
    that were in flight run again.

    Only one object at a time can write to a stored study. A study acquires the lock when it is opened, and releases it when
    `optimize` returns or raises, and on `close`. Without the lock, it can still be read with `best()`, `best_model()`, `plan()`
    and the tables. `ask`, `tell` and `optimize` acquire the lock again and first replay what others wrote in the meantime. If
    another process holds the lock, they raise `StudyLocked`. Within one process, opening a study again takes over the lock from
    an object that is not inside `optimize`, so a notebook cell can be run twice.

    Args:
        strategy: A new strategy. To resume a study, one with the same arguments; its budget may differ.
        storage: "sqlite:///file.db", "postgresql://...", a path, a journal, or None to keep it in memory.
        name: Name of the study in the storage.
        checkpoints: Where models are saved: a directory, a URL that fsspec knows such as `s3://bucket/runs`, or `Checkpoints`
            to limit the disk space too. By default, next to the storage.
        direction: "maximize" or "minimize" the reward.
        bounds: The lowest and highest possible reward, if they are known. Otherwise the scale is learned.
        budget: Limits in seconds or cost, in addition to the strategy's budget in steps.
        origin: How the study was started, for `manyarms resume`. Stored with the study.

    Attributes:
        interrupted: Whether Ctrl-C ended the last `optimize`; `remaining` says what is left of the budget.

    >>> import manyarms as ma
    >>> study = ma.Study(ma.MutantUCB(ma.Space(x=ma.Float(0, 1)), budget=200, max_steps=1, seed=0), direction="minimize")
    >>> study.optimize(lambda pull: (pull["x"] - 0.3) ** 2, progress=False)
    >>> round(study.best_config["x"], 1)
    0.3
    """

    def __init__(
        self,
        strategy: Strategy,
        *,
        storage: str | os.PathLike[str] | Journal | None = None,
        name: str = "study",
        checkpoints: Checkpoints | str | None = None,
        direction: str = "maximize",
        bounds: tuple[float, float] | None = None,
        budget: Budget | str | None = None,
        origin: Mapping[str, Any] | None = None,
    ) -> None:
        limits, bounds = check_study(strategy, checkpoints, direction, bounds, budget, origin)
        known = extended(strategy)
        steps = known.ledger.budget if known is not None else None
        opened = open_study(strategy, storage, name, checkpoints, direction, bounds, limits, origin)
        options = opened.checkpoints.storage_options or {}  # not None, because the user gave the place
        super().__init__(opened.journal, opened.header, opened.state.counts, opened.state, options)
        self._state: StudyState = opened.state
        self._temporary = opened.temporary
        self.direction = direction
        self.seed: int = opened.header["seed"]
        self._handed_out: dict[int, tuple[Pull, Pull]] = {}  # by `id`: a pull that `ask` returned, and the strategy's own
        self._function: Function | None = None
        self._run: Run | None = None  # set only while `optimize` runs: a permanent cycle would keep a dropped study alive
        self.interrupted = False
        lasting = not isinstance(opened.journal, MemoryJournal)
        try:
            self._assignment = Assignment(opened.checkpoints, opened.state, self.seed, lasting)
            self._writer = StudyWriter(opened.journal, self.header, opened.state, self._assignment)
            self._writer.set_budget(steps, limits)
            self._writer.commit_budget()
        except BaseException:
            opened.journal.close()  # the caller never gets this object, which holds the lock
            raise

    @property
    def strategy(self) -> Strategy:
        """The strategy in its current state. A resumed study has a copy of the one that it was opened with."""
        return self._state.strategy

    def ask(self, context: int | None = None) -> Pull | None:
        """The next pull to run; None if there is nothing to start now, or the search is done.

        Pulls that were in flight when the study was last closed come first. The config is a copy, which you may change.

        Args:
            context: Passed on to a strategy that expects one, such as `ContextualTreeUCB` with `schedule=None`.
        """
        pull = self._writer.ask(context)
        if pull is None:
            return None
        copied = replace(pull, arm=with_own_config(pull.arm))
        self._handed_out[id(copied)] = copied, pull
        return copied

    def tell(self, pull: Pull, value: Any, seconds: float = 0.0) -> None:
        """Record the result of a pull, if you run the loop yourself.

        Args:
            pull: A pull that `ask` returned. A second result of the same pull changes nothing.
            value: A number, a dict with "reward", or None if the pull failed.
            seconds: How long the pull took, at least 0. It counts toward a time budget.
        """
        _, asked = self._handed_out.get(id(pull), (pull, pull))
        try:
            returned = read_value(value)
        except BadReward as error:
            outcome = Outcome(asked, reason="told as failed" if value is None else storable_text(str(error)), seconds=seconds)
        else:
            outcome = Outcome(asked, **returned._asdict(), seconds=seconds)
        self._record([outcome])
        self._handed_out.pop(id(pull), None)

    def _record(self, outcomes: Sequence[Outcome]) -> None:
        self._writer.record(outcomes)

    def model(self, arm: int, function: Function | None = None) -> Any:
        """The model of any arm at its best step, as `best_model` returns it for the recommended arm."""
        self._record_of(arm)  # raises an error if there is no such arm
        return model_of(arm, self.counts, self._assignment, self.seed, function or self._function)

    def optimize(
        self,
        function: Function,
        *,
        budget: int | str | Budget | None = None,
        workers: int | str | None = None,
        timeout: float | str | None = None,
        retries: int = 0,
        pull_timeout: float | str | None = None,
        deterministic: bool = False,
        verbose: int = 1,
        progress: bool = True,
        resources: Mapping[str, float] | None = None,
        callbacks: Sequence[Callback] = (),
        runner: Runner | str | Any = None,
        finish: bool = True,
    ) -> None:
        """Search until the budget is spent, the time is up, or Ctrl-C is pressed.

        The first Ctrl-C finishes the pulls in flight; the second one stops immediately.

        Args:
            function: The training function `train(pull)`. It trains from `pull.start` to `pull.stop` steps, and returns the
                reward, or a dict with "reward", optionally "cost", and other metrics. See `RunningPull`. If it has a method
                `check_saved(directory)`, it may refuse to continue with what was saved there.
            budget: A new total over all runs, as for `tune`: a number of steps, a string such as "8h", or a `Budget`. It
                replaces all limits of the study and is recorded in the journal. If it is already exceeded, nothing is started.
                By default the study keeps its limits.
            workers: Number of pulls that run at once, or "all". By default 1, in this process; with a cluster, "all" of its
                workers, also those that join later. Otherwise pulls run in worker processes on this machine.
            timeout: Seconds, or a string such as "8h", after which this call starts no more pulls. Those in flight end at their
                next `pull.report`, or when they are done.
            retries: Number of times that a failed pull is started again before it counts as failed.
            pull_timeout: Seconds, or a string such as "10m", after which a pull is ended and fails. "remaining" means the time
                that is left of `timeout` and of the time budget when the pull starts. With a `pull_timeout`, pulls run in
                worker processes.
            deterministic: Whether the same seed gives the same result regardless of the timing of the workers. Workers may then
                have to wait.
            verbose: What is shown. 0: nothing. 1: a live display in a terminal or notebook, otherwise log lines on
                standard error. 2: also a line for each pull. The log always goes to Python's logger "manyarms".
            progress: False is an older way to write `verbose=0`.
            resources: What each pull needs. {"gpu": 1} gives each worker its own device, {"cpu": 2} two threads. A cluster
                reserves its own resources.
            callbacks: Functions that are called with the study and each outcome once it is recorded. `study.stop()` ends the
                search.
            runner: Where pulls run, if not on this machine: "dask" or "dask://host:8786", a `distributed.Client`, "ray" or
                "ray://host:10001", or a `concurrent.futures.Executor`. Or an object such as `SimulatedRunner`, which cannot be
                combined with `workers`, `pull_timeout` or `resources`: these are set on the object.
            finish: Whether Ctrl-C waits for the pulls in flight. Otherwise they are abandoned, and run again when the study is
                resumed.

        Raises:
            NoResult: All pulls failed. If the first 50 of this call fail with the same error of the function, and none of the
                study has succeeded, the search is stopped early.
            StudyLocked: Another process, or another object in this process, is writing the study.
            WorkerError: The workers cannot be reached, cannot load the function, or cannot read the checkpoints.
        """
        self._writer.check_open()
        total = None if budget is None else self._checked_total(Budget.of(budget))
        arguments = run_arguments(
            function,
            workers=workers,
            timeout=timeout,
            retries=retries,
            pull_timeout=pull_timeout,
            deterministic=deterministic,
            verbose=verbose,
            progress=progress,
            resources=resources,
            callbacks=callbacks,
            runner=runner,
            finish=finish,
        )
        limits = self._writer.limits if total is None else total
        check_remaining(pull_timeout, timeout, None if limits is None else limits.seconds)
        with self._writer.exclusive():
            check_saved_states(function, self.counts, self._assignment)
            self._function, self.interrupted = function, False
            run = self._run = Run(self, arguments)
            try:
                with self._writer.notifying(run.update):
                    if total is not None:
                        self._writer.set_budget(total.steps, total.beyond_steps())
                    self._writer.commit()  # includes what an earlier call could not write, such as when the disk was full
                    self._writer.forget_started()
                    run.run(function, self._writer)
            finally:
                self._run = None
            self._finish(run)

    def _checked_total(self, total: Budget) -> Budget:
        if total.steps is not None and self._state.extended is None:
            raise ValueError(f"budget in steps needs a strategy that counts steps: use seconds or cost instead, got {total}")
        return total

    def _finish(self, run: Run) -> None:
        """At the end of a run, store a snapshot, and show the warning of the strategy, if any."""
        self._writer.save_last()
        known = self._state.extended
        if known is not None and (warning := known.warning()) is not None:
            warnings.warn(warning, ManyarmsWarning, stacklevel=3)
        if self.counts.failures and not self.counts.pulls:
            raise NoResult(no_result_of_run(self, run.repeated_error, run.is_done))

    def stop(self) -> None:
        """Start no more pulls; `optimize` returns when those in flight have ended."""
        if self._run is not None:
            self._run.stop()

    def plan(self) -> Plan:
        """How the budget will be spent, and how much of it has been spent."""
        known = self._state.extended
        phases = tuple(known.plan()) if known is not None else ()
        return Plan(phases, known.ledger.budget if known is not None else None, self.counts.steps)

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse to be pickled or copied: two objects would use the same lock and the same directory of checkpoints."""
        raise TypeError(
            f"study {self.name!r} cannot be pickled or copied while it is open for writing: open it with load_study instead, "
            "or pickle what you need from it, such as arms_dataframe() or best_model()"
        )

    def close(self) -> None:
        """Close the storage. The files of abandoned pulls, and the checkpoints of a study in memory, are deleted."""
        if self._closed:
            return
        self._writer.close()
        for directory in (self._temporary, self._downloads):
            if directory is not None:
                directory.close()
        self._closed = True  # last, so that a call that was interrupted can be repeated
