"""Writes a study: asks its strategy for pulls, records their outcomes, and takes turns with other writers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from ..budget import Budget
from ..checkpoints.assignment import Assignment
from ..checkpoints.location import owner_of
from ..checkpoints.remote import Location, RemotePath
from ..checkpoints.retraining import pull_seed
from ..core import Outcome, Pull
from ..errors import StorageError, StudyClosed, StudyLocked
from ..journal import Event, Journal
from ..journal.events import ended_event
from ..runners.task import Task
from .outcomes import Recorded, checked_outcome, has_ended, is_same_config
from .replay import StudyState
from .snapshots import Snapshots
from .summary import limits_of
from .write_access import WriteAccess, learn_from_others


class _Entry(NamedTuple):
    """An event that is not in the journal yet. If it is the end of a pull, it has the outcome, which is not learned yet."""

    event: Event
    outcome: Outcome | None = None


def _ignore(outcomes: list[Outcome]) -> None:
    """Do nothing with the outcomes."""


class StudyWriter:
    """The part of a study that writes. The loop that runs pulls uses it as the study.

    An outcome is in the journal before the strategy learns it. Asked pulls are written with the next outcome, because each
    write waits for the disk; if the process is killed before that, the strategy asks for the same pulls again.

    Several threads may ask and record. They take turns.

    Args:
        journal: The journal of the study.
        header: The header of the study.
        state: The strategy and the counts, after all events of the journal.
        assignment: The checkpoints of the study.

    Attributes:
        limits: Limits in seconds and cost; None if there are none.
        snapshots: What is stored to make the next opening faster.
    """

    def __init__(
        self,
        journal: Journal,
        header: Mapping[str, Any],
        state: StudyState,
        assignment: Assignment,
    ) -> None:
        self._journal, self._header, self._state, self._assignment = journal, header, state, assignment
        self._counts = state.counts
        self._notify: Callable[[list[Outcome]], None] = _ignore
        self.limits: Budget | None = None
        self._pending: list[_Entry] = []
        self._started: dict[int, Pull] = {}  # by arm: pulls in flight that this object handed out
        self.snapshots = Snapshots(journal, state)
        self._closed = False
        self._running = False  # inside `optimize`
        self._torn = False  # interrupted at a point where memory and journal may differ
        self._access = WriteAccess(journal)
        self._turn = threading.RLock()  # held by the thread that is asking or recording

    # -- what the loop needs

    def ask(self, context: int | None = None) -> Pull | None:
        """The next pull to run; None if there is nothing to start now. Pulls in flight that do not run anywhere come first."""
        with self.held():
            if self.limits is not None and not self.limits.allows(self._counts.seconds, self._counts.cost):
                return None
            pull = self._orphan() or self._decide(context)
            if pull is not None:
                self._started[pull.arm.id] = self._counts.in_flight[pull.arm.id].pull
            return pull

    def record(self, outcomes: Iterable[Outcome]) -> list[Recorded]:
        """Record the outcomes of pulls, then learn from them. The outcome of a pull that has ended changes nothing.

        All outcomes are checked before any is written: a `ValueError` or `TypeError` leaves the study as it was.
        """
        with self.held():
            given = [checked_outcome(outcome) for outcome in outcomes]
            awaited = [self._is_awaited(outcome.pull) for outcome in given]
            try:
                results = self._add(given, awaited)
            except BaseException:
                self._torn = True
                raise
            self.commit()
            return results

    def task(self, pull: Pull, slots: int = 1) -> Task:
        """Everything a worker needs to run a pull, where up to `slots` pulls run at once."""
        with self.held():
            seed = pull_seed(self._header["seed"], pull.arm.id, pull.start)
            return Task(pull, seed, **self._assignment.files(pull, slots)._asdict())

    def shared_directory(self) -> tuple[Location, str | None]:
        """The directory of checkpoints and the content of its owner file, by which workers on other machines recognize it."""
        with self.held():
            checkpoints = self._assignment.checkpoints
            checkpoints.create()
            return checkpoints.directory, checkpoints.record

    def check_not_in_memory(self) -> None:
        """Raise `StorageError` if checkpoints exist only in the memory of this process, so that workers cannot load them."""
        directory = self._assignment.checkpoints.directory
        if isinstance(directory, RemotePath) and directory.protocol == "memory":
            raise StorageError(f"the checkpoints at {directory} exist only in this process: use a directory, or workers=1")

    def publish_leader(self, text: str | None) -> None:
        """Store where other processes can join the study; None if they cannot. Only a journal in a database can do that."""
        save = getattr(self._journal, "save_leader", None)
        if save is not None:
            with self.held():
                save(text)

    def mark_lost(self, checkpoint: str) -> None:
        """Note that a checkpoint is corrupt or missing."""
        with self.held():
            self._assignment.mark_lost(checkpoint)

    @contextmanager
    def notifying(self, notify: Callable[[list[Outcome]], None]) -> Iterator[None]:
        """Context manager during which `notify` is called with the outcomes that were just recorded and learned."""
        self._notify = notify
        try:
            yield
        finally:
            self._notify = _ignore

    # -- asking and recording

    def forget_started(self) -> None:
        """Hand out all pulls in flight again, because they are no longer running."""
        self._started.clear()

    def _orphan(self) -> Pull | None:
        """The oldest pull in flight that this object did not hand out. It was in flight when the study was opened."""
        flights = self._counts.in_flight
        if len(flights) == len(self._started):
            return None
        return next((flight.pull for arm, flight in flights.items() if self._started.get(arm) is not flight.pull), None)

    def _decide(self, context: int | None) -> Pull | None:
        try:
            answer = self._state.ask(context)
            if answer is None:
                return None
            self._pending.append(_Entry(answer[1]))
        except BaseException as error:
            self._torn = context is None or not isinstance(error, (TypeError, ValueError))  # a wrong context changes nothing
            raise
        return answer[0]

    def _add(self, outcomes: list[Outcome], awaited: list[bool]) -> list[Recorded]:
        """Add the awaited outcomes to what is written next. A second outcome of the same pull is not added."""
        ended = {entry.outcome.pull.arm.id for entry in self._pending if entry.outcome is not None}
        results = []
        for outcome, is_awaited in zip(outcomes, awaited, strict=True):
            if not is_awaited or outcome.pull.arm.id in ended:
                results.append(Recorded.REPEATED)
                continue
            self._assignment.checkpoints.keep(outcome.pull.arm.id)
            self._pending.append(_Entry(ended_event(outcome), outcome))
            ended.add(outcome.pull.arm.id)
            results.append(Recorded.FAILED if outcome.reward is None else Recorded.NEW)
        return results

    def _is_awaited(self, pull: Pull) -> bool:
        """Whether the pull is in flight; False if it has ended. `ValueError` if this study never asked for it."""
        space = self._state.extended.ledger.space if self._state.extended is not None else None
        arm, record = pull.arm.id, self._counts.arms.get(pull.arm.id)
        if record is not None and is_same_config(space, record.arm.config, pull.config):
            flight = self._counts.in_flight.get(arm)
            if flight is not None and (flight.pull.start, flight.pull.stop) == (pull.start, pull.stop):
                return True
            asked = ("asked", arm, pull.start, pull.stop)
            if has_ended(record, pull) or any((e.kind, e.arm, e.start, e.stop) == asked for e in self._journal.events()):
                return False
        raise ValueError(
            f"pull must be one that this study asked for, got arm {arm} from {pull.start} to {pull.stop} "
            f"with {pull.config!r:.200}"
        )

    def set_budget(self, steps: int | None, limits: Budget | None) -> None:
        """Record new totals, unless the study already has them."""
        known, before = self._state.extended, limits_of(self._header, self._counts.budget)
        newest = {} if before is None else before.as_json()
        given = {} if limits is None else limits.as_json()
        if (known is not None and known.ledger.budget != steps) or newest != given:
            event = Event("budget", data={"budget": steps, **given})
            try:
                self._pending.append(_Entry(event))
                self._state.change_budget(event)
            except BaseException:
                self._torn = True
                raise
        self.limits = limits

    def commit_budget(self) -> None:
        """Write the budget to the journal, if it was changed."""
        if self._pending:
            self.commit()

    def commit(self) -> None:
        """Write everything so far to the journal; only then learn from it.

        A write that failed can be tried again. After any other interruption, memory and journal may differ, and the study must
        be opened again.
        """
        with self._turn:
            appended, entries = False, self._pending
            try:
                self._journal.append([entry.event for entry in entries])
                appended = True
                self._pending = []
                learned = [self._learn(entry.event, entry.outcome) for entry in entries if entry.outcome is not None]
            except BaseException as error:
                self._torn = appended or not isinstance(error, Exception)
                raise
            self.snapshots.save_due()
            self._notify(learned)

    def save_last(self) -> None:
        """Store a snapshot and the recommendation at the end of a run, unless they would cover events that are not written."""
        if not self._pending:
            self.snapshots.save_last()

    def _learn(self, event: Event, outcome: Outcome) -> Outcome:
        arm = outcome.pull.arm.id
        flight = self._counts.in_flight[arm]
        self._state.learn(event)
        self._started.pop(arm, None)
        self._assignment.settle(outcome, flight)
        return outcome

    # -- taking turns with other writers

    @contextmanager
    def held(self) -> Iterator[None]:
        """Acquire the lock if it was released, and replay what others wrote in the meantime. Does not release the lock.

        Other threads wait until the end.
        """
        with self._turn:
            self.check_open()
            if self._running:
                yield
            else:
                with self._caught_up():
                    yield

    @contextmanager
    def _caught_up(self) -> Iterator[None]:
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

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Be the only writer, including within this process, and release the lock at the end."""
        with ExitStack() as until_the_end:
            with self._turn:
                self.check_open()
                if self._running:
                    raise StudyLocked(
                        f"study {self._journal.name!r} is inside optimize in this process, in another thread or around this "
                        "callback: wait until it returns, or call stop()"
                    )
                until_the_end.enter_context(self._caught_up())
                self._running = True
            try:
                yield
            finally:
                with self._turn:
                    self._running = False
                    try:
                        self._leave_tidy()
                    finally:
                        self._access.release()

    def check_open(self) -> None:
        """Raise `StudyClosed` if nothing can be written anymore."""
        name = self._journal.name
        if self._closed:
            raise StudyClosed(f"study {name!r} is closed: open it again with ma.Study(...) to continue it")
        if self._torn:
            raise StudyClosed(
                f"study {name!r} was interrupted in the middle of a decision or a write: close it and open it again; "
                "it resumes where the journal ends"
            )

    def _catch_up(self) -> None:
        """Replay what other objects appended to the journal."""
        counts = self._counts
        unwritten = sum(entry.outcome is None for entry in self._pending)  # they are counted already; outcomes are not
        if not self._access.has_others(counts.events - unwritten):
            return
        budget = counts.budget
        try:
            learn_from_others(self._state, self._journal, self._header, diverged=bool(self._pending))
            self._pending = []
        except BaseException:
            self._torn = True
            raise
        flights = counts.in_flight
        self._started = {arm: p for arm, p in self._started.items() if arm in flights and flights[arm].pull is p}
        if counts.budget != budget:
            newest = limits_of(self._header, counts.budget)
            self.limits = None if newest is None else newest.beyond_steps()
        self.snapshots.restart()

    def _open_checkpoints(self) -> None:
        """Update the list of checkpoints with what others saved and deleted."""
        outcomes = [entry.outcome for entry in self._pending if entry.outcome is not None]
        unwritten = {outcome.checkpoint for outcome in outcomes if outcome.checkpoint is not None}
        checkpoints, needed = self._assignment.checkpoints, self._counts.needed() | unwritten
        checkpoints.open(owner_of(self._journal, self._header), needed, checkpoints.directory.parent)
        checkpoints.sweep(needed)

    def _leave_tidy(self) -> None:
        if not self._torn and not self._pending:
            self.snapshots.save_recommendation()  # not after a failed write, because it would wait for a lost server again
        self._assignment.checkpoints.tidy()

    def close(self) -> None:
        """Close the journal. Files of abandoned pulls are deleted, if this object holds the lock."""
        self._closed, holds = True, self._access.is_writer
        try:
            if holds:
                self._leave_tidy()
        finally:
            self._journal.close()
            self._assignment.checkpoints.close(tidy=holds)
