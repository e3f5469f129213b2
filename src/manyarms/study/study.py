"""The study: numbers, seeds and records pulls. It decides nothing."""

from __future__ import annotations

import os
import secrets
import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .. import checks
from ..budget import Budget
from ..checkpoints import Checkpoints
from ..checkpoints.location import noted, owner_of, usual_root
from ..core import Outcome, Pull
from ..errors import ManyarmsWarning, NoResult, StorageError, StudyClosed, StudyLocked
from ..journal import Event, Journal, MemoryJournal, open_journal
from ..journal.events import ended_event
from ..runners import Abandoning, PullsAbandoned, Runner
from ..runners.execute import BadReward, Function, read_value
from ..runners.loop import run
from ..runners.task import Task
from ..safe_text import storable_text
from ..strategies import Strategy, extended
from .arguments import RunArguments, check_checkpoints, check_remaining, check_strategy, run_arguments
from .assignment import Assignment
from .header import check_same, make_header, settle_strategy, stored_header, study_name
from .interrupt import ABANDONING, FINISHING, first_interrupt_stops
from .outcomes import checked_outcome, has_ended, is_same_config
from .plan import Plan
from .progress import Progress
from .replay import StudyState
from .search_log import SearchLog, shown_level
from .time_limits import TimeLimited
from .view import StudyView
from .write_access import WriteAccess, learn_from_others

_SNAPSHOT_EVERY = 20_000  # events; later, whenever half as many again have come
_SNAPSHOT_LAST = 2_000  # events since the last snapshot that make another one at the end worth while
_RECOMMENDATION_EVERY = 1_000  # events; later, whenever 2 % more have come

Callback = Callable[["Study", Outcome], object]


class Study(StudyView):
    """One search: its space, strategy, seed, budget, and the journal of everything that happened.

    If the storage already holds a study with this name, it is resumed: the journal is replayed into the strategy, and pulls
    that were in flight run again.

    Only one object at a time writes a stored study. It takes the lock when it is opened, and releases it when `optimize`
    returns or raises, and on `close`. A study without the lock can still be read: `best()`, `best_model()`, tables, `plan()`.
    `ask`, `tell`, `record` and `optimize` take the lock again and first learn what others wrote meanwhile; while another
    process has it, they raise `StudyLocked`. In one process, opening a study again takes the lock over from an object that is
    not inside `optimize`, so that the cell of a notebook can be run twice.

    Args:
        strategy: A new strategy. To resume a study, one with the same arguments; its budget may differ.
        storage: "sqlite:///file.db", "postgresql://...", a path, a journal, or None to keep it in memory.
        name: of the study in the storage.
        checkpoints: Where models are saved: a directory, or `Checkpoints` to limit the disk too. By default beside the storage.
        direction: "maximize" or "minimize" what the function returns.
        bounds: the lowest and the highest it can return, if known; else the scale is learned.
        budget: limits in seconds or cost, beside the strategy's budget of steps.
        origin: how the study was started, for `manyarms resume`; kept in the journal.

    Attributes:
        interrupted: Whether the last `optimize` was ended by Ctrl-C; `remaining` says what is left of the budget.

    >>> import manyarms as ma
    >>> study = ma.Study(ma.MutantUCB(ma.Space(x=ma.Float(0, 1)), budget=200, max_steps=1, seed=0), direction="minimize")
    >>> study.optimize(lambda config: (config["x"] - 0.3) ** 2, progress=False)
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
        check_strategy(strategy)
        check_checkpoints(checkpoints)
        checks.one_of("direction", direction, ("maximize", "minimize"))
        self._budget = None if budget is None else Budget.of(budget)
        if self._budget is not None and self._budget.steps is not None:
            raise ValueError("budget in steps is the strategy's; give the study seconds or cost")
        bounds = None if bounds is None else checks.interval("bounds", bounds)
        if origin is not None and not isinstance(origin, Mapping):
            raise TypeError(f"origin must be a dict or None, got {origin!r}")
        self.strategy = strategy
        self.direction = direction
        known = extended(strategy)
        wanted = known.ledger.budget if known is not None else None
        storage = os.fspath(storage) if isinstance(storage, os.PathLike) else storage
        journal = open_journal(storage, study_name(name))
        checkpoints = checkpoints if isinstance(checkpoints, Checkpoints) else Checkpoints(checkpoints or None)
        if checkpoints.is_open:  # by another study, which counts its own
            checkpoints = Checkpoints(checkpoints.root, checkpoints.max_bytes)
        temporary = storage is None and checkpoints.root is None
        self._temporary = tempfile.TemporaryDirectory(prefix="manyarms-") if temporary else None
        try:
            root = checkpoints.root or (Path(self._temporary.name) if self._temporary else usual_root(journal))
            limits = {} if self._budget is None else self._budget.as_json()
            header = self._open(journal, bounds, root, limits=limits, origin=origin)
            state = StudyState(strategy, direction, bounds)
            state.replay(journal)
            checkpoints.open(owner_of(journal, header), state.counts.needed(), root)
        except BaseException:
            journal.close()
            raise
        header = {**header, "checkpoints": str(checkpoints.directory)}  # wherever they are now
        super().__init__(journal, header, state.counts, state)
        self._state: StudyState = state
        self.seed: int = header["seed"]
        self._pending: list[Event] = []  # not yet in the journal: asks wait for the next commit, which costs a disk sync
        self._unlearned: list[tuple[Outcome, Event]] = []  # ended, but not yet in the journal
        self._orphans = deque(flight.pull for flight in self.counts.in_flight.values())
        self._snapshot_covers = self._recommendation_covers = self.counts.events
        self._function: Function | None = None
        self._callbacks: Sequence[Callback] = ()
        self._progress: Progress | None = None
        self._log: SearchLog | None = None
        self._stopped = False
        self._running = False  # inside `optimize`
        self._torn = False  # interrupted where what is in memory may differ from what is in the journal
        self.interrupted = False
        self._assignment = Assignment(checkpoints, state, self.seed, lasting=not isinstance(journal, MemoryJournal))
        self._access = WriteAccess(journal)
        self._set_budget(wanted, self._budget)
        if self._pending:
            self._commit()

    # -- asking and telling

    def ask(self, context: int | None = None) -> Pull | None:
        """The next pull to run; None while there is nothing to start, or all is done.

        Pulls that were in flight when the study was last closed come first.

        Args:
            context: handed on to a strategy whose user chooses it, such as `ContextualTreeUCB` with `schedule=None`.
        """
        with self._held():
            return self._ask(context)

    def _ask(self, context: int | None) -> Pull | None:
        if self._budget is not None and not self._budget.allows(self.counts.seconds, self.counts.cost):
            return None
        while self._orphans:
            pull = self._orphans.popleft()
            flight = self.counts.in_flight.get(pull.arm.id)
            if flight is not None and flight.pull is pull:  # else its result came meanwhile, from who ran it before
                return pull
        try:
            answer = self._state.ask(context)
            if answer is None:
                return None
            self._pending.append(answer[1])
        except BaseException as error:
            self._torn = context is None or not isinstance(error, (TypeError, ValueError))  # a wrong context changes nothing
            raise
        return answer[0]

    def tell(self, pull: Pull, value: Any, seconds: float = 0.0) -> None:
        """Record what a pull gave. For those who own the loop.

        Args:
            pull: One that `ask` gave. One that was told before changes nothing.
            value: A number, a dict with "reward", or None if the pull failed.
            seconds: How long it took, at least 0; it counts toward a budget of time.
        """
        try:
            returned = read_value(value)
        except BadReward as error:
            outcome = Outcome(pull, reason="told as failed" if value is None else storable_text(str(error)), seconds=seconds)
        else:
            outcome = Outcome(pull, **returned._asdict(), seconds=seconds)
        self.record([outcome])

    def record(self, outcomes: Iterable[Outcome]) -> None:
        """Record the outcomes of pulls, then learn from them. A pull that was told before changes nothing.

        All of it is checked before any of it is written: a `ValueError` or `TypeError` leaves the study as it was.
        """
        with self._held():
            self._record(outcomes)

    def _record(self, outcomes: Iterable[Outcome]) -> None:
        given = [checked_outcome(outcome) for outcome in outcomes]
        awaited = [outcome for outcome in given if self._is_awaited(outcome.pull)]
        try:
            for outcome in awaited:
                if any(known.pull.arm.id == outcome.pull.arm.id for known, _ in self._unlearned):
                    continue
                event = ended_event(outcome)
                self._pending.append(event)
                self._unlearned.append((outcome, event))
        except BaseException:
            self._torn = True
            raise
        self._commit()

    def _is_awaited(self, pull: Pull) -> bool:
        """Whether the pull is in flight; False if it has ended. `ValueError` if this study never asked for it."""
        space = self._state.extended.ledger.space if self._state.extended is not None else None
        arm, record = pull.arm.id, self.counts.arms.get(pull.arm.id)
        if record is not None and is_same_config(space, record.arm.config, pull.config):
            flight = self.counts.in_flight.get(arm)
            if flight is not None and (flight.pull.start, flight.pull.stop) == (pull.start, pull.stop):
                return True
            asked = ("asked", arm, pull.start, pull.stop)
            if has_ended(record, pull) or any((e.kind, e.arm, e.start, e.stop) == asked for e in self.journal.events()):
                return False
        raise ValueError(
            f"pull must be one that this study asked for, got arm {arm} from {pull.start} to {pull.stop} "
            f"with {pull.config!r:.200}"
        )

    def _check_open(self) -> None:
        if self._closed:
            raise StudyClosed(f"study {self.name!r} is closed: open it again with ma.Study(...) to continue it")
        if self._torn:
            raise StudyClosed(
                f"study {self.name!r} was interrupted in the middle of a decision or a write: close it and open it again; "
                "it resumes where the journal ends"
            )

    # -- being the writer

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Be the writer: take the lock if it was released, and learn what others wrote meanwhile. It is not released after."""
        self._check_open()
        if self._running:
            yield
            return
        taken = self._access.take()
        with self._access.writing():
            try:
                self._catch_up()
                if taken:
                    self._open_checkpoints()
            except BaseException:
                self._access.release()
                raise
            yield

    def _catch_up(self) -> None:
        """Learn what other objects appended to the journal."""
        unwritten = len(self._pending) - len(self._unlearned)  # of the events that are counted
        if not self._access.has_others(self.counts.events - unwritten):
            return
        limits = self.counts.budget
        try:
            self._orphans.extend(learn_from_others(self._state, self.journal, self.header, diverged=bool(self._pending)))
        except BaseException:
            self._torn = True
            raise
        self._pending, self._unlearned = [], []
        if self.counts.budget != limits:
            self._budget = None if self.limits is None else self.limits.beyond_steps()
        self._snapshot_covers = self._recommendation_covers = self.counts.events

    def _open_checkpoints(self) -> None:
        """See what others saved and deleted."""
        checkpoints, needed = self._assignment.checkpoints, self.counts.needed()
        checkpoints.open(owner_of(self.journal, self.header), needed, checkpoints.directory.parent)
        checkpoints.sweep(needed)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Be the only writer, until it is left; then let others write."""
        self._check_open()
        if self._running:
            raise StudyLocked(
                f"study {self.name!r} is inside optimize in this process, in another thread or around this callback: "
                "wait until it returns, or call stop()"
            )
        with self._held():
            self._running = True
            try:
                yield
            finally:
                self._running = False
                self._release()

    def _release(self) -> None:
        """Let others write. The study can still be read."""
        try:
            self._leave_tidy()
        finally:
            self._access.release()

    def _leave_tidy(self) -> None:
        if not self._torn and not self._pending and self._recommendation_covers < self.counts.events:
            self._save_recommendation()  # not where the last write failed: a server that is gone would be waited for again
        self._assignment.checkpoints.tidy()

    def _set_budget(self, steps: int | None, limits: Budget | None) -> None:
        """Record new totals, unless they are those that the study has."""
        known = self._state.extended
        newest = {} if self.limits is None else self.limits.as_json()
        given = {} if limits is None else limits.as_json()
        if (known is not None and known.ledger.budget != steps) or newest != given:
            self._pending.append(Event("budget", data={"budget": steps, **given}))
            self._state.change_budget(self._pending[-1])
        self._budget = limits

    def _commit(self) -> None:
        """Make everything so far durable; only then learn from it.

        A write that failed can be tried again. After anything else that comes in between, what is in memory may differ from
        what is in the journal, and the study must be opened again.
        """
        appended = False
        try:
            self.journal.append(self._pending)
            appended = True
            self._pending = []
            for outcome, event in self._unlearned:
                flight = self.counts.in_flight[outcome.pull.arm.id]
                self._state.learn(event)
                self._assignment.settle(outcome, flight)
            learned, self._unlearned = self._unlearned, []
        except BaseException as error:
            self._torn = appended or not isinstance(error, Exception)
            raise
        due = max(_SNAPSHOT_EVERY, self._snapshot_covers // 2)
        if self.counts.events - self._snapshot_covers >= due and self._state.extended is not None:
            self._save_snapshot()
        if self.counts.events - self._recommendation_covers >= max(_RECOMMENDATION_EVERY, self.counts.events // 50):
            self._save_recommendation()
        if self._log is not None:
            self._log.update(outcome for outcome, _ in learned)
        for outcome, _ in learned:
            for callback in self._callbacks:
                callback(self, outcome)
        if self._progress is not None:
            self._progress.update()

    def _save_snapshot(self) -> None:
        """A speed-up only: where it cannot be written the journal is enough."""
        self._snapshot_covers = self.counts.events
        with suppress(StorageError):
            self.journal.save_snapshot(self.counts.events, self._state.state())

    def _save_recommendation(self) -> None:
        """So that a reader need not replay the journal to know the best arm. A speed-up only, as a snapshot is."""
        self._recommendation_covers = self.counts.events
        if self.counts.pulls:
            with suppress(StorageError):
                self.journal.save_recommendation(self.counts.events, self.recommendation().text())

    # -- models

    def task(self, pull: Pull, slots: int = 1) -> Task:
        """All that a worker needs to run a pull, where up to `slots` run at once."""
        with self._held():
            return self._assignment.task(pull, slots)

    def lose(self, checkpoint: str) -> None:
        """A checkpoint turned out to be corrupt."""
        with self._held():
            self._assignment.lose(checkpoint)

    def best_model(self, function: Function | None = None) -> Any:
        """The trained model: what the recommended arm saved at `best_step`.

        It is the object given to `pull.save`, or the result of `load_model(directory)` of the function, if it has that method.
        If the state was deleted, it is trained again with `function`, by default the one used last. Raises `CheckpointLost` if
        the arm saved neither an object nor files that the function can read.
        """
        return self.model(self.best().id, function)

    def model(self, arm: int, function: Function | None = None) -> Any:
        """The model of any arm at its best step, as `best_model` returns it for the recommended one."""
        return self._assignment.model(arm, function or self._function)

    # -- running

    def optimize(
        self,
        function: Function,
        *,
        budget: int | str | Budget | None = None,
        workers: int = 1,
        timeout: float | str | None = None,
        retries: int = 0,
        pull_timeout: float | str | None = None,
        deterministic: bool = False,
        verbose: int = 1,
        progress: bool = True,
        resources: Mapping[str, float] | None = None,
        callbacks: Sequence[Callback] = (),
        runner: Runner | None = None,
        finish: bool = True,
    ) -> None:
        """Search until the budget is spent, the time is over, or Ctrl-C (once: pulls in flight are finished; twice: now).

        Args:
            function: `train(pull)` trains a slice and returns its reward, or a dict with "reward", "cost" and other metrics;
                `train(config)` is one whole training. One with a method `check_saved(directory)` may refuse to go on with
                what was saved there.
            budget: A new total, over all runs, as for `tune`: a number of steps, text such as "8h", or a `Budget`. It
                replaces all limits of the study and is recorded in the journal. Less than what is spent starts nothing. By
                default the study keeps its limits.
            workers: processes that train at once; 1 trains in this process.
            timeout: Seconds, or text such as "8h", after which this call starts no more pulls. Those in flight end at their
                next `pull.report`, or else when they are done.
            retries: how often a failed pull is started again before it counts as failed.
            pull_timeout: Seconds, or text such as "10m", after which a pull is ended, and fails. "remaining" means what is left
                of `timeout` and of the budget of time when the pull starts. Pulls then run in worker processes.
            deterministic: same seed, same result with any timing of the workers, at the price of some waiting.
            verbose: What is shown: 0 nothing; 1 a live line on a terminal and, where standard error is no terminal, the lines
                of the log; 2 also a line for each pull. The log goes to Python's logger "manyarms" in any case.
            progress: False is an older way to write `verbose=0`.
            resources: {"gpu": 1} gives each worker a device of its own.
            callbacks: called with the study and each outcome once it is recorded; `study.stop()` ends the search.
            runner: where to run instead: `SimulatedRunner`, or another.
            finish: Whether Ctrl-C waits for the pulls in flight. Otherwise they are abandoned, and run again when the study is
                resumed.

        Raises:
            StudyLocked: Another process is writing the study, or another object of this process.
        """
        self._check_open()
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
        check_remaining(pull_timeout, timeout, self._time_budget if total is None else total.seconds)
        with self._writing():
            self._assignment.check(function)
            self._function, self._callbacks = function, arguments.callbacks
            self._stopped = self.interrupted = False
            if total is not None:
                self._set_budget(total.steps, total.beyond_steps())
            self._commit()  # also what an earlier call could not write, a full disk say
            self._orphans = deque(flight.pull for flight in self.counts.in_flight.values())
            self._run(function, arguments)
            self._finish()

    def _checked_total(self, total: Budget) -> Budget:
        if total.steps is not None and self._state.extended is None:
            raise ValueError(
                f"budget in steps is counted by the strategy, which has none here: give seconds or cost, got {total}"
            )
        return total

    @property
    def _time_budget(self) -> float | None:
        """The seconds that all pulls together may take, if that is limited."""
        return None if self._budget is None or self._budget.seconds is None else float(self._budget.seconds)

    def _run(self, function: Function, arguments: RunArguments) -> None:
        runner = Abandoning(arguments.runner)
        runner.start(function)
        limited = TimeLimited(runner, arguments.limit, self._time_budget, self.counts)

        def stopped() -> bool:
            return self._stopped or limited.left() <= 0

        def interrupt() -> None:
            self._interrupt()
            if not arguments.finish:
                runner.abandon()

        try:
            with (
                suppress(PullsAbandoned),
                self._showing(arguments.verbose),
                first_interrupt_stops(interrupt, FINISHING if arguments.finish else ABANDONING),
            ):
                run(self, limited, stopped, arguments.retries, arguments.deterministic)
        finally:
            runner.close()

    def stop(self) -> None:
        """Start no more pulls; `optimize` returns when those in flight have ended."""
        self._stopped = True

    def _interrupt(self) -> None:
        self.interrupted = True
        self.stop()

    @contextmanager
    def _showing(self, verbose: int) -> Iterator[None]:
        try:
            with (
                Progress(self, verbose > 0, self.budget) as self._progress,
                SearchLog(self, shown_level(verbose, self._progress.is_live)) as self._log,
            ):
                yield
        finally:
            self._progress = self._log = None

    def _finish(self) -> None:
        """At the end of a run: make the next opening fast, and say what the user should know."""
        known = self._state.extended
        if known is not None and self.counts.events - self._snapshot_covers >= _SNAPSHOT_LAST:
            self._save_snapshot()
        self._save_recommendation()
        if known is not None and (warning := known.warning()) is not None:
            warnings.warn(warning, ManyarmsWarning, stacklevel=3)
        if self.counts.failures and not self.counts.pulls:
            raise NoResult(self._no_result())

    def plan(self) -> Plan:
        """What will be spent where, and what is spent already."""
        known = self._state.extended
        phases = tuple(known.plan()) if known is not None else ()
        return Plan(phases, known.ledger.budget if known is not None else None, self.counts.steps)

    def close(self) -> None:
        """Close the storage. What abandoned pulls and an in-memory study saved is deleted."""
        if self._closed:
            return
        holds = self._access.is_writer
        try:
            if holds:
                self._leave_tidy()
        finally:
            super().close()
            self._assignment.checkpoints.close(tidy=holds)
        if self._temporary is not None:
            self._temporary.cleanup()

    def _open(self, journal: Journal, bounds: tuple[float, float] | None, root: Path, **notes: Any) -> Mapping[str, Any]:
        """The study's header: written if it is new, compared if it is not. Puts the strategy to where the study began."""
        known, header = extended(self.strategy), stored_header(journal)
        seed = known.ledger.seed if known is not None else _seed_of(self.strategy)
        new = make_header(self.strategy, seed, self.direction, bounds, **notes)
        if header is None:
            new["checkpoints"] = noted(root, owner_of(journal, new))
            journal.create(new)
            return journal.header or new  # a journal of the user's own may not keep all of it
        check_same(journal.name, header, new, seed_given=known is not None and known.settings["seed"] is not None)
        settle_strategy(self.strategy, header)
        return header


def _seed_of(strategy: Any) -> int:
    seed = getattr(strategy, "seed", None)
    return seed if isinstance(seed, int) else secrets.randbits(32)
